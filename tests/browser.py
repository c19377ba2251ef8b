"""A real Chromium without a window, driven by its chromedriver, for the tests of pages."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

#: The reason for a skip, with the remedy.
NONE = "needs chromium and chromedriver: apt-get install chromium chromium-driver"

#: Nothing but the page: no sandbox (tests run as root in containers), no services of the browser's own.
_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-dev-shm-usage",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
)  # fmt: skip

#: A page that is not ready after so many seconds never will be: the test fails instead of waiting for ever.
PATIENCE = 600


def executables() -> tuple[str, str] | None:
    """The browser and its driver; None if one of them is missing."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    browser, driver = next((path for path in found if path is not None), None), shutil.which("chromedriver")
    return (browser, driver) if browser is not None and driver is not None else None


class Browser:
    """One window; what went wrong in it, and what it asked the world for, is kept by page."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def open(self, page: Path) -> None:
        """Open a report and wait until it is drawn, or has said that it cannot be."""
        self.visit(page.as_uri())

    def visit(self, address: str) -> None:
        """Open a page, and wait until it says that it is no longer loading."""
        self.complaints()
        self.requests()
        self.driver.get(address)
        self.until("document.documentElement.dataset.state !== 'loading'")

    def until(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        WebDriverWait(self.driver, PATIENCE, poll_frequency=0.05).until(lambda _: self.ask(expression))

    def ask(self, expression: str, *values: object) -> Any:
        """The value of a JavaScript expression; `values` are arguments[0], arguments[1]..."""
        return self.driver.execute_script(f"return {expression}", *values)

    def do(self, statement: str, *values: object) -> None:
        """Run JavaScript, and wait until what it asked for is drawn."""
        self.driver.execute_script(statement, *values)
        self.settle()

    def settle(self) -> None:
        """Wait until everything is drawn."""
        self.driver.execute_async_script("report.settled().then(arguments[arguments.length - 1])")

    def frames(self) -> None:
        """Wait until the browser has laid the page out, and what this leads to is drawn."""
        self.driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "requestAnimationFrame(() => requestAnimationFrame(() => report.settled().then(done)))"
        )

    def mouse(self, kind: str, x: float, y: float, **more: object) -> None:
        """A real event of the mouse (mouseMoved, mousePressed, mouseReleased, mouseWheel), and what it leads to."""
        event = {"type": kind, "x": x, "y": y, "pointerType": "mouse", **more}
        self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
        self.settle()

    def click(self, x: float, y: float) -> None:
        """Press and release the left button."""
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", buttons=1, clickCount=1)

    def key(self, key: str) -> None:
        """Press and release a key of that name, in what has the focus."""
        text = key if len(key) == 1 else ""
        for kind in ("keyDown", "keyUp"):
            self.driver.execute_cdp_cmd("Input.dispatchKeyEvent", {"type": kind, "key": key, "text": text})
        self.settle()

    def prefer(self, scheme: str) -> None:
        """A light or dark scheme of colours."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def resize(self, width: int | None) -> None:
        """Lay pages out in so many columns of pixels; None for the window's own."""
        if width is None:
            self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            return
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def complaints(self) -> list[str]:
        """Return the lines of the console since it was asked last, warnings included."""
        return [f"{entry['level']}: {entry['message']}" for entry in self._log("browser")]

    def requests(self) -> list[str]:
        """Return what pages requested since it was asked last, over the network or not, without the browser's own."""
        messages = (json.loads(entry["message"])["message"] for entry in self._log("performance"))
        sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
        return [request["request"]["url"] for request in sent if not request["documentURL"].startswith("chrome:")]

    def _log(self, kind: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.driver.get_log(kind)  # type: ignore[no-untyped-call]
        return found


@contextmanager
def browsing(profile: Path, width: int = 1280, height: int = 900) -> Iterator[Browser]:
    """A browser with an empty profile in that folder, closed at the end; the test is skipped if there is none."""
    found = executables()
    if found is None:
        pytest.skip(NONE)
    options = Options()
    for flag in (*_FLAGS, f"--window-size={width},{height}", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.binary_location = found[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(found[1], log_output=os.devnull))
    try:
        driver.set_script_timeout(PATIENCE)
        driver.set_page_load_timeout(PATIENCE)
        yield Browser(driver)
    finally:
        driver.quit()

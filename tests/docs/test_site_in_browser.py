"""The site as a reader has it: served on the loopback, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from selenium.webdriver.support.ui import WebDriverWait

from tests.browser import PATIENCE, Browser, browsing


class Quiet(SimpleHTTPRequestHandler):
    """Says nothing about requests."""

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a server for a folder, on a free port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until(browser: Browser, expression: str) -> None:
    """Wait until a JavaScript expression is true."""
    WebDriverWait(browser.driver, PATIENCE, poll_frequency=0.05).until(lambda _: browser.ask(expression))


def test_a_reader_finds_a_page_and_nothing_leaves_the_machine(site: Path, tmp_path: Path) -> None:
    """The first page, the search, the API, a command to be copied: no complaint, and no request to anybody else."""
    with served(site) as address, browsing(tmp_path / "profile") as browser:
        browser.driver.get(f"{address}/index.html")
        until(browser, "document.readyState === 'complete'")
        browser.driver.execute_script(
            "const field = document.querySelector('.md-search__input'); field.focus(); field.value = 'reservation';"
            "field.dispatchEvent(new InputEvent('keyup', {bubbles: true}))"
        )
        until(browser, "document.querySelectorAll('.md-search-result__link').length > 3")
        browser.driver.get(f"{address}/reference/api.html")
        until(browser, "document.getElementById('batsched_py.api.View') !== null")
        browser.driver.get(f"{address}/repository/index.html")
        copied = "(code => {code.setAttribute('data-md-copying', ''); return code.innerText})"
        assert browser.ask(f"{copied}(document.querySelector('.language-console code'))").strip() == "make demo"
        assert browser.complaints() == []
        asked = {request for request in browser.requests() if request.startswith("http")}  # the rest is Chromium's own
        assert f"{address}/search/search_index.json" in asked
        assert {request for request in asked if not request.startswith(f"{address}/")} == set()

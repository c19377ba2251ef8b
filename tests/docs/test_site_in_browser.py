"""The site as a reader has it: served on the loopback, in a real browser."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser import Browser, browsing


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


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Serve the site for all tests and yield its address."""
    with served(site) as found:
        yield found


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests."""
    with browsing(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture
def browser(started: Browser) -> Iterator[Browser]:
    """With a window of its own width, and nothing said or asked yet."""
    started.driver.get("about:blank")
    started.complaints()
    started.requests()
    yield started
    started.resize(None)


def test_a_reader_finds_a_page_and_nothing_leaves_the_machine(address: str, browser: Browser) -> None:
    """The first page, the search, the API, a command to be copied: no complaint, and no request to anybody else."""
    browser.driver.get(f"{address}/index.html")
    browser.until("document.readyState === 'complete'")
    browser.driver.execute_script(
        "const field = document.querySelector('.md-search__input'); field.focus(); field.value = 'reservation';"
        "field.dispatchEvent(new InputEvent('keyup', {bubbles: true}))"
    )
    browser.until("document.querySelectorAll('.md-search-result__link').length > 3")
    browser.driver.get(f"{address}/reference/api.html")
    browser.until("document.getElementById('batsched_py.api.View') !== null")
    browser.driver.get(f"{address}/repository/index.html")
    copied = "(code => {code.setAttribute('data-md-copying', ''); return code.innerText})"
    assert browser.ask(f"{copied}(document.querySelector('.language-console code'))").strip() == "make demo"
    assert browser.complaints() == []
    asked = {request for request in browser.requests() if request.startswith("http")}  # the rest is Chromium's own
    assert f"{address}/search/search_index.json" in asked
    assert {request for request in asked if not request.startswith(f"{address}/")} == set()


#: Blocks of code of a page: those that are wider than their place, how many there are, and how far the page scrolls.
CUT = (
    "(blocks => [blocks.filter(code => code.scrollWidth > code.clientWidth).map(code => code.innerText),"
    " blocks.length, document.documentElement.scrollWidth])"
    "([...document.querySelectorAll('.md-content pre > code')])"
)


def test_no_code_is_cut_on_a_desktop(address: str, browser: Browser) -> None:
    """At 1400 pixels and in the narrowest window with both margins; longer lines are wrapped."""
    for page in ("first-algorithm", "comparison", "simulator", "repository/index"):
        browser.driver.get(f"{address}/{page}.html")
        for width in (1400, 1220):
            browser.resize(width)
            cut, blocks, wide = browser.ask(CUT)
            assert blocks > 0, page
            assert (cut, wide) == ([], width), page


def test_a_picture_of_80_columns_is_not_wrapped(address: str, browser: Browser) -> None:
    """Rows are aligned as in a terminal: as many rows as lines, at every width."""
    rows = (
        "(code => [code.innerText.trimEnd().split('\\n').length, code.scrollWidth > code.clientWidth,"
        " Math.round((code.clientHeight - 2 * parseFloat(getComputedStyle(code).paddingTop))"
        " / parseFloat(getComputedStyle(code).lineHeight))])"
        "([...document.querySelectorAll('.language-console code')].find(code => code.innerText.includes('make demo')))"
    )
    browser.driver.get(f"{address}/repository/index.html")
    for width, scrolled in ((1400, False), (1220, False), (720, False), (500, True)):
        browser.resize(width)
        lines, wide, shown = browser.ask(rows)
        assert lines > 3
        assert (shown, wide) == (lines, scrolled), width

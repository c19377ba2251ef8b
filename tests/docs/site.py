"""The site, built once for all tests of a session, and what its pages contain."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from tests.clone import copy

#: Attributes by which a page makes a browser fetch something, by element.
FETCHES = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "object": "data",
    "form": "action",
    "link": "href",
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.navigation: list[str] = []
        self._in_navigation = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "nav":
            self._in_navigation += 1
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        if tag == "a" and "href" in attributes:
            (self.navigation if self._in_navigation else self.links).append(attributes["href"])
        fetched = attributes.get(FETCHES.get(tag, ""))
        if fetched:
            self.fetched.append(fetched)

    def handle_endtag(self, tag: str) -> None:
        if tag == "nav":
            self._in_navigation -= 1


@cache
def read(page: Path) -> _Reader:
    """Return the requests, the links and the anchors of a built page."""
    reader = _Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    return reader


def build(folder: Path) -> Path:
    """The site in a folder that several processes may ask for: the first builds it, strictly, the others wait."""
    site, clone = folder / "site", folder / "clone"
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site.built").exists():
            copy(clone)
            done = subprocess.run(
                [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)],
                cwd=clone,
                env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (folder / "site.built").touch()
    return site


def target(page: Path, link: str) -> tuple[Path, str]:
    """The built file to which a link of a page leads, and the anchor in it."""
    path, _, anchor = link.partition("#")
    return _resolved(page.parent, path) if path else page, unquote(anchor)


@cache
def _resolved(folder: Path, path: str) -> Path:
    """All pages of a folder have the same navigation."""
    return (folder / unquote(path)).resolve()

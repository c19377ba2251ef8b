"""The client of a site: when it asks again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from batsched_py.errors import SiteError
from batsched_py.site.client import SiteClient

UNKEPT = b'{"problems": [{"path": "", "message": "the site cannot keep requests"}]}'


@contextmanager
def answering(answers: Sequence[tuple[int, dict[str, str], bytes]]) -> Iterator[str]:
    """The address of a server that gives these answers, one after the other."""
    left = iter(answers)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, content = next(left)
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_site_that_starts_is_asked_again() -> None:
    """It says that it is worth it."""
    with answering([(503, {"Retry-After": "1"}, b"{}"), (200, {}, b"[1]")]) as url:
        assert SiteClient(url, patience=600.0).get("api", "site") == [1]


def test_a_site_that_has_ended_is_not_asked_again() -> None:
    """Its reason is told at once; whoever asked until it cannot be reached would lose it."""
    answers: list[tuple[int, dict[str, str], bytes]] = [(503, {}, UNKEPT), (200, {}, b"[1]")]
    with answering(answers) as url, pytest.raises(SiteError, match=r"^the site cannot keep requests$"):
        SiteClient(url, patience=600.0).get("api", "site")

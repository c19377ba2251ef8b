"""Requests to a live site, of which something is wrong, over a real socket; only what they ask for may go wrong."""

from __future__ import annotations

import atexit
import http.client
import json
import shutil
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from hypothesis import strategies as st

from batsched_py.model.settings import Settings
from batsched_py.runs.choice import Choice
from batsched_py.site.api.app import DoorSettings, make_app
from batsched_py.site.api.listening import listen
from batsched_py.site.api.server import run
from batsched_py.site.simulated import SimulatedSite
from batsched_py.site.site import SiteSettings
from batsched_py.text.display import displayed_line
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.fuzz.judging import FindingError
from tests.fuzz.mutation import TEXTS, wrong_json
from tests.unit.protocol.hostile import damages

PLATFORM: Final = ROOT / "platforms" / "cluster32.xml"
#: Requests after which another site is opened, so that it does not grow slow.
MOST: Final = 2000
#: Seconds that an answer may take.
PATIENCE: Final = 30.0
#: Seconds after which no answer is expected to what is no whole request.
SHORT: Final = 0.05
#: An experiment beside the leases.
TIMELINES: Final = {
    "vms": {"a": [{"at": -5, "run": "x", "takes": 9}, {"at": 15, "break": True}], "b": [{"at": 9, "run": "y"}]}
}
#: Seconds of simulated time in one second: what is asked for happens soon.
PACE: Final = 1e5

BODIES: Final[tuple[tuple[str, str, Any], ...]] = (
    ("POST", "/api/leases", {
        "nodes": 2, "duration": 600, "start": "+60", "deadline": 86400, "preemptible": True,
        "capacity": {"CPU": 50, "Memory": 128}, "software": {"image": "a.img", "size": 600},
    }),
    ("POST", "/api/leases", {"nodes": 3, "duration": "00:20:00", "start": "now"}),
    ("POST", "/api/leases", {
        "nodes": 2, "duration": "unlimited", "start": "2026-12-01T10:00:00",
        "capacity": [{"numnodes": 1, "CPU": 100}, {"numnodes": 1, "CPU": 10}],
    }),
    ("POST", "/api/jobs", {"nodes": 4, "walltime": 100, "duration": 50}),
    ("POST", "/api/timelines/resume", {"vms": ["a", "b"]}),
    ("POST", "/api/timelines/a/entries", {"at": 40, "name": "x", "run": "probe", "takes": 5, "exit": [10, 0]}),
    ("POST", "/api/timelines/b/entries", {"at": 90, "run": "make", "kind": "flaky", "with": {"takes": 3, "fails": 2}}),
    ("POST", "/api/timelines/b/entries", {"at": 1e5, "pause": 30}),
    ("PUT", "/api/clock", {"pace": 1000.0, "paused": False}),
)  # fmt: skip
PATHS: Final = (
    "/", "/page/page.js", "/healthz", "/openapi/openapi.json", "/api/site", "/api/clock", "/api/hosts", "/api/queue",
    "/api/leases", "/api/leases/1", "/api/leases/{}", "/api/jobs", "/api/schedule", "/api/events", "/api/timelines",
    "/api/timelines/a/entries", "/api/timelines/{}/entries", "/page/{}", "/{}",
    "/api/{}",
)  # fmt: skip
METHODS: Final = ("GET", "GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "get", "X")
QUERY: Final = ("finished", "after", "limit", "newest", "begin", "end", "x")
HEADERS: Final = (
    "X-Bonfire-Asserted-Id", "X-Bonfire-Asserted-Selected-Group", "Authorization", "Content-Type", "Accept", "Origin",
    "Sec-Fetch-Site", "Host", "X-Forwarded-For", "Forwarded", "Expect", "Cookie", "Range", "If-None-Match", "Upgrade",
    "Accept-Encoding", "Content-Encoding", "X-HTTP-Method-Override",
)  # fmt: skip
VALUES: Final = (
    "ann", "application/json", "application/json; charset=utf-16", "text/plain", "multipart/form-data; boundary=x",
    "application/x-www-form-urlencoded", "Bearer x", "Basic eDp4", "127.0.0.1", "localhost", "http://elsewhere", "null",
    "cross-site", "100-continue", "websocket", "gzip", "*/*", "bytes=0-1", "[", "::1", "a=b; c", "\xe9\xff", "q=0.x,",
)  # fmt: skip


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """A request as it goes over a socket; one of eight has bytes that are wrong."""
    method, path, valid = draw(st.sampled_from(BODIES))
    body = draw(wrong_json(valid)) if draw(st.integers(0, 3)) else json.dumps(valid).encode()
    if draw(st.integers(0, 2)) == 0:
        method, path = draw(st.sampled_from(METHODS)), draw(st.sampled_from(PATHS))
        path = path.format(quote(draw(TEXTS), safe="/.%"))
        body = b"" if draw(st.integers(0, 3)) else body
    if draw(st.integers(0, 3)) == 0:
        path += "?" + "&".join(f"{name}={quote(text)}" for name, text in draw(pairs(QUERY)))
    headers = {"Host": "localhost"} | ({"Content-Type": "application/json"} if body else {})
    if draw(st.integers(0, 2)) == 0:
        given = {name: text.replace("\n", " ") for name, text in draw(pairs(HEADERS))}
        headers.update({name: text for name, text in given.items() if text.isprintable()})
    headers["Content-Length"] = str(len(body))
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in headers.items())]
    request = "\r\n".join(lines).encode("utf-8") + b"\r\n\r\n" + body
    return draw(damages(request)) if draw(st.integers(0, 7)) == 0 else request


def pairs(names: tuple[str, ...]) -> st.SearchStrategy[list[tuple[str, str]]]:
    """Return names with texts, some of which mean something."""
    return st.lists(st.tuples(st.sampled_from(names), TEXTS | st.sampled_from(VALUES)), min_size=1, max_size=3)


class Server:
    """A site that answers in this process, until it is closed.

    Attributes:
        asked: how often.
    """

    def __init__(self) -> None:
        self.asked = 0
        self._folder = Path(tempfile.mkdtemp())
        (self._folder / "timelines.json").write_text(json.dumps(TIMELINES))
        file = str(self._folder / "timelines.json")
        settings = SiteSettings(
            name="cluster32.xml",
            choice=Choice("timelines", {"policy_preemption": "ar-preempts-everything", "file": file}),
            folder=self._folder,
            pace=PACE,
        )
        self.site = SimulatedSite(settings, read_platform(PLATFORM), PLATFORM.read_bytes(), Settings())
        app = make_app(self.site, DoorSettings(rate=float("inf")))
        self._socket = listen("127.0.0.1:0", guarded=False)
        self.address = self._socket.getsockname()
        ready = threading.Event()
        self._thread = threading.Thread(
            target=run, args=(self.site, app, self._socket, lambda _: ready.set(), print), daemon=True
        )
        self._thread.start()
        ready.wait(PATIENCE)
        while self.site.inbox.starting:
            ready.wait(0.001)

    def close(self) -> None:
        """Stop it."""
        self.site.stop()
        self._thread.join()
        self._socket.close()
        shutil.rmtree(self._folder)


#: The site that is asked; empty before the first request.
_open: list[Server] = []


@atexit.register
def close() -> None:
    """Stop the site."""
    while _open:
        _open.pop().close()


def server() -> Server:
    """Return a site that takes requests."""
    if _open and (_open[0].asked >= MOST or not _open[0].site.inbox.ready):
        close()
    if not _open:
        _open.append(Server())
    return _open[0]


def send(request: bytes, _: Path) -> None:
    """Send a request; FindingError if the site fails, or its answer is none of its own."""
    asked = server()
    asked.asked += 1
    with socket.create_connection(asked.address, timeout=PATIENCE) as connection:
        connection.sendall(request)
        method = request.split(b" ", 1)[0].decode("latin-1")
        if not is_whole(request):  # the site may wait for more
            connection.settimeout(SHORT)
        try:
            judge(connection, method, whole=is_whole(request))
        except (ConnectionError, TimeoutError) as error:
            if is_whole(request):
                raise FindingError("no answer") from error
    if asked.site.failure is not None:
        raise FindingError(f"the site has ended: {asked.site.failure!r}") from asked.site.failure


def is_whole(request: bytes) -> bool:
    """Return whether a request was not damaged, so that there must be an answer."""
    head, end, body = request.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    return (
        bool(end)
        and lines[0].endswith(b" HTTP/1.1")
        and all(b": " in line and b"\n" not in line for line in lines[1:])
        and lines[-1] == b"Content-Length: %d" % len(body)
    )


def judge(connection: socket.socket, method: str, *, whole: bool) -> None:
    """Read an answer; one that refuses says why in clear lines."""
    answer = http.client.HTTPResponse(connection, method=method)
    try:
        answer.begin()
    except http.client.HTTPException as error:
        if whole:
            raise FindingError(f"no answer: {error}") from error
        return
    with answer:
        if answer.status >= 500:
            raise FindingError(f"answered {answer.status}: {answer.read(1000)!r}")
        if answer.status >= 400 and answer.getheader("Content-Type") == "application/json" and method != "HEAD":
            for line in messages(json.loads(answer.read())):
                if displayed_line(line) != line:
                    raise FindingError(f"what is told cannot be displayed: {line!r}")


def messages(answer: Any) -> Iterator[str]:
    """Iterate over the problems that an answer tells."""
    for problem in answer["problems"]:
        yield f"{problem['path']}: {problem['message']}"

"""A site whose callers send too much, too slowly, or too often at once; real processes with 256 file descriptors."""

from __future__ import annotations

import http.client
import re
import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.site_process import SiteProcess, running_site

pytest.importorskip("litestar")
pytest.importorskip("uvicorn")

#: File descriptors of the site; and connections that are tried, more than that.
FILES, TRIED = 256, 600
#: Seconds that a test waits for an answer at most.
PATIENCE = 60.0
HEADERS = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "
BODY = (
    b"POST /api/leases HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
)


def connected(site: SiteProcess) -> socket.socket:
    """Return a connection to it."""
    parts = urlsplit(site.url)
    return socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=PATIENCE)


def status(site: SiteProcess, path: str = "/healthz") -> int:
    """Return the status of an answer."""
    connection = http.client.HTTPConnection(urlsplit(site.url).netloc, timeout=PATIENCE)
    with closing(connection):
        connection.request("GET", path)
        return connection.getresponse().status


def all_of(connection: socket.socket) -> bytes:
    """Return what comes until the connection ends."""
    found = b""
    try:
        while part := connection.recv(1 << 16):
            found += part
    except ConnectionResetError:
        pass  # the end, too: there was more to read for the site
    return found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SiteProcess]:
    """A patient site for tests of size."""
    with running_site(tmp_path_factory.mktemp("site"), "--pace", "max") as found:
        yield found


@contextmanager
def attacked(folder: Path, beginning: bytes) -> Iterator[tuple[SiteProcess, list[socket.socket]]]:
    """Start a site with few descriptors, and begin more requests than it has."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * TRIED:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4 * TRIED), hard))
    with running_site(folder, "--pace", "60", "--request-timeout", "2", files=FILES) as site, ExitStack() as held:
        opened = list[socket.socket]()
        for _ in range(TRIED):
            connection = held.enter_context(closing(connected(site)))
            opened.append(connection)
            with suppress(OSError):  # it was refused
                connection.sendall(beginning)
        yield site, opened


@pytest.mark.parametrize("beginning", [b"", HEADERS, BODY], ids=["nothing", "headers", "a body"])
def test_half_a_request_on_more_connections_than_there_are_descriptors(tmp_path: Path, beginning: bytes) -> None:
    """503 for those beyond, 408 for those that send nothing more; then all is as before, and the log is short."""
    with attacked(tmp_path, beginning) as (site, opened):
        answers = [all_of(connection) for connection in opened]
        told = [re.findall(rb"HTTP/1.1 (\d+)", answer) for answer in answers]
        assert {len(one) for one in told} == {1}
        counts = {number: sum(one == [number] for one in told) for number in (b"408", b"503")}
        assert counts[b"408"] > FILES // 2
        assert counts[b"503"] >= TRIED - FILES
        assert sum(counts.values()) == TRIED
        assert status(site) == 200
        lines = site.end().splitlines()
    assert [line for line in lines if "Traceback" in line] == []
    assert 1 <= len(lines) <= 4
    assert "connections are open: others are answered 503" in lines[0]


def test_a_page_that_is_open_stays_open_in_an_attack(tmp_path: Path) -> None:
    """The stream of events goes on, because only requests that do not arrive are given up."""
    with (
        running_site(tmp_path, "--pace", "60", "--request-timeout", "0.5", files=FILES) as site,
        closing(connected(site)) as follower,
        closing(connected(site)) as slow,
    ):
        follower.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert follower.recv(1 << 16).startswith(b"HTTP/1.1 200")
        slow.sendall(HEADERS)
        assert b" 408 " in all_of(slow)
        site.client().post("api", "jobs", body={"nodes": 1, "walltime": 5})
        assert follower.recv(1 << 16)


@pytest.mark.parametrize(
    ("content", "refused"),
    [
        (HEADERS + b"a" * (1 << 17), b" 431 "),
        (b"GET /healthz HTTP/1.1\r\nHost: a\r\n" + b"X: a\r\n" * 20_000 + b"\r\n", b" 431 "),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", b" 414 "),
        (b"G" * 200_000, b" 400 "),
        (b"\r\n" * 100_000, b" 431 "),
        (b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"a" * 200_000, b" 4"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: " + b"a" * 200_000, b" 4"),
    ],
    ids=["header", "headers", "path", "method", "lines", "extension", "trailer"],
)
def test_requests_without_end_are_refused(site: SiteProcess, content: bytes, refused: bytes) -> None:
    """By size, before the end is there, and the connection is closed."""
    with closing(connected(site)) as connection:
        sender = threading.Thread(target=send_for_ever, args=(connection, content))
        sender.start()
        assert refused in all_of(connection).partition(b"\r\n")[0]
        sender.join()
    assert status(site) == 200


def send_for_ever(connection: socket.socket, content: bytes, *, again: bool = False) -> None:
    """Send something, and then it again or something else, until the other side closes the connection."""
    with suppress(OSError):
        connection.sendall(content)
        while True:
            connection.sendall(content if again else b"a" * 1000)


def test_headers_within_the_limit_are_read(site: SiteProcess) -> None:
    """60 KB in one header, and as much in small ones that arrive in pieces."""
    for extra in (b"X: %b\r\n" % (b"a" * 60_000), b"X: a\r\n" * 1500):
        with closing(connected(site)) as connection:
            for part in (b"GET /healthz HTTP/1.1\r\nHost: a\r\n", extra, b"Connection: close\r\n\r\n"):
                connection.sendall(part)
            assert all_of(connection).startswith(b"HTTP/1.1 200")


def test_a_caller_that_does_not_read_is_left(tmp_path: Path) -> None:
    """Answers wait for their reader only so long, and the connection is closed."""
    with running_site(tmp_path, "--pace", "60", "--request-timeout", "0.5") as site, closing(connected(site)) as caller:
        send_for_ever(caller, b"GET /page/page.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", again=True)
        assert status(site) == 200


def test_followers_do_not_delay_the_stop(tmp_path: Path) -> None:
    """Streams of open pages end with a whole answer, and nothing but the signal is in the log."""
    with running_site(tmp_path, "--pace", "60") as site, ExitStack() as held:
        pages = [held.enter_context(closing(connected(site))) for _ in range(5)]
        for page in pages:
            page.sendall(b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert page.recv(1 << 16).startswith(b"HTTP/1.1 200")
        told = site.end()
        assert all(all_of(page).endswith(b"0\r\n\r\n") for page in pages)
    assert told == "batsched-py: terminated (SIGTERM)\n"


def test_too_few_descriptors_are_refused_at_the_start(tmp_path: Path) -> None:
    """One line names the limit."""
    with pytest.raises(AssertionError, match=r"may open too few files \(50, ulimit -n\)"):
        SiteProcess(tmp_path, ["--pace", "max"], files=50)

"""The protocol of one connection: uvicorn's, with limits on the size and the duration of requests.

The parser (httptools) has no limits of its own, and the server has no limit on the time that a request takes to arrive.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from enum import Enum
from http import HTTPStatus
from typing import Any, Final

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

# A site must answer while some of its callers are slow, broken or hostile. uvicorn limits neither the size of headers
# nor the time in which they arrive, so connections that send one byte now and then could hold all file descriptors. The
# limits are here and not in the handlers, because a request without an end never reaches a handler.
#
# Each connection waits for one part at a time, headers or body, with one timer. The timer is set when the part changes
# and not when bytes arrive: a caller that sends a byte each second is not given more time. Bytes are counted until the
# parser has completed something with them, which bounds what it holds back. A caller that does not read its answer is
# cut off as well.

#: Seconds that the headers of a request may take to arrive, and its body.
REQUEST_TIMEOUT: Final = 20.0
#: The longest path with its query, in bytes.
_LONGEST_URL: Final = 1 << 13
#: The largest total of headers, in bytes; each counts more than its text, which bounds their number too.
_MOST_HEADERS: Final = 1 << 16
_EACH_HEADER: Final = 32
#: Bytes that may arrive without completing a header or a piece of a body.
_MOST_UNREAD: Final = 1 << 16


class _Awaited(Enum):
    """The part of a request that a connection waits for."""

    NOTHING = "nothing"
    HEADERS = "headers"
    BODY = "body"


class _TooLargeError(Exception):
    """The parser must stop: a request is too large."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection whose requests must be small and must arrive in time.

    Headers must be complete `request_timeout` seconds after the connection was made or the request began, and the body
    within the same time after the headers; a caller must not stop reading its answer for longer. Subclasses set the
    timeout.
    """

    request_timeout: float = REQUEST_TIMEOUT

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        #: The part that is due, the part that the timer is set for, and the timer.
        self._awaited, self._timed = _Awaited.HEADERS, _Awaited.NOTHING
        self._timer: TimerHandle | None = None
        self._reading: TimerHandle | None = None
        self._headers, self._unread = 0, 0
        #: The status of the refusal when the parser was stopped on purpose.
        self._refusal: HTTPStatus | None = None
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timers."""
        self._awaited = _Awaited.NOTHING
        self._watch()
        if self._reading is not None:
            self._reading.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes; refuse the request if they are too many without a complete header."""
        if self.transport.is_closing():
            return
        self._unread += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unread > _MOST_UNREAD:
            self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
            return
        if self._awaited is _Awaited.NOTHING and self._unread and self.timeout_keep_alive_task is None:
            self._awaited = _Awaited.HEADERS  # an empty line before a request: the server would wait forever
        self._watch()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._awaited, self._headers = _Awaited.HEADERS, 0

    def on_url(self, url: bytes) -> None:
        """Append a part of the path, and check its length."""
        super().on_url(url)
        self._unread = 0
        if len(self.url) > _LONGEST_URL:
            self._give_up(HTTPStatus.REQUEST_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header or a trailer, and check the total size."""
        super().on_header(name, value)
        self._unread = 0
        self._headers += len(name) + len(value) + _EACH_HEADER
        if self._headers > _MOST_HEADERS:
            self._give_up(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Start the handler and wait for the body."""
        self._awaited, self._unread = _Awaited.BODY, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Add a part of the body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Stop waiting: the request is complete."""
        self._awaited, self._unread = _Awaited.NOTHING, 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Abort the connection unless the caller reads its answer in time."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.request_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Cancel the timer of `pause_writing`: the caller reads its answer."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (the answer has the form of all others)
        """Refuse a malformed request, or one whose parser was stopped."""
        self._refuse(self._refusal or HTTPStatus.BAD_REQUEST)

    def _give_up(self, status: HTTPStatus) -> None:
        self._refusal = status
        raise _TooLargeError

    def _watch(self) -> None:
        """Start the timer of the part that is due now, unless it is running."""
        if self._awaited is self._timed:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timed = self._awaited
        if self._timed is not _Awaited.NOTHING:
            self._timer = self.loop.call_later(self.request_timeout, self._refuse, HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Send a refusal, unless another answer is being sent, and close the connection."""
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_answer(status))
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()


#: Status -> message of the refusal.
_RULES: Final = {
    HTTPStatus.BAD_REQUEST: "the request is no HTTP",
    HTTPStatus.REQUEST_TIMEOUT: "the request must arrive in time",
    HTTPStatus.REQUEST_URI_TOO_LONG: f"the path must have at most {_LONGEST_URL} bytes",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: f"the headers must have at most {_MOST_HEADERS} bytes",
}


def _answer(status: HTTPStatus) -> bytes:
    body = orjson.dumps({"problems": [{"path": "", "message": _RULES[status]}]})
    head = f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: application/json\r\nConnection: close\r\n"
    return b"%bContent-Length: %d\r\n\r\n%b" % (head.encode(), len(body), body)


def limited(request_timeout: float) -> type[asyncio.Protocol]:
    """Return the protocol with another time limit, in seconds."""
    members: dict[str, Any] = {"request_timeout": request_timeout}
    return type("LimitedProtocol", (LimitedProtocol,), members)

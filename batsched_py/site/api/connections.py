"""The protocol of one connection: uvicorn's, with limits on the size and the time of requests.

The parser (httptools) has no limits of its own, and the server none on the time that a request takes to arrive.
"""

from __future__ import annotations

import asyncio
from asyncio import TimerHandle
from enum import Enum
from http import HTTPStatus
from typing import Any, Final

import orjson
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

#: Seconds that the headers of a request may take to arrive, and its body.
REQUEST_TIMEOUT: Final = 20.0
#: Bytes of a path with its query.
_LONGEST_URL: Final = 1 << 13
#: Bytes of all headers; each counts a little more than its text, so that their number is bounded, too.
_MOST_HEADERS: Final = 1 << 16
_EACH_HEADER: Final = 32
#: Bytes that may come without making a whole header, or a piece of a body.
_MOST_UNREAD: Final = 1 << 16


class _Awaited(Enum):
    """The part of a request that a connection waits for."""

    NOTHING = "nothing"
    HEADERS = "headers"
    BODY = "body"


class _TooLargeError(Exception):
    """Ends the parser."""


class LimitedProtocol(HttpToolsProtocol):
    """A connection whose requests must be small and must arrive in time.

    Headers must be complete `request_timeout` seconds after the connection was made or the request has begun, the body
    as long after that; and a caller must read answers without a longer rest. Set this by making a subclass.
    """

    request_timeout: float = REQUEST_TIMEOUT

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        #: What is due, what the timer waits for, and the timer.
        self._awaited, self._timed = _Awaited.HEADERS, _Awaited.NOTHING
        self._timer: TimerHandle | None = None
        self._reading: TimerHandle | None = None
        self._headers, self._unread = 0, 0
        #: The status with which a request is refused that the parser was made to give up.
        self._refusal: HTTPStatus | None = None
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing more."""
        self._awaited = _Awaited.NOTHING
        self._watch()
        if self._reading is not None:
            self._reading.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read what has come, unless it is too much."""
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
            self._awaited = _Awaited.HEADERS  # a line without a request, after which the server waits for ever
        self._watch()

    def on_message_begin(self) -> None:
        """Begin a request."""
        super().on_message_begin()
        self._awaited, self._headers = _Awaited.HEADERS, 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the path."""
        super().on_url(url)
        self._unread = 0
        if len(self.url) > _LONGEST_URL:
            self._give_up(HTTPStatus.REQUEST_URI_TOO_LONG)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer."""
        super().on_header(name, value)
        self._unread = 0
        self._headers += len(name) + len(value) + _EACH_HEADER
        if self._headers > _MOST_HEADERS:
            self._give_up(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_headers_complete(self) -> None:
        """Answer, or wait for the body."""
        self._awaited, self._unread = _Awaited.BODY, 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._unread = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Wait for no more of this request."""
        self._awaited, self._unread = _Awaited.NOTHING, 0
        super().on_message_complete()

    def pause_writing(self) -> None:
        """Give the caller time to read its answer."""
        super().pause_writing()
        self._reading = self.loop.call_later(self.request_timeout, self.transport.abort)

    def resume_writing(self) -> None:
        """Go on: the caller reads."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002  (the answer has the form of all others)
        """Refuse what is no request, or what was given up."""
        self._refuse(self._refusal or HTTPStatus.BAD_REQUEST)

    def _give_up(self, status: HTTPStatus) -> None:
        self._refusal = status
        raise _TooLargeError

    def _watch(self) -> None:
        """Start the timer of what is due now, unless it runs."""
        if self._awaited is self._timed:
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timed = self._awaited
        if self._timed is not _Awaited.NOTHING:
            self._timer = self.loop.call_later(self.request_timeout, self._refuse, HTTPStatus.REQUEST_TIMEOUT)

    def _refuse(self, status: HTTPStatus) -> None:
        """Answer that a request is refused, unless another is being answered, and close the connection."""
        if self.transport.is_closing():
            return
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:
            self.transport.write(_answer(status))
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        self.transport.close()


#: Status -> rule, for those that are not their own words.
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

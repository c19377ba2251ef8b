"""The HTTP client of a site, for the commands; needs no optional dependency."""

from __future__ import annotations

import http.client
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from email.message import Message
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from batsched_py.errors import OptionError, SiteError, TransportError
from batsched_py.text.display import displayed

#: The default URL of a site.
DEFAULT_URL: Final = "http://127.0.0.1:8080"
#: The timeout of an answer, in seconds.
_SILENCE: Final = 30.0
#: Seconds between two attempts.
_RETRY: Final = 0.1
#: The largest answer, in bytes.
_LARGEST: Final = 1 << 26
#: The address of the next part of a list, in the header `Link`.
_NEXT: Final = re.compile('<([^>]*)>; rel="next"')
#: The warning about a change that waits for a decision.
UNDECIDED: Final = "the change was accepted, and is not decided yet: it is ignored if it is not possible then"


class SiteAnswer(dict[str, Any]):
    """An object in an answer: a missing member is a TransportError, as the server is another program or version."""

    def __missing__(self, name: str) -> Any:
        raise TransportError(f"the server is not a site of this version: its answer lacks {displayed(name)}")


class SiteClient:
    """A client of one site, with a new connection for each request.

    Args:
        url: the URL of the site, http or https.
        token: the token of the site; "" if it has none.
        user, group: the user and the group of the requests; "" to assert none.
        patience: seconds to wait for a site that is starting, and not for one that has ended and says so.
        warn: is called with a line about a change that was accepted, but is not decided yet; None to ignore it.

    OptionError if the URL is invalid.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str = "",
        user: str = "",
        group: str = "",
        patience: float = 0.0,
        *,
        warn: Callable[[str], None] | None = None,
    ) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in ("http", "https") or not parts.hostname or port == -1 or parts.query or parts.fragment:
            raise OptionError(f"--url must be like {DEFAULT_URL}, not {url!r}")
        self._url, self._patience, self._warn = url, patience, warn
        self._connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._host, self._port, self._path = parts.hostname, port, parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        # Without it, the routes of experiments require a user.
        self._headers |= {"X-Bonfire-Asserted-Id": user} if user else {"X-Batsched-Py-Operator": "true"}
        if group:
            self._headers["X-Bonfire-Asserted-Selected-Group"] = group

    def get(self, *path: str | int, **query: Any) -> Any:
        """Return a resource. SiteError if the site refuses the request, TransportError if it cannot be reached."""
        return self._ask("GET", path, query=query)

    def parts(self, *path: str | int, **query: Any) -> Iterator[Any]:
        """Yield the parts of a list, each with a request; errors as for `get`."""
        following: Mapping[str, Any] | None = query
        while following is not None:
            value, headers = self._answer("GET", path, query=following)
            yield value
            link = _NEXT.search(headers.get("Link", ""))
            following = None if link is None else dict(parse_qsl(urlsplit(link[1]).query))

    def post(self, *path: str | int, body: Mapping[str, Any], silence: float = _SILENCE) -> Any:
        """Create a resource and return the site's answer, which may take `silence` seconds; errors as for `get`."""
        return self._ask("POST", path, _json(body), silence=silence)

    def post_document(self, *path: str | int, content: bytes, media_type: str) -> Any:
        """Create a resource from a document, and return the site's answer; errors as for `get`."""
        return self._ask("POST", path, (content, media_type))

    def put(self, *path: str | int, body: Mapping[str, Any]) -> Any:
        """Change a resource and return its new state; errors as for `get`."""
        return self._ask("PUT", path, _json(body))

    def delete(self, *path: str | int) -> None:
        """Delete or cancel a resource; errors as for `get`."""
        self._ask("DELETE", path)

    def _ask(
        self,
        method: str,
        path: tuple[str | int, ...],
        body: tuple[bytes, str] | None = None,
        query: Mapping[str, Any] | None = None,
        silence: float = _SILENCE,
    ) -> Any:
        return self._answer(method, path, body, query, silence)[0]

    def _answer(
        self,
        method: str,
        path: tuple[str | int, ...],
        body: tuple[bytes, str] | None = None,
        query: Mapping[str, Any] | None = None,
        silence: float = _SILENCE,
    ) -> tuple[Any, Message]:
        """Send a request until it is answered; `body` is the content and its media type. Return answer and headers."""
        target = "/".join((self._path, *(quote(str(part), safe="") for part in path)))
        if query:
            target = f"{target}?{urlencode(query)}"
        until = time.monotonic() + self._patience
        while True:
            try:
                status, content, headers = self._exchange(method, target, body, silence)
            except (OSError, http.client.HTTPException) as error:
                if isinstance(error, ConnectionRefusedError) and time.monotonic() < until:
                    time.sleep(_RETRY)
                    continue
                why = getattr(error, "strerror", None) or str(error) or type(error).__name__
                raise TransportError(f"the site at {self._url} cannot be reached: {displayed(why)}") from error
            if status == HTTPStatus.SERVICE_UNAVAILABLE and "Retry-After" in headers and time.monotonic() < until:
                time.sleep(_RETRY)
                continue
            return self._read(status, content), headers

    def _exchange(
        self, method: str, target: str, body: tuple[bytes, str] | None, silence: float
    ) -> tuple[int, bytes, Message]:
        """Return status, content and headers of the answer."""
        content, headers = None, self._headers
        if body is not None:
            content, headers = body[0], headers | {"Content-Type": body[1]}
        with closing(self._connect(self._host, self._port, timeout=silence)) as connection:
            connection.request(method, target, content, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(_LARGEST), answer.headers

    def _read(self, status: int, content: bytes) -> Any:
        try:
            value = json.loads(content, object_hook=SiteAnswer) if content else None
        except ValueError:
            raise TransportError(
                f"the server at {self._url} is not a site: its answer is not JSON ({status})"
            ) from None
        if status == HTTPStatus.ACCEPTED and not content and self._warn is not None:
            self._warn(UNDECIDED)
        if status < 400:
            return value
        problems = value.get("problems") if isinstance(value, dict) else None
        faults = [
            ": ".join(displayed(str(one[name])) for name in ("path", "message") if one.get(name))
            for one in problems or []
            if isinstance(one, dict)
        ]
        raise SiteError("; ".join(faults) or f"the site at {self._url} answered {status}")


def _json(body: Mapping[str, Any]) -> tuple[bytes, str]:
    return json.dumps(body).encode(), "application/json"

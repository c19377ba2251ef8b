"""Identities of callers: users and groups as asserted by trusted callers, which send a token or are local."""

from __future__ import annotations

import hmac
import ipaddress
from functools import lru_cache
from typing import Any, Final

from litestar import Request
from litestar.connection import ASGIConnection
from msgspec import Struct

from batsched_py.site.api.problems import refuse

#: Headers in which a trusted caller names the user and the group of a request.
USER_HEADER: Final = "x-bonfire-asserted-id"
GROUP_HEADER: Final = "x-bonfire-asserted-selected-group"
#: The header with which a caller that names no user requests experiments as the operator.
OPERATOR_HEADER: Final = "x-batsched-py-operator"
_ASSERTED: Final = frozenset({USER_HEADER, GROUP_HEADER, OPERATOR_HEADER})
#: The user of the operator's requests, which name no user; the name is reserved.
LOCAL: Final = "local"
#: The longest name, in characters.
LONGEST_NAME: Final = 100
_SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Identity(Struct, frozen=True):
    """The caller of a request.

    Attributes:
        user: the name of the user.
        group: the group of the user; "" for none.
        asserted: True if the caller named the user.
    """

    user: str
    group: str
    asserted: bool

    def may_read(self, user: str, group: str) -> bool:
        """Return whether the caller may read the requests of a user in a group: its own and those of its group."""
        return self.user == user or (self.group != "" and self.group == group)


def writes(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Return whether a request may change something."""
    return connection.scope.get("method") not in _SAFE_METHODS


class Doorkeeper:
    """The check of access: by token, or from the machine itself.

    Args:
        token: callers must send it; "" if only the machine itself can reach the site.
    """

    def __init__(self, token: str) -> None:
        self._token = token.encode()

    def check(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        """Raise RequestRefusedError unless the caller has access."""
        if self._token:
            self._check_token(connection)
        else:
            self._check_local(connection)
        if writes(connection) and not self._token:
            _check_origin(connection)

    def _check_token(self, connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        scheme, _, shown = connection.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(shown.strip().encode(), self._token):
            raise refuse(
                401, "must send the site's token: Authorization: Bearer TOKEN", **{"WWW-Authenticate": "Bearer"}
            )

    @staticmethod
    def _check_local(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        """Refuse other machines, and host names of other sites that resolve to this machine (DNS rebinding)."""
        client = connection.client
        if client is None or not _is_loopback(client.host):
            raise refuse(403, "a site without a token answers only this machine")
        name = connection.headers.get("host", "").lower()
        if name.rpartition(":")[0] not in _LOOPBACK_NAMES and name not in _LOOPBACK_NAMES:
            raise refuse(403, "must be addressed as localhost or 127.0.0.1", "Host")


@lru_cache(maxsize=16)  # few addresses send many requests
def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host).is_loopback


def _check_origin(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
    """Refuse writes that a browser sends on behalf of another site's page."""
    origin = connection.headers.get("origin")
    own = f"{connection.scope['scheme']}://{connection.headers.get('host', '')}"
    fetched = connection.headers.get("sec-fetch-site", "none")
    if fetched not in ("none", "same-origin") or (origin is not None and origin != own):
        raise refuse(403, "requests from pages of other sites are refused", "Origin")


def who_asks(request: ASGIConnection[Any, Any, Any, Any]) -> Identity:
    """Read the identity that an admitted request asserts; RequestRefusedError if its headers are malformed."""
    for name in request.headers:
        if "_" in name and (meant := name.replace("_", "-")) in _ASSERTED:  # CGI and WSGI confuse both spellings
            raise refuse(400, f"must be spelled {meant}", name)
    user, group = _name(request, USER_HEADER), _name(request, GROUP_HEADER)
    if user == LOCAL:
        raise refuse(400, f"must not be {LOCAL}, which is the operator", USER_HEADER)
    if not user and USER_HEADER in request.headers:
        raise refuse(400, "must not be empty: only the operator names no user, and sends no such header", USER_HEADER)
    return Identity(user or LOCAL, group, bool(user))


def check_operator(request: Request[Identity, Any, Any]) -> None:
    """Raise RequestRefusedError unless the caller of an admitted request is the operator, who asserts no user."""
    if request.user.asserted:
        raise refuse(403, "only the operator may do this, without an asserted user")


def _name(request: ASGIConnection[Any, Any, Any, Any], header: str) -> str:
    given = request.headers.getall(header, [])
    if len(given) > 1:
        raise refuse(400, "must be sent once", header)
    name = given[0].strip() if given else ""
    if len(name) > LONGEST_NAME or not name.isprintable() or "," in name or '"' in name:
        raise refuse(400, f'must be printable text of at most {LONGEST_NAME} characters without , and "', header)
    return name


#: A request, whose `user` is its caller: the guard of the application sets it.
Asking = Request[Identity, Any, Any]

"""Identities of callers: by tokens of users, or as asserted by trusted callers, which send one token or are local."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from functools import lru_cache
from typing import Any, Final

from litestar import Request
from litestar.connection import ASGIConnection
from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.site.api.problems import RequestRefusedError, refuse
from batsched_py.site.users import LOCAL, LONGEST_NAME, OPERATOR, UNLIMITED, SiteUser, SiteUsers, UserQuotas

#: Headers in which a trusted caller names the user and the group of a request.
USER_HEADER: Final = "x-bonfire-asserted-id"
GROUP_HEADER: Final = "x-bonfire-asserted-selected-group"
#: The header with which a caller that names no user requests experiments as the operator.
OPERATOR_HEADER: Final = "x-batsched-py-operator"
#: Its only value.
_YES: Final = "true"
_ASSERTED: Final = frozenset({USER_HEADER, GROUP_HEADER, OPERATOR_HEADER})
#: Methods of calls that change nothing.
SAFE_METHODS: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LOOPBACK_NAMES: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Identity(Struct, frozen=True):
    """The caller of a request.

    Attributes:
        user: the name of the user.
        group: the group of the user; "" for none.
        asserted: True if the caller named the user, in a header or by a token.
        operator: True if the caller may read and cancel what belongs to others, and control the site.
        quotas: those of the user in the file of users.
        group_quotas: those of the group.
    """

    user: str
    group: str
    asserted: bool
    operator: bool = False
    quotas: UserQuotas = UNLIMITED
    group_quotas: UserQuotas = UNLIMITED

    def may_read(self, user: str, group: str) -> bool:
        """Return whether the caller may read the requests of a user in a group.

        These are its own and those of its group; for an operator, all.
        """
        return self.operator or self.user == user or (self.group != "" and self.group == group)

    def may_change(self, user: str) -> bool:
        """Return whether the caller may cancel or change the requests of a user: its own; for an operator, all."""
        return self.operator or self.user == user


def writes(connection: ASGIConnection[Any, Any, Any, Any]) -> bool:
    """Return whether a request may change something."""
    return connection.scope.get("method") not in SAFE_METHODS


class Doorkeeper:
    """The check of access: by a user's token, by the token of the site, or from the machine itself.

    Args:
        token: callers must send it; "" if only the machine itself can reach the site.
        users: callers must send the token of one of them instead; None if there are none.
    """

    def __init__(self, token: str, users: SiteUsers | None = None) -> None:
        self._token, self._users = token.encode(), users

    def check(self, connection: ASGIConnection[Any, Any, Any, Any]) -> SiteUser | None:
        """Return the user whose token the caller sends, None without users; RequestRefusedError without access."""
        if self._users is not None:
            return _find_user(connection, self._users)
        if self._token:
            if not hmac.compare_digest(_token_of(connection).encode(), self._token):
                raise _unknown("the site's token")
        else:
            self._check_local(connection)
            if writes(connection):
                _check_origin(connection)
        return None

    def group_quotas(self, group: str) -> UserQuotas:
        """Return the quotas of a group."""
        return UNLIMITED if self._users is None or not group else self._users.group_quotas(group)

    @staticmethod
    def _check_local(connection: ASGIConnection[Any, Any, Any, Any]) -> None:
        """Refuse other machines, and host names of other sites that resolve to this machine (DNS rebinding)."""
        client = connection.client
        if client is None or not _is_loopback(client.host):
            raise refuse(403, "a site without a token answers only this machine")
        name = connection.headers.get("host", "").lower()
        if name.rpartition(":")[0] not in _LOOPBACK_NAMES and name not in _LOOPBACK_NAMES:
            raise refuse(403, "must be addressed as localhost or 127.0.0.1", "Host")


def _token_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the token that a caller sends; "" for none, and for two."""
    sent = connection.headers.getall("authorization", [])
    scheme, _, token = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return token.strip() if scheme.lower() == "bearer" else ""


def _find_user(connection: ASGIConnection[Any, Any, Any, Any], users: SiteUsers) -> SiteUser:
    """Return the user whose token the caller sends. RequestRefusedError."""
    try:
        users.refresh()
    except OptionError as error:
        asyncio.get_running_loop().call_exception_handler({"message": str(error)})  # a line of the site's log
        raise refuse(503, "the site cannot read its users: its log says why") from None
    user = users.find(_token_of(connection))
    if user is None:
        raise _unknown("your token")
    return user


def _unknown(token: str) -> RequestRefusedError:
    return refuse(401, f"must send {token}: Authorization: Bearer TOKEN", **{"WWW-Authenticate": "Bearer"})


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


def who_asks(request: ASGIConnection[Any, Any, Any, Any], known: SiteUser | None = None) -> Identity:
    """Return the identity of an admitted request: that of a known user, or the one that its headers assert.

    RequestRefusedError if headers are malformed, or contradict the token of a known user.
    """
    for name in request.headers:
        if "_" in name and (meant := name.replace("_", "-")) in _ASSERTED:  # CGI and WSGI confuse both spellings
            raise refuse(400, f"must be spelled {meant}", name)
    user, group = _name(request, USER_HEADER), _name(request, GROUP_HEADER)
    if user == LOCAL:
        raise refuse(400, f"must not be {LOCAL}, which is the operator", USER_HEADER)
    if not user and USER_HEADER in request.headers:
        raise refuse(400, "must not be empty: only the operator names no user, and sends no such header", USER_HEADER)
    if request.headers.getall(OPERATOR_HEADER, [_YES]) != [_YES]:
        raise refuse(400, f"must be {_YES}, and be sent once", OPERATOR_HEADER)
    if known is not None:
        return _identity_of(known, user, group)
    return Identity(user or LOCAL, group, asserted=bool(user), operator=not user)


def _identity_of(known: SiteUser, user: str, group: str) -> Identity:
    """Return the identity of a known user; RequestRefusedError if headers name another user or group."""
    for header, named, own in ((USER_HEADER, user, known.name), (GROUP_HEADER, group, known.group)):
        if named and named != own:
            raise refuse(403, "must be omitted, or agree with your token", header)
    return Identity(known.name, known.group, asserted=True, operator=known.role == OPERATOR, quotas=known.quotas)


def check_operator(request: Request[Identity, Any, Any]) -> None:
    """Raise RequestRefusedError unless the caller of an admitted request is an operator."""
    if not request.user.operator:
        raise refuse(403, "only an operator may do this")


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

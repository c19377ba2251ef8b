"""Numbers by who may see them."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.site.api.identity import Identity
from batsched_py.site.api.request_counts import OwnedRequests


class Request(Struct, frozen=True):
    """A request of a user and a group."""

    user: str
    group: str = ""


def test_users_see_their_own_and_those_of_their_group() -> None:
    """In ascending order, each once."""
    owned = OwnedRequests()
    requests = [Request("ann", "red"), Request("bob"), Request("bob", "red"), Request("ann"), Request("cid", "blue")]
    for number, request in enumerate(requests, 1):
        owned.add(number, request)
    assert list(owned.of(Identity("ann", "", asserted=True))) == [1, 4]
    assert list(owned.of(Identity("ann", "red", asserted=True))) == [1, 3, 4]
    assert list(owned.of(Identity("dan", "blue", asserted=True))) == [5]
    assert list(owned.of(Identity("dan", "", asserted=True))) == []


def test_what_is_taken_out_is_not_seen() -> None:
    """It may have been there or not."""
    owned, request, who = OwnedRequests(), Request("ann", "red"), Identity("bob", "red", asserted=True)
    owned.add(1, request)
    owned.add(2, request)
    owned.discard(1, request)
    owned.discard(1, request)
    assert list(owned.of(who)) == [2]

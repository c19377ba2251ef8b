"""Enactor, tokens and resources: the cases LA-20 to LA-28 and LA-64 to LA-80 of Legion, and what must always hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.collection.alternatives import ObjectPlacement, Schedule, vary
from batsched_py.collection.codes import Code
from batsched_py.collection.collection import Collection
from batsched_py.collection.enactor import Enactor, Keep, Negotiation
from batsched_py.collection.proposals import propose
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.tokens import Request, ReservationType, Token

O1_A_O2_B: Schedule = (ObjectPlacement("o1", "A"), ObjectPlacement("o2", "B"))
TERMS = Request("me", 0, 100)


class Refuses:
    """A rule that is against everything, or against starts only."""

    def __init__(self, starts: bool = False) -> None:
        self._starts = starts

    def refuses(self, request: Request, now: float, *, held: int, starts: bool) -> bool:
        """Return whether it is against a request."""
        del request, now, held
        return starts is self._starts


class Site:
    """Resources A to D, VA and VB, some of which refuse, and an enactor."""

    def __init__(self, *refusing: str, keep: Keep = "any", starts: Sequence[str] = ()) -> None:
        self.resources = {name: CollectionResource(name) for name in ("A", "B", "C", "D", "VA", "VB")}
        for name in refusing:
            self.resources[name] = CollectionResource(name, policies=(Refuses(),))
        for name in starts:
            self.resources[name] = CollectionResource(name, policies=(Refuses(starts=True),))
        self.enactor = Enactor(self._find, keep)

    def _find(self, name: str) -> CollectionResource | None:
        return self.resources.get(name)

    def negotiate(self, schedules: Sequence[Schedule], request: Request = TERMS) -> Negotiation:
        """Begin with these alternatives."""
        return self.enactor.negotiate(schedules, request)

    def alive(self, now: float = 0.0) -> list[str]:
        """Return the resources with tokens."""
        return [name for name, one in self.resources.items() for _ in one.tokens(now)]


def codes(answer: dict[str, Any]) -> list[list[str]]:
    """The codes of all placements, by schedules."""
    return [[placement["code"] for placement in schedule["placements"]] for schedule in answer["schedules"]]


def test_la_20_all_grant() -> None:
    """LA-20: two tokens, two requests."""
    site = Site()
    talk = site.negotiate([O1_A_O2_B])
    assert talk.reserve(0)
    answer = talk.answer()
    assert (answer["success"], answer["requests"], answer["releases"]) == (0, 2, 0)
    assert answer["schedules"][0] == {
        "code": "granted",
        "placements": [
            {"object": "o1", "host": "A", "vault": None, "code": "granted", "token": "A/1"},
            {"object": "o2", "host": "B", "vault": None, "code": "granted", "token": "B/1"},
        ],
    }
    assert site.alive() == ["A", "B"]


def test_la_21_what_the_next_schedule_needs_is_kept() -> None:
    """LA-21: requests A, B, C; no release of A."""
    site = Site("B")
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o2", "C")])])
    assert talk.reserve(0)
    answer = talk.answer()
    assert (answer["success"], answer["requests"], answer["releases"]) == (1, 3, 0)
    assert codes(answer) == [["granted", "refused-by-policy"], ["granted", "granted"]]
    assert site.alive() == ["A", "C"]


def test_la_22_a_refusal_is_remembered() -> None:
    """LA-22: requests A and B; D is not asked; A is given back once."""
    site = Site("B")
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o1", "D")])])
    assert not talk.reserve(0)
    answer = talk.answer()
    assert (answer["success"], answer["requests"], answer["releases"]) == (None, 2, 1)
    assert codes(answer) == [["granted", "refused-by-policy"], ["not-asked", "refused-by-policy"]]
    assert site.alive() == []


def test_la_23_none_left() -> None:
    """LA-23: three requests, one release, no token alive."""
    site = Site("B", "C")
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o2", "C")])])
    assert not talk.reserve(0)
    answer = talk.answer()
    assert (answer["requests"], answer["releases"]) == (3, 1)
    assert codes(answer) == [["granted", "refused-by-policy"], ["granted", "refused-by-policy"]]
    assert site.alive() == []


def test_la_22_and_23_who_is_taken_has_no_capacity() -> None:
    """LA-22 and LA-23: the codes of the specification: B, and then C, have been reserved by somebody else."""
    for change, code, requests in (
        (ObjectPlacement("o1", "D"), ["not-asked", "no-capacity"], 2),
        (ObjectPlacement("o2", "C"), ["granted", "no-capacity"], 3),
    ):
        site = Site()
        for name in ("B", "C"):
            granted(site.resources[name], TERMS._replace(holder="other"))
        talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [change])])
        assert not talk.reserve(0)
        answer = talk.answer()
        assert (answer["success"], answer["requests"], answer["releases"]) == (None, requests, 1)
        assert codes(answer) == [["granted", "no-capacity"], code]
        assert [schedule["code"] for schedule in answer["schedules"]] == ["no-capacity", "no-capacity"]
        assert site.alive() == ["B", "C"]


def test_l41_what_is_lost_is_reported() -> None:
    """Placements of resources that failed, once; nobody else is granted these until the objects have ended."""
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "A", "VA"), ObjectPlacement("o2", "B"))])
    assert talk.reserve(0)
    assert talk.start(0)
    assert talk.lose(["C"]) == []
    (lost,) = talk.lose(["A", "VA"])
    assert (lost.placement.object, lost.code, lost.refused_by) == ("o1", Code.CANCELLED, "A")
    assert talk.lose(["A"]) == []
    assert site.resources["A"].request(TERMS._replace(start=10, holder="you"), 10) is Code.NO_CAPACITY
    assert talk.end(20) == ["A", "VA", "B"]
    assert site.alive(20) == []
    granted(site.resources["A"], TERMS._replace(start=20, holder="you"), 20)


@pytest.mark.parametrize(("keep", "requests", "releases"), [("any", 4, 0), ("next", 5, 1), ("none", 5, 1)])
def test_keeping_is_an_option(keep: Keep, requests: int, releases: int) -> None:
    """L32: for any later alternative, for the next one, or not at all. The third needs A, the second does not."""
    site = Site("B", "VA", keep=keep)
    talk = site.negotiate(
        [O1_A_O2_B, (ObjectPlacement("o1", "VA"),), (ObjectPlacement("o1", "A"), ObjectPlacement("o2", "C"))]
    )
    assert talk.reserve(0)
    answer = talk.answer()
    assert (answer["requests"], answer["releases"]) == (requests, releases)
    assert site.alive() == ["A", "C"]


def test_la_24_a_token_that_was_used_too_late_has_expired() -> None:
    """LA-24: A is kept, B has expired, C is asked: three requests, no release."""
    site = Site()
    site.resources["B"] = Hasty("B", 30)
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o2", "C")])])
    assert talk.reserve(0)
    assert talk.approve(31)
    answer = talk.answer()
    assert (answer["success"], answer["requests"], answer["releases"]) == (1, 3, 0)
    assert codes(answer) == [["granted", "expired"], ["granted", "granted"]]
    assert talk.start(31)


class Hasty(CollectionResource):
    """A host that gives a time-out of its own."""

    def __init__(self, name: str, time_out: float) -> None:
        super().__init__(name)
        self._time_out = time_out

    def request(self, request: Request, now: float) -> Token | Code:
        """Grant for a short time."""
        return super().request(request._replace(time_out=self._time_out), now)


def granted(resource: CollectionResource, request: Request, now: float = 0.0) -> Token:
    """A token, which must be granted."""
    token = resource.request(request, now)
    assert isinstance(token, Token)
    return token


def test_la_25_a_one_shot_token_is_used_once() -> None:
    """LA-25: a reusable one as often as its holder likes."""
    host = CollectionResource("A", capacity=2)
    once = granted(host, TERMS._replace(type=ReservationType.ONE_SHOT_TIME))
    often = granted(host, TERMS._replace(type=ReservationType.REUSABLE_TIME))
    assert [host.start(once, "me", 1), host.start(once, "me", 2)] == [Code.GRANTED, Code.BAD_TOKEN]
    assert [host.start(often, "me", 1), host.start(often, "me", 2)] == [Code.GRANTED, Code.GRANTED]


def test_la_26_an_exclusive_reservation_shuts_others_out() -> None:
    """LA-26: for its block."""
    host = CollectionResource("A")
    granted(host, TERMS)
    shared = TERMS._replace(type=ReservationType.ONE_SHOT_TIME)
    assert host.request(shared._replace(start=50, end=60), 0) is Code.NO_CAPACITY
    granted(host, shared._replace(start=100, end=110))


def test_la_28_a_vault_that_refuses_frees_its_host() -> None:
    """LA-28: unless the next schedule keeps it."""
    site = Site("VA")
    one: Schedule = (ObjectPlacement("o1", "A", "VA"),)
    talk = site.negotiate([one])
    assert not talk.reserve(0)
    assert (talk.answer()["requests"], talk.answer()["releases"]) == (2, 1)
    assert site.alive() == []
    talk = site.negotiate([one, vary(one, [ObjectPlacement("o1", "A", "VB")])])
    assert talk.reserve(0)
    assert (talk.answer()["requests"], talk.answer()["releases"]) == (3, 0)
    assert site.alive() == ["A", "VB"]


def test_la_64_the_first_refusal_ends_an_alternative() -> None:
    """LA-64: requests A, C, B: tokens of C and B."""
    site = Site("A")
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o1", "C")])])
    assert talk.reserve(0)
    assert talk.answer()["requests"] == 3
    assert codes(talk.answer()) == [["refused-by-policy", "not-asked"], ["granted", "granted"]]
    assert site.alive() == ["B", "C"]


def test_la_65_a_vault_is_asked_where_one_is_named() -> None:
    """LA-65: two requests and two tokens; one without."""
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "A", "VA"),)])
    assert talk.reserve(0)
    assert (talk.answer()["requests"], site.alive()) == (2, ["A", "VA"])
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "A"),)])
    assert talk.reserve(0)
    assert (talk.answer()["requests"], site.alive()) == (1, ["A"])


def test_la_69_another_list_may_need_what_the_first_one_held() -> None:
    """LA-69: A is not asked again."""
    site = Site("B")
    talk = site.negotiate([O1_A_O2_B])
    assert not talk.reserve(0, more_to_come=True)
    assert site.alive() == ["A"]
    talk.continue_with([(ObjectPlacement("o1", "A"), ObjectPlacement("o2", "C"))])
    assert talk.reserve(0)
    assert (talk.answer()["success"], talk.answer()["requests"], talk.answer()["releases"]) == (1, 3, 0)


def test_la_70_what_is_declined_goes_back() -> None:
    """LA-70: two releases, nothing started."""
    site = Site()
    talk = site.negotiate([O1_A_O2_B])
    assert talk.reserve(0)
    talk.decline()
    assert talk.answer()["releases"] == 2
    assert codes(talk.answer()) == [["declined", "declined"]]
    assert site.alive() == []


def test_la_71_what_is_approved_too_late_has_expired() -> None:
    """LA-71: and the next alternative is tried."""
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "A"),), (ObjectPlacement("o1", "C"),)], TERMS._replace(time_out=30))
    assert talk.reserve(0)
    assert talk.approve(40)
    assert codes(talk.answer()) == [["expired"], ["granted"]]


def test_la_72_what_a_resource_takes_back_is_replaced() -> None:
    """LA-72: three requests, A kept."""
    site = Site()
    talk = site.negotiate([O1_A_O2_B, vary(O1_A_O2_B, [ObjectPlacement("o2", "C")])])
    assert talk.reserve(0)
    token = talk.granted[1].token
    assert token is not None
    assert site.resources["B"].cancel(token)
    assert talk.approve(5)
    assert talk.answer()["requests"] == 3
    assert codes(talk.answer()) == [["granted", "cancelled"], ["granted", "granted"]]


def test_la_37_a_class_may_refuse() -> None:
    """LA-37: at the creation of its object."""
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "A"),), (ObjectPlacement("o1", "C"),)])
    assert talk.reserve(0)
    assert talk.approve(0, lambda placement: placement.host != "A")
    assert codes(talk.answer()) == [["refused-by-class"], ["granted"]]
    assert site.alive() == ["C"]


def test_a_start_that_is_refused_leads_to_the_next_alternative() -> None:
    """Objects that had been started there are stopped."""
    site = Site(starts=["B"])
    talk = site.negotiate([O1_A_O2_B, (ObjectPlacement("o1", "C"), ObjectPlacement("o2", "D"))])
    assert talk.reserve(0)
    assert talk.approve(0)
    assert talk.start(0)
    assert talk.position == 1
    assert codes(talk.answer()) == [["granted", "start-refused"], ["granted", "granted"]]
    assert site.alive() == ["C", "D"]


def test_la_75_the_time_out_is_exclusive() -> None:
    """LA-75: created at 100 with 30: good at 129.9, expired at 130."""
    for now, code in ((129.9, Code.GRANTED), (130, Code.EXPIRED)):
        host = CollectionResource("A")
        token = granted(host, Request("me", 100, 500, time_out=30), 100)
        assert host.start(token, "me", now) is code


def test_la_76_a_token_is_bound_to_its_resource_and_holder() -> None:
    """LA-76: and cannot be forged."""
    one, other = CollectionResource("A"), CollectionResource("B")
    token = granted(one, TERMS)
    granted(other, TERMS)
    assert other.start(token, "me", 0) is Code.BAD_TOKEN
    assert one.start(token, "you", 0) is Code.BAD_TOKEN
    assert one.start(token._replace(request=TERMS._replace(holder="you")), "you", 0) is Code.BAD_TOKEN
    assert one.start(token._replace(id=7), "me", 0) is Code.BAD_TOKEN
    assert one.start(token, "me", 0) is Code.GRANTED


def test_la_77_a_block_has_a_beginning() -> None:
    """LA-77: presented at 49 for [50, 60)."""
    host = CollectionResource("A")
    token = granted(host, Request("me", 50, 60))
    assert host.start(token, "me", 49) is Code.TOO_EARLY
    assert host.start(token, "me", 50) is Code.GRANTED


def test_la_78_shares_add_up() -> None:
    """LA-78: 2 and 2 of 4 CPUs; a third one finds none."""
    host = CollectionResource("A", capacity=4)
    shared = TERMS._replace(type=ReservationType.ONE_SHOT_TIME, amount=2)
    granted(host, shared)
    granted(host, shared)
    assert host.request(shared._replace(amount=1), 0) is Code.NO_CAPACITY
    assert host.free(0, 100) == 0
    assert host.free(100, 200) == 4


def test_la_79_who_shares_shuts_exclusive_ones_out() -> None:
    """LA-79: where they overlap."""
    host = CollectionResource("A", capacity=4)
    granted(host, TERMS._replace(type=ReservationType.REUSABLE_TIME))
    assert host.request(TERMS._replace(start=99, end=200), 0) is Code.NO_CAPACITY


def test_la_80_a_block_has_an_end_or_that_of_its_object() -> None:
    """LA-80: a reusable one lasts; a one-shot one is over when its object is."""
    host = CollectionResource("A")
    token = granted(host, TERMS._replace(type=ReservationType.REUSABLE_SPACE))
    assert [host.start(token, "me", now) for now in (10, 50, 100)] == [Code.GRANTED, Code.GRANTED, Code.EXPIRED]
    host = CollectionResource("A")
    token = granted(host, TERMS)
    assert host.start(token, "me", 10) is Code.GRANTED
    host.finish(token, 20)
    granted(host, TERMS._replace(start=20, holder="you"), 20)


def test_an_object_that_should_have_ended_holds_its_host() -> None:
    """Nobody else is granted now what it has; who was granted a later time may not start. When it ends, it is free."""
    host = CollectionResource("A", capacity=4)
    late = granted(host, TERMS)
    assert host.start(late, "me", 0) is Code.GRANTED
    next_one = granted(host, Request("you", 100, 200))
    assert host.start(next_one, "you", 100) is Code.START_REFUSED
    host.release(next_one)
    shared = Request("you", 110, 200, type=ReservationType.ONE_SHOT_TIME)
    assert host.request(shared, 110) is Code.NO_CAPACITY
    assert host.request(shared._replace(type=ReservationType.ONE_SHOT_SPACE), 110) is Code.NO_CAPACITY
    assert host.free(110, 120, 110) == 0
    host.finish(late, 111)
    assert host.start(granted(host, shared, 111), "you", 111) is Code.GRANTED
    assert host.free(111, 112, 111) == 3


def test_la_84_a_host_that_has_left_meanwhile_is_an_unknown_resource() -> None:
    """LA-84: a collection that polls still knows it; the next alternative is tried."""
    site = Site()
    child, parent = Collection(), Collection()
    for name in ("A", "B"):
        child.join(name)
    parent.poll(child, period=300)
    parent.refresh(0)
    child.leave("A")
    del site.resources["A"]
    names = parent.names(now=299)
    assert names == ["A", "B"]
    talk = site.negotiate(propose(["o1"], names, 2))
    assert talk.reserve(299)
    assert codes(talk.answer()) == [["unknown-resource"], ["granted"]]
    assert propose(["o1"], parent.names(now=300), 2) == [(ObjectPlacement("o1", "B"),)]


def test_an_unknown_resource_is_an_answer() -> None:
    """Like any other."""
    site = Site()
    talk = site.negotiate([(ObjectPlacement("o1", "X"),)])
    assert not talk.reserve(0)
    assert codes(talk.answer()) == [["unknown-resource"]]


@given(st.data())
def test_whatever_happens_each_grant_is_used_released_or_expired(data: st.DataObject) -> None:
    """In several negotiations at a time nothing overlaps an exclusive reservation, and no token outlives its end."""
    names = ["A", "B", "C"]
    site = Site(keep=data.draw(st.sampled_from(["any", "next", "none"])))
    now = 0.0
    talks: list[Negotiation] = []
    for number in range(data.draw(st.integers(1, 6))):
        now += data.draw(st.integers(0, 20))
        start = now + data.draw(st.integers(0, 30))
        request = Request(f"holder {number}", start, start + data.draw(st.integers(1, 40)), time_out=25)
        request = request._replace(type=data.draw(st.sampled_from(list(ReservationType))))
        schedules: list[Schedule] = [
            tuple(ObjectPlacement(f"o{at}", name) for at, name in enumerate(hosts))
            for hosts in data.draw(st.lists(st.lists(st.sampled_from(names), min_size=1, max_size=3), max_size=4))
        ]
        talk = site.negotiate(schedules, request)
        talk.reserve(now)
        talks.append(talk)
        action = data.draw(st.sampled_from(["nothing", "decline", "approve", "start", "cancel"]))
        if action == "decline":
            talk.decline()
        elif action in ("approve", "start"):
            now += data.draw(st.integers(0, 40))
            if talk.approve(now) and action == "start":
                talk.start(now)
        elif action == "cancel" and talk.granted and talk.granted[0].token is not None:
            site.resources[talk.granted[0].token.resource].cancel(talk.granted[0].token)
        for resource in site.resources.values():
            tokens = resource.tokens(now)
            for token in tokens:
                assert now < token.request.end or token.request.end > token.request.start
                overlapping = [
                    other
                    for other in tokens
                    if other is not token
                    and other.request.start < token.request.end
                    and token.request.start < other.request.end
                ]
                assert not token.request.type.exclusive or not overlapping
                assert sum(one.request.amount for one in overlapping) + token.request.amount <= resource.capacity
            held = {token for one in talks for answer in one.granted for token in (answer.token,) if token}
            assert set(tokens) <= held, "a token that nobody holds"
    assert site.alive(now + 1000) == [
        name for name, one in site.resources.items() for granted in one._granted.values() if granted.running
    ]


@given(st.data())
@settings(derandomize=True, max_examples=60, deadline=None)
def test_two_enactors_never_share_an_exclusive_host(data: st.DataObject) -> None:
    """Each with requests of its own for the same hosts: blocks that were granted for the whole host lie apart."""
    site = Site()
    enactors = [Enactor(site.resources.get), Enactor(site.resources.get, "none")]
    names = st.sampled_from(["A", "B", "C"])
    kinds = st.sampled_from(list(ReservationType))
    for number in range(data.draw(st.integers(2, 8))):
        start = data.draw(st.integers(0, 60))
        request = Request(f"holder {number}", start, start + data.draw(st.integers(1, 30)), data.draw(kinds))
        schedules: list[Schedule] = [
            tuple(ObjectPlacement(f"o{at}", name) for at, name in enumerate(hosts))
            for hosts in data.draw(st.lists(st.lists(names, min_size=1, max_size=3), min_size=1, max_size=3))
        ]
        talk = enactors[number % 2].negotiate(schedules, request)
        if talk.reserve(0) and data.draw(st.booleans()):
            talk.start(start)
    for resource in site.resources.values():
        tokens = [granted.token for granted in resource._granted.values()]
        for token, other in combinations(tokens, 2):
            if token.request.type.exclusive or other.request.type.exclusive:
                assert token.request.end <= other.request.start or other.request.end <= token.request.start

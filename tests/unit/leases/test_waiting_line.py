"""Waiting leases, and the quick test of which of them may start."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.leases.capacity import Amounts
from batsched_py.leases.lease import Lease
from batsched_py.leases.mapping import GreedyMapper, RoomNeed
from batsched_py.leases.observer import Observer
from batsched_py.leases.waiting_line import WaitingLine
from tests.drawing import drawn
from tests.ha_cases import HaCase, driver
from tests.lease_driver import lease, play
from tests.lease_workloads import WITH_IMAGES, WITHOUT_IMAGES
from tests.thoroughness import thorough

SMALL: Amounts = (50.0, 512.0)
LARGE: Amounts = (100.0, 1024.0)
NEEDS = st.none() | st.builds(RoomNeed, st.sampled_from([SMALL, LARGE]), st.integers(0, 15), st.integers(1, 4))


class Tries(Observer):
    """A log that must have each try."""

    def tried(self, lease: Lease, now: float) -> None:
        """Read it only."""


@settings(max_examples=thorough(60))
@given(st.lists(NEEDS), st.integers(0, 15), st.integers(0, 15), st.data())
def test_the_leases_that_may_start_are_those_with_enough_hosts(
    needs: list[RoomNeed | None], small: int, large: int, data: st.DataObject
) -> None:
    """Also after some were removed; a lease without a quick test always may."""
    leases = [lease(number, 0, 1, 60) for number in range(len(needs))]
    known = dict(zip(leases, needs, strict=True))
    line = WaitingLine(known.__getitem__)
    for one in leases:
        line.insert(len(line.leases), one)
    for one in data.draw(st.lists(st.sampled_from(leases), unique=True)) if leases else []:
        assert line.remove(one)
        assert not line.remove(one)
    line.check()
    room = {SMALL: small, LARGE: large}
    found = [known[one] for one in line.leases]
    begin = data.draw(st.integers(0, len(found)))
    assert line.promising(begin, room.__getitem__) == [
        place
        for place, need in enumerate(found)
        if place >= begin and (need is None or (need.hosts & room[need.demand]).bit_count() >= need.least)
    ]


@pytest.mark.parametrize("workloads", [WITHOUT_IMAGES, WITH_IMAGES], ids=["plain", "images"])
def test_leases_that_are_not_tried_would_not_have_started(workloads: st.SearchStrategy[HaCase]) -> None:
    """With a log that has each try, all are tried one by one: the outcome is the same."""
    for case in drawn(workloads, 60):
        quick, slow = (driver(case, observer).run(until=1e7) for observer in (Observer(), Tries()))
        assert [one.history for one in quick.leases] == [one.history for one in slow.leases]


def test_a_long_queue_is_not_asked_lease_by_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a thousand instants asks the mapper a few times, although hundreds of leases wait."""
    asked = list[object]()
    possible = GreedyMapper.possible

    def counted(self: GreedyMapper, *args: object, **named: object) -> object:
        asked.append(None)
        return possible(self, *args, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(GreedyMapper, "possible", counted)
    # One of four hosts is always free, which each of the waiting leases is too large for.
    played = play([lease(number, number, 3, 1000.0) for number in range(1, 301)])
    assert played.instants > 500
    assert len(asked) < 5 * played.instants

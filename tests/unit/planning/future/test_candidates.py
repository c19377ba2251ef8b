"""Candidates: who may come sooner when something is freed."""

from __future__ import annotations

import math

from batsched_py.model.job import Job
from batsched_py.planning.future.candidates import Candidates
from batsched_py.planning.future.count_slots import CountSlots
from batsched_py.planning.future.promise_book import Entry
from batsched_py.planning.future.promises import Claim

#: Of what is no candidate.
NOWHERE = (math.inf, -math.inf, math.inf)


def enter(candidates: Candidates, start: float, duration: float, size: int) -> Entry[Claim]:
    job = Job.create(f"w0!{start:g}", size=size, profile="p", walltime=duration)
    promise = Claim(start, start + duration, size)
    entry = Entry(job, promise, duration)
    candidates.enter(entry, promise)
    return entry


def searched(entry: Entry[Claim]) -> tuple[float, float, float]:
    """Return where an earlier start is looked for: since, until, near."""
    return entry.since, entry.until, entry.near


def test_slots_that_are_new_make_all_of_them_candidates() -> None:
    """Nobody has searched these slots; later only what is freed makes candidates."""
    candidates, slots = Candidates(), CountSlots([(0.0, 1), (10.0, 4)])
    entry = enter(candidates, 10.0, 5.0, 2)
    candidates.look(slots)
    assert entry.near == -math.inf
    entry.near = math.inf
    candidates.look(slots)
    assert entry.near == math.inf
    slots.give(0.0, 10.0, 1)
    candidates.look(slots)
    assert entry.near == 0.0


def test_what_is_taken_back_at_once_makes_no_candidates() -> None:
    """A job that starts gives its promise back, and takes the same hosts for the same time."""
    slots = CountSlots([(0.0, 1), (10.0, 4)])
    slots.freed = []
    slots.give(0.0, 20.0, 3)
    slots.give(0.0, 20.0, -3)
    assert slots.freed == []
    slots.give(0.0, 20.0, 3)
    slots.give(0.0, 20.0, -2)
    assert slots.freed == [(0.0, 20.0, 3)]


def test_one_that_begins_just_behind_may_begin_sooner() -> None:
    """From the beginning of the slots that have room for it; not one that is too large, or begins later or before."""
    candidates, slots = Candidates(), CountSlots([(0.0, 0), (4.0, 2), (10.0, 3), (20.0, 0), (90.0, 4)])
    fits, large, before, later = (enter(candidates, *each, 50.0, 2) for each in ((20.0,), (20.5,), (10.0,), (40.0,)))
    large.size = 4
    candidates.note(slots, 10.0, 21.0, 4)
    assert [entry.near for entry in (fits, large, before, later)] == [4.0, math.inf, math.inf, math.inf]


def test_one_that_begins_later_may_fit_into_the_window() -> None:
    """If it is short enough for what is free now around what was freed, and too long for what was free before."""
    candidates, slots = Candidates(), CountSlots([(0.0, 0), (4.0, 1), (10.0, 2), (20.0, 0), (90.0, 4)])
    fits, long, narrow, short = (
        enter(candidates, 40.0 + number, duration, size)
        for number, (duration, size) in enumerate(((16.0, 1), (16.5, 1), (12.0, 2), (5.5, 1)))
    )
    candidates.note(slots, 10.0, 20.0, 4)
    assert [searched(entry) for entry in (fits, long, narrow, short)] == [(4.0, 20.0, 40.0), NOWHERE, NOWHERE, NOWHERE]
    candidates.note(slots, 4.0, 20.0, 4)
    assert searched(short) == (4.0, 20.0, 43.0)


def test_one_that_fits_into_what_was_free_before_is_none_unless_it_is_one_already() -> None:
    """Somebody who is served before it may take the window that it could have used."""
    candidates, slots = Candidates(), CountSlots([(0.0, 0), (4.0, 1), (10.0, 2), (20.0, 0), (90.0, 4)])
    pending, other = enter(candidates, 40.0, 5.5, 1), enter(candidates, 41.0, 5.5, 1)
    pending.since, pending.until, pending.near = 4.0, 10.0, 40.0
    candidates.note(slots, 10.0, 20.0, 4)
    assert (searched(pending), searched(other)) == ((4.0, 20.0, 40.0), NOWHERE)


def test_where_it_is_free_for_ever_the_search_of_others_is_widened() -> None:
    """Jobs that may come sooner anyway may find the freed hosts divided when their turn comes."""
    candidates, slots = Candidates(), CountSlots([(0.0, 0), (4.0, 2), (10.0, 3)])
    pending, other = enter(candidates, 40.0, 5.0, 2), enter(candidates, 41.0, 5.0, 2)
    pending.near = 30.0
    candidates.note(slots, 4.0, 20.0, 4)
    assert (searched(pending), searched(other)) == ((4.0, 20.0, 30.0), NOWHERE)


def test_one_that_had_room_enough_before_is_none() -> None:
    """Neither where it begins just behind nor where it begins later: the windows that it fits into are the same."""
    candidates, slots = Candidates(), CountSlots([(0.0, 0), (4.0, 3), (10.0, 4), (20.0, 0), (90.0, 4)])
    small, large, late_small, late_large = (
        enter(candidates, start, 5.0, size) for start, size in ((20.0, 1), (20.0, 3), (40.0, 1), (41.0, 3))
    )
    candidates.note(slots, 4.0, 20.0, 1)
    assert [entry.near for entry in (small, large, late_small, late_large)] == [math.inf, 4.0, math.inf, 41.0]
    assert searched(late_large) == (4.0, 20.0, 41.0)

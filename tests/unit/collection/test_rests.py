"""Rests: when a job is tried again that hosts have refused."""

from __future__ import annotations

import math

from batsched_py.collection.policies import AllowedHours
from batsched_py.collection.resources import CollectionResource
from batsched_py.collection.rests import LONGEST, Rests
from batsched_py.state.queue import Queue
from tests.unit.collection.jobs import a_job


def queue(*names: str) -> Queue:
    """Jobs that wait."""
    found = Queue()
    for name in names:
        found.add(a_job(name))
    return found


def test_each_rest_is_twice_as_long_as_the_one_before() -> None:
    """Up to a limit; instants are multiples of the pause."""
    rests, ends, now = Rests(10), [], 0.0
    for _ in range(9):
        rests.begin("w0!1", 1, now)
        now = rests.next_due
        ends.append(now)
        assert rests.expire(now, queue("1"))
        assert rests.is_over("w0!1", 1, now)
    assert ends[:4] == [10, 30, 70, 150]
    assert ends[-1] - ends[-2] == 10 * LONGEST
    rests.leave("w0!1")
    rests.begin("w0!1", 1, 3)
    assert rests.next_due == 20


def test_a_rest_ends_with_a_change_or_in_time() -> None:
    """A job that does not rest may be tried at once."""
    rests = Rests(10)
    rests.begin("w0!1", 5, 0)
    assert rests.is_over("w0!2", 0, 0)
    assert not rests.is_over("w0!1", 5, 9.9)
    assert rests.is_over("w0!1", 6, 0)
    assert rests.is_over("w0!1", 5, 10)
    rests.begin("w0!1", 5, 0, opens=4)
    assert rests.is_over("w0!1", 5, 4)


def test_nobody_is_waited_for_who_has_left() -> None:
    """Nor for the end of a rest that another one has replaced."""
    rests = Rests(10)
    rests.begin("w0!1", 0, 0)
    rests.begin("w0!2", 0, 0)
    rests.begin("w0!2", 0, 0)
    assert not rests.expire(5, queue("2"))
    assert (rests.next_due, len(rests)) == (20, 1)
    assert not rests.expire(15, queue("2"))
    assert rests.next_due == 20
    assert not rests.expire(15, queue())
    assert (rests.next_due, len(rests)) == (math.inf, 0)


def test_hours_are_known() -> None:
    """They are of the current day, or the next one; other resources have none."""
    host = CollectionResource("A", policies=(AllowedHours(8, 18),))
    assert [host.opens(hours * 3600) / 3600 for hours in (0, 7.5, 8, 20, 31)] == [8, 8, 32, 32, 32]
    assert CollectionResource("A").opens(0) == math.inf

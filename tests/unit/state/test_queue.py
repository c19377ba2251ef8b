"""The queue of waiting jobs."""

from __future__ import annotations

import math
from random import Random
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.job import Job
from batsched_py.state.queue import LONG, PIECE_SIZE, Queue
from tests.builders import job


def test_jobs_stand_in_order_of_arrival_across_pieces() -> None:
    """More jobs than a piece holds keep their order."""
    queue = Queue()
    names = [str(number) for number in range(3 * PIECE_SIZE)]
    for name in names:
        queue.add(job(name))
    assert [waiting.name for waiting in queue] == names
    assert len(queue) == len(names)


def test_a_job_that_leaves_during_a_walk_is_not_visited() -> None:
    """Algorithms start jobs while they walk the queue."""
    queue = Queue()
    for name in "abc":
        queue.add(job(name))
    seen = []
    for waiting in queue:
        seen.append(waiting.name)
        if waiting.name == "a":
            queue.remove("w0!b")
    assert seen == ["a", "c"]


def test_a_job_that_does_not_wait_cannot_leave() -> None:
    """Removing a stranger is an error, not a shrug."""
    with pytest.raises(KeyError):
        Queue().remove("w0!1")


@pytest.mark.parametrize("long", [0, 10, LONG])
@given(
    st.lists(st.one_of(st.tuples(st.integers(1, 9), st.integers(1, 9)), st.just("leave")), max_size=4 * PIECE_SIZE),
    st.integers(0, 9),
    st.integers(0, 9),
    st.randoms(use_true_random=False),
)
def test_what_fits_is_the_queue_filtered(
    long: int, steps: list[tuple[int, int] | str], size: int, small: int, random: Random
) -> None:
    """By size and walltime, whatever came, left, and was asked before, in short queues and in long ones."""
    with patch("batsched_py.state.queue.LONG", long):
        check_what_fits(steps, size, small, random)


def check_what_fits(steps: list[tuple[int, int] | str], size: int, small: int, random: Random) -> None:
    queue = Queue()
    plain: list[Job] = []
    for number, step in enumerate(steps):
        if isinstance(step, tuple):
            new = job(str(number), size=step[0], walltime=step[1] if step[1] < 9 else None)
            queue.add(new)
            plain.append(new)
        elif plain:
            gone = plain.pop(random.randrange(len(plain)))
            assert queue.remove(gone.id) == gone
            assert queue.up_to(size) == [waiting for waiting in plain if waiting.size <= size]
    assert list(queue) == plain
    for length in range(10):
        assert queue.fitting(size, 100.0, 100.0 + length, small) == [
            waiting
            for waiting in plain
            if waiting.size <= size and (waiting.size <= small or (waiting.walltime or math.inf) <= length)
        ]
    assert queue.up_to(size) == [waiting for waiting in plain if waiting.size <= size]
    assert queue.first() == (plain[0] if plain else None)

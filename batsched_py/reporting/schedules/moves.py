"""Starts and ends of jobs in the order of time, for checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from batsched_py.results.records import JobRecord

#: The tolerance for overlaps of jobs on a host in seconds: a run is recorded with at least 1e-5 s, rounded.
TOUCHING: Final = 2e-5


class JobMove(NamedTuple):
    """The start or the end of a job; ends sort before starts at the same time."""

    time: float
    starts: bool
    place: int


def moves(ran: Iterable[JobRecord]) -> Iterator[JobMove]:
    """Yield the start and the end of each job that took time; overlaps within the resolution of times are none."""
    for place, record in enumerate(ran):
        end = record.finish - TOUCHING
        if end > record.start:
            yield JobMove(record.start, True, place)
            yield JobMove(end, False, place)

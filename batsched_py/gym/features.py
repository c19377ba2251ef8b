"""Features of waiting jobs, each a number from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.gym.question import Question
from batsched_py.planning.wait_time import wait_of

#: Seconds from which waits and walltimes are 1: half a day, as in RLScheduler.
LONG: Final = 43_200.0

#: Returns a number for each job in a question, in order; numbers are clipped to the range from 0 to 1.
Column = Callable[[Question], Sequence[float]]


class Feature(Struct, frozen=True):
    """A feature of jobs, for observations and explanations.

    Attributes:
        name: its name, for messages.
        column: function that returns its values.
    """

    name: str
    column: Column


def _wait(question: Question) -> Sequence[float]:
    now = question.view.now
    return [wait_of(job, now) / LONG for job in question.jobs]


def _requested_time(question: Question) -> Sequence[float]:
    return [math.inf if job.walltime is None else job.walltime / LONG for job in question.jobs]


def _requested_hosts(question: Question) -> Sequence[float]:
    hosts = question.host_count
    return [job.size / hosts for job in question.jobs]


def _fits_now(question: Question) -> Sequence[float]:
    free = len(question.free)
    return [job.size <= free for job in question.jobs]


def _free_hosts(question: Question) -> Sequence[float]:
    return [len(question.free) / question.host_count] * len(question.jobs)


def _shown(question: Question) -> Sequence[float]:
    return [1.0] * len(question.jobs)


#: Seconds since the submission, as a share of LONG.
WAIT: Final = Feature("wait", _wait)
#: The walltime, as a share of LONG; 1 without a walltime.
REQUESTED_TIME: Final = Feature("requested_time", _requested_time)
#: The size, as a share of all hosts.
REQUESTED_HOSTS: Final = Feature("requested_hosts", _requested_hosts)
#: 1 if enough hosts are free for the job.
FITS_NOW: Final = Feature("fits_now", _fits_now)
#: The share of free hosts, the same for all jobs.
FREE_HOSTS: Final = Feature("free_hosts", _free_hosts)
#: 1 for each job, to distinguish it from an empty row.
SHOWN: Final = Feature("shown", _shown)

#: Those features of RLScheduler that Batsim provides (Zhang et al., SC 2020).
RLSCHEDULER: Final = (WAIT, REQUESTED_TIME, REQUESTED_HOSTS, FITS_NOW)

"""The end of the warm-up of a run: how many of its first jobs find a machine that is emptier than usual.

MSER-5 of K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five steady-state truncation heuristics for
simulation", Winter Simulation Conference 2000, on the waits in the order of submission. Unlike Welch's method it needs
no picture that a user must judge, and unlike tests for a trend no level.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Final

from msgspec import Struct

from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.job_metrics import measure_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Observations of a batch.
_BATCH: Final = 5


class WarmUpEnd(Struct, frozen=True):
    """The end of the warm-up of one run.

    Attributes:
        begin: the submission time of the first job to measure, in seconds.
        jobs: how many jobs were submitted before; if the end was found in the run, without those that did not run.
        steady: False if the waits do not settle in the first half of the jobs, so that the end is not known.
    """

    begin: float
    jobs: int
    steady: bool


def after_jobs(name: str, submissions: Iterable[float], jobs: int) -> WarmUpEnd:
    """Return the end of a warm-up of so many jobs; those submitted at the same time as the next one are kept.

    `submissions` are the submission times of all jobs of the workload `name`. OptionError if it has no more jobs.
    """
    times = sorted(submissions)
    if len(times) <= jobs:
        raise OptionError(f"{displayed(name)} has {counted(len(times), 'job')}, and a warm-up of {jobs} is to be cut")
    begin = times[jobs] if jobs else 0.0
    return WarmUpEnd(begin, bisect_left(times, begin), steady=True)


def mser5(values: Sequence[float]) -> tuple[int, bool]:
    """Return how many of the first values to cut, a multiple of 5, and whether these are fewer than half of them.

    The number d of batches of 5 that minimises the squared standard error of the mean of the others, the sum of squares
    around this mean / (k - d)^2 for k batches; the smallest one, of those up to half of the batches. At the half the
    minimum may be later.
    """
    firsts = range(0, len(values) - _BATCH + 1, _BATCH)
    batches = [math.fsum(values[first : first + _BATCH]) / _BATCH for first in firsts]
    count = len(batches)
    if count < 2:
        return 0, True
    base = math.fsum(batches) / count  # of numbers near 0 squares lose no digits
    best, cut, total, squares = math.inf, 0, 0.0, 0.0
    for place in range(count - 1, -1, -1):
        value = batches[place] - base
        total, squares, left = total + value, squares + value * value, count - place
        error = max(squares - total * total / left, 0.0) / left**2
        if place <= count // 2 and error <= best:
            best, cut = error, place
    return cut * _BATCH, cut < count // 2


def find_warm_up(schedule: Schedule) -> WarmUpEnd:
    """Find the end of the warm-up of a run by MSER-5 on the waits of its jobs. WorkloadError for a deadline."""
    jobs = [(job.record.job.submit_time, job.wait) for job in measure_jobs(schedule)]
    times = sorted(((submitted, wait) for submitted, wait in jobs if wait is not None), key=itemgetter(0))
    cut, steady = mser5([wait for _, wait in times])
    if not cut:
        return WarmUpEnd(0.0, 0, steady)
    begin = times[cut][0]
    return WarmUpEnd(begin, sum(submitted < begin for submitted, _ in times), steady)

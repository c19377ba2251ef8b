"""Orders in which waiting jobs are served, by name."""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from numbers import Real
from typing import Any, Final, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import PlanError
from batsched_py.model.job import Job
from batsched_py.named import Named, by_name, failed
from batsched_py.planning.wait_time import wait_of

#: The order of jobs with equal keys: of arrival, or of their ids as texts, as in batsched.
Ties = Literal["arrival", "id"]
#: (job, time) -> a number.
Key = Callable[[Job, float], float]

#: Seconds below which a run does not count as shorter: the usual threshold of the bounded slowdown metric.
SLOWDOWN_THRESHOLD: Final = 10.0
#: The divisor of UNICEP for jobs of one host, whose log2 is 0: they come before all others, as in the limit.
SMALLEST_LOGARITHM: Final = 1e-15

BATSCHED: Final = "batsched's --queue_order"
CARASTAN: Final = (
    "Carastan-Santos, de Camargo, Obtaining dynamic scheduling policies with simulation and machine learning, SC'17"
)
TANG: Final = (
    "Tang, Lan, Desai, Buettner, Fault-aware, utility-based job scheduling on Blue Gene/P systems, IEEE Cluster 2009,"
    " in the form of the SC'17 paper on F1-F4"
)


class Order(Struct, frozen=True):
    """An order of jobs: the smaller the key, the earlier a job is served; equal keys in order of arrival, or of ids.

    Attributes:
        name: name in options.
        key: a number for a job at a time (seconds since the start of the simulation), never NaN; infinity is last.
        dynamic: True if the order of two jobs may change with time, so that it must be computed at each decision;
            otherwise the key is computed once, when the job arrives.
        formula: the key, as in docs/policies.md, where s is the submission, r the walltime (infinite without one), w
            the wait until now in whole milliseconds (`wait_of`), in seconds, and n the number of hosts.
        source: publication, or what the order is if there is none.
        by_id: True if jobs with equal keys are served in the order of their ids as texts ("10" before "2").
    """

    name: str
    key: Key
    dynamic: bool
    formula: str
    source: str
    by_id: bool = False

    def with_ties(self, ties: Ties) -> Order:
        """Return the same order with these ties; that of arrival is by the time of submission then."""
        if ties == "arrival":
            return self
        return replace(self, key=_submission, by_id=True) if self is FCFS else replace(self, by_id=True)

    def tie(self, job: Job) -> str:
        """Return what decides between jobs with equal keys, before the order of arrival."""
        return job.id if self.by_id else ""

    def sorted(self, jobs: Iterable[Job], now: float) -> list[Job]:
        """Return jobs, given in order of arrival, in this order at `now`."""
        key = self.key
        if self.by_id:
            return sorted(jobs, key=lambda job: (key(job, now), job.id))
        return sorted(jobs, key=lambda job: key(job, now))


def area_of(job: Job) -> float:
    """Return the requested host-seconds of a job: n * r."""
    return job.size * job.limit


def slowdown_of(job: Job, now: float) -> float:
    """Return (w + r) / r, the slowdown if the job started now; 1 without a walltime."""
    return 1.0 + wait_of(job, now) / job.limit


def bounded_slowdown_of(job: Job, now: float) -> float:
    """Return max(1, (w + r) / max(r, 10)): the same with a run time of at least 10 s."""
    walltime = job.limit
    if walltime == math.inf:
        return 1.0
    return max(1.0, (wait_of(job, now) + walltime) / max(walltime, SLOWDOWN_THRESHOLD))


def wfp3_of(job: Job, now: float) -> float:
    """Return -(w / r)^3 * n: jobs that have waited long relative to their walltime, and large ones, come first."""
    ratio = wait_of(job, now) / job.limit
    return -(ratio * ratio * ratio) * job.size


def unicep_of(job: Job, now: float) -> float:
    """Return -w / (log2(n) * r): jobs that have waited long relative to their walltime, and small ones, come first."""
    return -wait_of(job, now) / (max(math.log2(max(job.size, 1)), SMALLEST_LOGARITHM) * job.limit)


def submission_logarithm(job: Job) -> float:
    """Return log10(max(s, 1)): the logarithm of 0 is undefined."""
    return math.log10(max(job.submit_time, 1.0))


def f1_of(job: Job, _: float) -> float:
    """Return the key of F1: log10(r) * n + 870 * log10(s)."""
    return math.log10(job.limit) * job.size + 870.0 * submission_logarithm(job)


def f2_of(job: Job, _: float) -> float:
    """Return the key of F2: sqrt(r) * n + 25600 * log10(s)."""
    return math.sqrt(job.limit) * job.size + 25_600.0 * submission_logarithm(job)


def f3_of(job: Job, _: float) -> float:
    """Return the key of F3: r * n + 6860000 * log10(s)."""
    return area_of(job) + 6_860_000.0 * submission_logarithm(job)


def f4_of(job: Job, _: float) -> float:
    """Return the key of F4: r * sqrt(n) + 530000 * log10(s)."""
    return job.limit * math.sqrt(job.size) + 530_000.0 * submission_logarithm(job)


def adopt(name: str, function: Callable[..., Any]) -> Order:
    """Return the order of a user's function(job, now).

    It is called at each decision, unless the function has an attribute `dynamic` that is False.
    """

    def key(job: Job, now: float) -> float:
        try:
            value = function(job, now)
        except BaseException as error:
            raise failed(f"order {name} of {job.id}", error) from error
        if not isinstance(value, Real) or math.isnan(value):
            raise PlanError(f"order {name} of {job.id}: the function must return a number, not {value!r}")
        return float(value)

    return Order(name, key, bool(getattr(function, "dynamic", True)), "", "the user's")


def _submission(job: Job, _: float) -> float:
    return job.submit_time


FCFS: Final = Order("fcfs", lambda _job, _now: 0.0, False, "arrival", BATSCHED)
SJF: Final = Order("sjf", lambda job, _: job.limit, False, "r", "shortest job first, as in EASY-SJBF")

_ORDERS: Final = (
    FCFS,
    Order("lcfs", lambda job, _: -job.submit_time, False, "-s", BATSCHED),
    SJF,
    Order("asc_walltime", lambda job, _: job.limit, False, "r", BATSCHED),
    Order("desc_walltime", lambda job, _: -job.limit, False, "-r", BATSCHED),
    Order("asc_size", lambda job, _: job.size, False, "n", BATSCHED),
    Order("desc_size", lambda job, _: -job.size, False, "-n", BATSCHED),
    Order("asc_area", lambda job, _: area_of(job), False, "n * r", "smallest area first"),
    Order("desc_area", lambda job, _: -area_of(job), False, "-n * r", "largest area first"),
    Order("asc_slowdown", slowdown_of, True, "(w + r) / r", "the reverse of desc_slowdown"),
    Order("desc_slowdown", lambda job, now: -slowdown_of(job, now), True, "-(w + r) / r", BATSCHED),
    Order("asc_bounded_slowdown", bounded_slowdown_of, True, "max(1, (w + r) / max(r, 10))", "the reverse of the next"),
    Order(
        "desc_bounded_slowdown",
        lambda job, now: -bounded_slowdown_of(job, now),
        True,
        "-max(1, (w + r) / max(r, 10))",
        BATSCHED,
    ),
    Order("wfp3", wfp3_of, True, "-(w / r)^3 * n", TANG),
    Order("unicep", unicep_of, True, "-w / (log2(n) * r)", TANG),
    Order("f1", f1_of, False, "log10(r) * n + 870 * log10(s)", CARASTAN),
    Order("f2", f2_of, False, "sqrt(r) * n + 25600 * log10(s)", CARASTAN),
    Order("f3", f3_of, False, "r * n + 6860000 * log10(s)", CARASTAN),
    Order("f4", f4_of, False, "r * sqrt(n) + 530000 * log10(s)", CARASTAN),
)

#: Name -> order; users may give their own function.
ORDERS: Final[Named[Order]] = Named("queue order", by_name("_ORDERS", _ORDERS), ("job", "now"), adopt)


class Waiting(Protocol):
    """The waiting jobs, in order of arrival."""

    def __iter__(self) -> Iterator[Job]: ...

    def __contains__(self, job_id: str) -> bool: ...


class Line:
    """The waiting jobs in an order: kept sorted, or sorted at each use if the order is dynamic.

    In a static order, an arrival costs a binary search and an insertion, and jobs that have left are dropped during
    iteration.
    """

    __slots__ = ("_arrivals", "_entries", "order")

    def __init__(self, order: Order) -> None:
        self.order = order
        #: (key, tie, number of arrival, job), ascending; some may have left. Empty if the order is dynamic or arrival.
        self._entries: list[tuple[float, str, int, Job]] = []
        #: Number of jobs that ever joined.
        self._arrivals = 0

    def join(self, jobs: Iterable[Job], now: float) -> None:
        """Add jobs that have arrived, in this order. A job joins once."""
        order = self.order
        if order.dynamic or order is FCFS:
            return
        for job in jobs:
            self._arrivals += 1
            insort(self._entries, (order.key(job, now), order.tie(job), self._arrivals, job))

    def jobs(self, waiting: Waiting, now: float) -> Iterator[Job]:
        """Yield the waiting jobs in the order of service, without those that are started meanwhile."""
        if self.order is FCFS:
            return iter(waiting)
        if self.order.dynamic:
            return (job for job in self.order.sorted(waiting, now) if job.id in waiting)
        return self._kept(waiting)

    def _kept(self, waiting: Waiting) -> Iterator[Job]:
        entries, position = self._entries, 0
        while position < len(entries):
            job = entries[position][3]
            if job.id in waiting:
                yield job
            if job.id in waiting:
                position += 1
            else:
                del entries[position]

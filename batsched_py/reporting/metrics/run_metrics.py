"""The metrics of a whole run, with title, unit and better direction: the columns of `batsched-py metrics`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from itertools import chain
from typing import Annotated, Any, Final, Literal, get_type_hints

from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.protocol.events import REJECTED
from batsched_py.reporting.formatting import FINAL_STATES, HOUR
from batsched_py.reporting.metrics.batsim_metrics import consumed_energy, energy_between
from batsched_py.reporting.metrics.host_times import host_times
from batsched_py.reporting.metrics.job_metrics import JobMetrics, measure_jobs
from batsched_py.reporting.metrics.lease_metrics import lease_metrics
from batsched_py.reporting.metrics.over_time import busy_hosts, computing_hosts, queue_length, queued_hosts
from batsched_py.reporting.metrics.placement_metrics import placement_metrics
from batsched_py.reporting.metrics.statistics import jains_index, mean, quantile
from batsched_py.reporting.metrics.steps import highest, integral, mean_over
from batsched_py.reporting.metrics.summary import SLOWDOWN_BOUND, lost_work, overhead_time, summarise_jobs
from batsched_py.reporting.schedules.occupancy import Occupancy
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import JobRecord


class Unit(Enum):
    """The unit of a metric in tables, the factor from SI units, and the usual number of decimals."""

    COUNT = ("", 1.0, 0)
    NUMBER = ("", 1.0, 4)
    SECONDS = ("s", 1.0, 3)
    SHARE = ("%", 100.0, 2)
    RATE = ("jobs/h", float(HOUR), 2)
    JOULES = ("J", 1.0, 1)
    WATTS = ("W", 1.0, 1)
    HOST_HOURS = ("host h", 1.0 / HOUR, 3)

    @property
    def factor(self) -> float:
        """The factor from SI units."""
        return self.value[1]

    @property
    def digits(self) -> int:
        """The usual number of decimals in tables (see `text.wording.decimals`)."""
        return self.value[2]


class MetricInfo(Struct, frozen=True):
    """The presentation of a metric.

    Attributes:
        title: the title in tables; that of a part of the row above begins with blanks.
        unit: the unit in tables.
        better: the better direction; "" if neither is better.
    """

    title: str
    unit: Unit = Unit.NUMBER
    better: Literal["less", "more", ""] = "less"


class RunMetrics(Struct, frozen=True):
    """The metrics of a run; docs/metrics.md defines each, in the same words and order.

    A job *ran* if it was not rejected: means, quantiles and maxima are over these jobs. A metric is None if it is
    undefined because no job ran, or if the files lack its inputs. The order of the jobs does not matter. Units are
    seconds, joules and watts; shares are from 0 to 1.
    """

    jobs: Annotated[int, MetricInfo("jobs", Unit.COUNT, better="")]
    ran: Annotated[int, MetricInfo("  ran", Unit.COUNT, better="")]
    successful: Annotated[int, MetricInfo("  successful", Unit.COUNT, better="more")]
    failed: Annotated[int, MetricInfo("  failed", Unit.COUNT)]
    walltime_reached: Annotated[int, MetricInfo("  walltime reached", Unit.COUNT)]
    killed: Annotated[int, MetricInfo("  killed", Unit.COUNT)]
    rejected: Annotated[int, MetricInfo("  rejected", Unit.COUNT)]
    attempts: Annotated[int, MetricInfo("attempts", Unit.COUNT)]
    restarts_per_job: Annotated[float | None, MetricInfo("  restarts per job")]
    hosts: Annotated[int, MetricInfo("hosts", Unit.COUNT, better="")]
    makespan: Annotated[float, MetricInfo("makespan", Unit.SECONDS)]
    utilisation: Annotated[float | None, MetricInfo("utilisation", Unit.SHARE, better="more")]
    useful_utilisation: Annotated[float | None, MetricInfo("  useful", Unit.SHARE, better="more")]
    useful_work: Annotated[float | None, MetricInfo("useful work", Unit.HOST_HOURS, better="")]
    lost_work: Annotated[float | None, MetricInfo("work lost", Unit.HOST_HOURS)]
    throughput: Annotated[float | None, MetricInfo("throughput", Unit.RATE, better="more")]
    mean_wait: Annotated[float | None, MetricInfo("mean wait", Unit.SECONDS)]
    median_wait: Annotated[float | None, MetricInfo("median wait", Unit.SECONDS)]
    p90_wait: Annotated[float | None, MetricInfo("90th percentile wait", Unit.SECONDS)]
    p99_wait: Annotated[float | None, MetricInfo("99th percentile wait", Unit.SECONDS)]
    max_wait: Annotated[float | None, MetricInfo("maximum wait", Unit.SECONDS)]
    mean_attempt_wait: Annotated[float | None, MetricInfo("mean wait of attempts", Unit.SECONDS)]
    mean_turnaround: Annotated[float | None, MetricInfo("mean turnaround", Unit.SECONDS)]
    max_turnaround: Annotated[float | None, MetricInfo("maximum turnaround", Unit.SECONDS)]
    mean_slowdown: Annotated[float | None, MetricInfo("mean slowdown")]
    max_slowdown: Annotated[float | None, MetricInfo("maximum slowdown")]
    mean_bounded_slowdown: Annotated[float | None, MetricInfo("mean bounded slowdown")]
    median_bounded_slowdown: Annotated[float | None, MetricInfo("median bounded slowdown")]
    p90_bounded_slowdown: Annotated[float | None, MetricInfo("90th pct. bounded slowdown")]
    p99_bounded_slowdown: Annotated[float | None, MetricInfo("99th pct. bounded slowdown")]
    max_bounded_slowdown: Annotated[float | None, MetricInfo("maximum bounded slowdown")]
    mean_per_processor_slowdown: Annotated[float | None, MetricInfo("mean per-processor slowdown")]
    mean_per_processor_bounded_slowdown: Annotated[float | None, MetricInfo("  with the bound")]
    mean_queue_length: Annotated[float | None, MetricInfo("mean queue")]
    max_queue_length: Annotated[int | None, MetricInfo("longest queue", Unit.COUNT)]
    mean_queued_hosts: Annotated[float | None, MetricInfo("mean hosts asked for")]
    max_queued_hosts: Annotated[int | None, MetricInfo("most hosts asked for", Unit.COUNT)]
    mean_pieces: Annotated[float | None, MetricInfo("mean pieces of a job")]
    contiguous: Annotated[float | None, MetricInfo("contiguous jobs", Unit.SHARE, better="more")]
    fragmentation: Annotated[float | None, MetricInfo("fragmentation", Unit.SHARE)]
    energy: Annotated[float | None, MetricInfo("energy", Unit.JOULES)]
    mean_power: Annotated[float | None, MetricInfo("mean power", Unit.WATTS)]
    mean_job_energy: Annotated[float | None, MetricInfo("mean energy of a job", Unit.JOULES)]
    computing_time: Annotated[float | None, MetricInfo("computing", Unit.HOST_HOURS, better="")]
    idle_time: Annotated[float | None, MetricInfo("idle", Unit.HOST_HOURS, better="")]
    sleeping_time: Annotated[float | None, MetricInfo("sleeping", Unit.HOST_HOURS, better="")]
    switching_on_time: Annotated[float | None, MetricInfo("switching on", Unit.HOST_HOURS, better="")]
    switching_off_time: Annotated[float | None, MetricInfo("switching off", Unit.HOST_HOURS, better="")]
    unavailable_time: Annotated[float | None, MetricInfo("unavailable", Unit.HOST_HOURS, better="")]
    users: Annotated[int, MetricInfo("users", Unit.COUNT, better="")]
    fairness_wait: Annotated[float | None, MetricInfo("fairness of waits", better="more")]
    fairness_bounded_slowdown: Annotated[float | None, MetricInfo("fairness of slowdowns", better="more")]
    with_deadline: Annotated[int, MetricInfo("jobs with a deadline", Unit.COUNT, better="")]
    deadlines_met: Annotated[int | None, MetricInfo("  in time", Unit.COUNT, better="more")]
    leases: Annotated[int | None, MetricInfo("leases", Unit.COUNT, better="")] = None
    accepted_reservations: Annotated[int | None, MetricInfo("  reservations accepted", Unit.COUNT, better="more")] = (
        None
    )
    rejected_reservations: Annotated[int | None, MetricInfo("  reservations rejected", Unit.COUNT)] = None
    best_effort_done: Annotated[int | None, MetricInfo("  best-effort leases done", Unit.COUNT, better="more")] = None
    best_effort_completion: Annotated[float | None, MetricInfo("best effort completed", Unit.SECONDS)] = None
    mean_best_effort_wait: Annotated[float | None, MetricInfo("mean wait of best effort", Unit.SECONDS)] = None
    mean_best_effort_slowdown: Annotated[float | None, MetricInfo("slowdown of best effort")] = None
    mean_best_effort_real_slowdown: Annotated[float | None, MetricInfo("  against its real run")] = None
    lease_utilisation: Annotated[float | None, MetricInfo("utilisation by leases", Unit.SHARE, better="more")] = None
    lease_utilisation_with_overheads: Annotated[float | None, MetricInfo("  with overheads", Unit.SHARE, better="")] = (
        None
    )
    suspensions: Annotated[int | None, MetricInfo("suspensions", Unit.COUNT)] = None
    time_suspended: Annotated[float | None, MetricInfo("time suspended", Unit.SECONDS)] = None
    migrations: Annotated[int | None, MetricInfo("migrations", Unit.COUNT)] = None
    requeues: Annotated[int | None, MetricInfo("requeues", Unit.COUNT)] = None
    placement_success: Annotated[float | None, MetricInfo("proposals that succeed", Unit.SHARE, better="more")] = None
    requests_per_start: Annotated[float | None, MetricInfo("requests per start")] = None
    releases_per_start: Annotated[float | None, MetricInfo("releases per start")] = None
    refusals_per_start: Annotated[float | None, MetricInfo("refusals per start")] = None
    slowed_jobs: Annotated[int | None, MetricInfo("jobs slowed by others", Unit.COUNT)] = None
    mean_contention_slowdown: Annotated[float | None, MetricInfo("mean contention slowdown")] = None
    max_contention_slowdown: Annotated[float | None, MetricInfo("maximum contention slowdown")] = None
    window_begin: Annotated[float | None, MetricInfo("measured from", Unit.SECONDS, better="")] = None
    window_end: Annotated[float | None, MetricInfo("  to", Unit.SECONDS, better="")] = None
    outside_window: Annotated[int | None, MetricInfo("  jobs left out", Unit.COUNT, better="")] = None


#: Field of RunMetrics -> its presentation, in the order of the fields.
METRIC_INFO: Final[Mapping[str, MetricInfo]] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(RunMetrics, include_extras=True).items()
}

#: Name of a quantile in metrics -> its share of the values.
_QUANTILES: Final = {"median": 0.5, "p90": 0.9, "p99": 0.99}


def measure_run(schedule: Schedule, tau: float = SLOWDOWN_BOUND, window: TimeWindow | None = None) -> RunMetrics:
    """Compute the metrics of a run; runs shorter than `tau` seconds count as `tau` in bounded slowdowns.

    With a window, metrics of jobs cover the jobs submitted in it, even if they end later, and metrics of hosts cover
    the time in it, for all jobs. WorkloadError if a deadline is invalid.
    """
    part = schedule if window is None else window.submitted(schedule)
    jobs = measure_jobs(part, tau)
    ran = [job for job in jobs if not job.record.rejected]
    summary = asdict(summarise_jobs(part.jobs, schedule.hosts, tau, part.leases))
    del summary["jobs"], summary["states"]  # they lack the jobs that are in no row
    begin, end = (0.0, summary["makespan"]) if window is None else (window.begin, window.end)
    free = schedule.occupancy if schedule.hosts_known else None
    return RunMetrics(
        **_counts(jobs, part.unlisted),
        **(summary if window is None else summary | _of_machine(schedule, ran, window)),
        **_restarts(ran, part.ran_attempts),
        **_waits(ran),
        **_slowdowns(ran),
        **_queue(schedule, begin, end),
        **_layout(free, ran, begin, end),
        **_energy(schedule, ran, window),
        **_host_times(schedule, free, begin, end),
        **_fairness(ran),
        **_deadlines(jobs),
        **(lease_metrics(schedule) if window is None else lease_metrics(part, begin, end)),
        **placement_metrics(part),
        **_contention(part, ran),
        **({} if window is None else _measured(window, schedule.job_count - schedule.unlisted - len(jobs))),
    )


def _measured(window: TimeWindow, outside: int) -> dict[str, Any]:
    return {"window_begin": window.begin, "window_end": window.end, "outside_window": outside}


def _of_machine(schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow) -> dict[str, Any]:
    """Return the metrics of the summary that depend on the use of hosts, or on ends of jobs, in a window."""
    begin, end = window.begin, window.end
    allocated, everything = integral(busy_hosts(schedule), begin, end), schedule.hosts * window.seconds
    again = schedule.attempts
    lost = lost_work(again, schedule.leases, schedule.hosts, (begin, end))
    useful = allocated - lost - overhead_time(again, (begin, end))
    once = (job for job in schedule.ran if job.job.id not in again.firsts and job.job.id not in again.jobs)
    ends = (job.finish for job in once)
    lasts = (job.last.finish for job in again.jobs.values() if job.last.state != REJECTED)
    finished = sum(begin < finish <= end for finish in chain(ends, lasts))  # a window may end with the last job
    return {
        "makespan": max((job.record.finish for job in ran), default=begin) - begin,
        "utilisation": allocated / everything if everything else None,
        "useful_utilisation": useful / everything if everything else None,
        "useful_work": useful,
        "lost_work": lost,
        "throughput": finished / window.seconds,
    }


def _counts(jobs: Sequence[JobMetrics], unlisted: int) -> dict[str, Any]:
    states = Counter(job.record.state for job in jobs)
    successful, failed, late, killed, rejected = (states[state] for state in FINAL_STATES)
    return {
        "jobs": len(jobs) + unlisted,
        "ran": len(jobs) - rejected,
        "successful": successful,
        "failed": failed,
        "walltime_reached": late,
        "killed": killed,
        "rejected": rejected + unlisted,
    }


def _restarts(ran: Sequence[JobMetrics], attempts: Sequence[JobRecord]) -> dict[str, Any]:
    waits = [record.waiting for record in attempts]
    return {
        "restarts_per_job": mean([job.attempts - 1 for job in ran]),
        "mean_attempt_wait": mean(waits),
    }


def _waits(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    waits = _known(job.wait for job in ran)
    return {
        **{f"{name}_wait": quantile(waits, share) for name, share in _QUANTILES.items()},
        "max_turnaround": max(_known(job.turnaround for job in ran), default=None),
    }


def _slowdowns(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    slowdowns = _known(job.slowdown for job in ran)
    shared = _known(job.per_processor_slowdown for job in ran)
    every = len(slowdowns) == len(ran)  # undefined for a job that took no time: a mean of the others would mislead
    bounded = _known(job.bounded_slowdown for job in ran)
    return {
        "mean_slowdown": mean(slowdowns) if every else None,
        "max_slowdown": max(slowdowns, default=None) if every else None,
        **{f"{name}_bounded_slowdown": quantile(bounded, share) for name, share in _QUANTILES.items()},
        "max_bounded_slowdown": max(bounded, default=None),
        "mean_per_processor_slowdown": mean(shared) if every else None,
        "mean_per_processor_bounded_slowdown": mean(_known(job.per_processor_bounded_slowdown for job in ran)),
    }


def _contention(schedule: Schedule, ran: Sequence[JobMetrics]) -> dict[str, Any]:
    """Return the metrics of contention between jobs; empty if no job was slowed down, or if that is unknown."""
    slowed = schedule.alone
    if slowed is None:
        return {}
    slowdowns = _known(job.contention_slowdown for job in ran)
    return {
        "slowed_jobs": sum(job.record.job.id in slowed for job in ran),
        "mean_contention_slowdown": mean(slowdowns),
        "max_contention_slowdown": max(slowdowns, default=None),
    }


def _queue(schedule: Schedule, begin: float, end: float) -> dict[str, Any]:
    length, hosts = queue_length(schedule), queued_hosts(schedule)
    return {
        "mean_queue_length": mean_over(length, begin, end),
        "max_queue_length": highest(length, begin, end),
        "mean_queued_hosts": mean_over(hosts, begin, end),
        "max_queued_hosts": highest(hosts, begin, end),
    }


def _layout(free: Occupancy | None, ran: Sequence[JobMetrics], begin: float, end: float) -> dict[str, Any]:
    pieces = [job.pieces for job in ran if job.pieces]
    return {
        "mean_pieces": mean(pieces),
        "contiguous": pieces.count(1) / len(pieces) if pieces else None,
        "fragmentation": _fragmentation(free, begin, end),
    }


def _fragmentation(free: Occupancy | None, begin: float, end: float) -> float | None:
    """Return the share of the free host seconds outside the longest run of free hosts; None if no host is ever free."""
    if free is None:
        return None
    total = integral(list(zip(free.times, free.free, strict=True)), begin, end)
    outside = [(time, count - one) for time, count, one in zip(free.times, free.free, free.longest, strict=True)]
    scattered = integral(outside, begin, end)
    return scattered / total if total > 0 else None


def _energy(schedule: Schedule, ran: Sequence[JobMetrics], window: TimeWindow | None) -> dict[str, Any]:
    if window is None:
        energy = consumed_energy(schedule)
        begin = min((job.job.submit_time for job in schedule.jobs), default=0.0)
        end = max((job.record.finish for job in ran), default=begin)
    else:
        begin, end = window.begin, window.end
        energy = energy_between(schedule, begin, end)
    of_jobs = [job.record.energy for job in ran if job.record.energy >= 0]
    return {
        "energy": energy,
        "mean_power": energy / (end - begin) if energy is not None and end > begin else None,
        "mean_job_energy": mean(of_jobs) if len(of_jobs) == len(ran) else None,
    }


def _host_times(schedule: Schedule, free: Occupancy | None, begin: float, end: float) -> dict[str, Any]:
    computing = None if free is None else computing_hosts(schedule)
    return {f"{state}_time": seconds for state, seconds in host_times(schedule, begin, end, computing).items()}


def _fairness(ran: Sequence[JobMetrics]) -> dict[str, Any]:
    by_user: defaultdict[str, list[JobMetrics]] = defaultdict(list)
    for job in ran:
        if job.user is not None:
            by_user[job.user].append(job)
    waits = _known(mean(_known(job.wait for job in jobs)) for jobs in by_user.values())
    slowdowns = _known(mean(_known(job.bounded_slowdown for job in jobs)) for jobs in by_user.values())
    return {
        "users": len(by_user),
        "fairness_wait": jains_index(waits),
        "fairness_bounded_slowdown": jains_index(slowdowns),
    }


def _deadlines(jobs: Sequence[JobMetrics]) -> dict[str, Any]:
    due = [job for job in jobs if job.due is not None]
    return {"with_deadline": len(due), "deadlines_met": sum(job.met is True for job in due) if due else None}


def _known(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None]

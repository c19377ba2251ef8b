"""The metrics of a whole run, with title, unit and better direction: the columns of `batsched-py metrics`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, Final, Literal, get_type_hints

from msgspec import Struct

from batsched_py.reporting.formatting import HOUR


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

"""The metrics of a whole run, with title, unit and better direction: the columns of `batsched-py metrics`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from inspect import signature
from itertools import repeat
from typing import Annotated, Final, Literal, TypeVar, get_type_hints

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.reporting.formatting import HOUR
from batsched_py.text.wording import NOTHING, decimals

Group = TypeVar("Group")
#: The text in place of the number of users if no job has one.
NO_USERS: Final = "unknown"


class Unit(Enum):
    """The unit of a metric.

    Attributes:
        symbol: the unit in tables; "" for none.
        factor: the factor from SI units.
        digits: the usual number of decimals in tables (see `text.wording.decimals`).
    """

    COUNT = ("", 1.0, 0)
    NUMBER = ("", 1.0, 4)
    SECONDS = ("s", 1.0, 3)
    SHARE = ("%", 100.0, 2)
    RATE = ("jobs/h", float(HOUR), 2)
    JOULES = ("J", 1.0, 1)
    WATTS = ("W", 1.0, 1)
    CARBON = ("gCO2", 1.0, 1)
    HOST_HOURS = ("host h", 1.0 / HOUR, 3)

    def __init__(self, symbol: str, factor: float, digits: int) -> None:
        self.symbol, self.factor, self.digits = symbol, factor, digits


class MetricInfo(Struct, frozen=True):
    """One number that describes a run, as tables present it.

    Attributes:
        title: the title in tables; that of a part of the row above begins with blanks.
        unit: the unit in tables.
        better: the better direction; "" if neither is better.
        name: the field of RunMetrics, as in options of commands.
        digits: decimals in tables.
        shown: when its row is shown: always, unless all runs have 0, or if jobs of a run were submitted again.
        alone: the title where the row above is missing; "" for `title`.
    """

    title: str
    unit: Unit
    better: Literal["less", "more", ""]
    name: str = ""
    digits: int = 0
    shown: Literal["always", "unless 0", "if restarted"] = "always"
    alone: str = ""

    @property
    def more_is_better(self) -> bool:
        """True if the larger of two values is the better one."""
        return self.better == "more"

    @property
    def heading(self) -> str:
        """The title with the unit."""
        return f"{self.title} [{self.unit.symbol}]" if self.unit.symbol else self.title

    def of(self, run: RunMetrics) -> float | None:
        """Return the value of a run's metrics in SI units; None if it is undefined for the run."""
        value: float | None = getattr(run, self.name)
        return value

    def text(self, value: float) -> str:
        """Format a value in the unit of tables."""
        return f"{value * self.unit.factor:z.{self.digits}f}"

    def rounded(self, values: Iterable[float]) -> MetricInfo:
        """Return the metric with the digits of a table in which these values (SI units) are the ones compared."""
        return replace(self, digits=decimals((value * self.unit.factor for value in values), self.digits))


# A group of metrics is a class with a field for each, which one function makes. None has a default, so that mypy
# reports a metric that is not measured. RunMetrics inherits all groups, so that names and order are written once.
# Structs cannot have several bases, hence dataclasses.


@dataclass(frozen=True)
class JobCounts:
    """Numbers of jobs."""

    jobs: Annotated[int, MetricInfo("jobs", Unit.COUNT, "")]
    ran: Annotated[int, MetricInfo("  ran", Unit.COUNT, "")]
    successful: Annotated[int, MetricInfo("  successful", Unit.COUNT, "more")]
    failed: Annotated[int, MetricInfo("  failed", Unit.COUNT, "less", shown="unless 0")]
    walltime_reached: Annotated[int, MetricInfo("  walltime reached", Unit.COUNT, "less", shown="unless 0")]
    killed: Annotated[int, MetricInfo("  killed", Unit.COUNT, "less", shown="unless 0")]
    rejected: Annotated[int, MetricInfo("  rejected", Unit.COUNT, "less", shown="unless 0")]


@dataclass(frozen=True)
class AttemptMetrics:
    """Numbers of attempts at jobs."""

    attempts: Annotated[int, MetricInfo("attempts", Unit.COUNT, "less", shown="if restarted")]
    restarts_per_job: Annotated[
        float | None, MetricInfo("  restarts per job", Unit.NUMBER, "less", shown="if restarted")
    ]


@dataclass(frozen=True)
class UseMetrics:
    """Use of the hosts by jobs: shares from 0 to 1, work in host seconds, throughput in jobs per second."""

    hosts: Annotated[int, MetricInfo("hosts", Unit.COUNT, "")]
    makespan: Annotated[float, MetricInfo("makespan", Unit.SECONDS, "less")]
    utilisation: Annotated[float | None, MetricInfo("utilisation", Unit.SHARE, "more")]
    useful_utilisation: Annotated[float | None, MetricInfo("  useful", Unit.SHARE, "more", shown="if restarted")]
    useful_work: Annotated[float | None, MetricInfo("useful work", Unit.HOST_HOURS, "", shown="if restarted")]
    lost_work: Annotated[float | None, MetricInfo("work lost", Unit.HOST_HOURS, "less", shown="if restarted")]
    throughput: Annotated[float | None, MetricInfo("throughput", Unit.RATE, "more")]


@dataclass(frozen=True)
class ResourceMetrics:
    """Use of resources of hosts that jobs share: shares from 0 to 1; undefined for a run with whole hosts only."""

    core_utilisation: Annotated[float | None, MetricInfo("cores allocated", Unit.SHARE, "more")]
    requested_cores: Annotated[float | None, MetricInfo("  cores requested", Unit.SHARE, "more")]
    memory_utilisation: Annotated[float | None, MetricInfo("memory allocated", Unit.SHARE, "more")]
    requested_memory: Annotated[float | None, MetricInfo("  memory requested", Unit.SHARE, "more")]
    gpu_utilisation: Annotated[float | None, MetricInfo("GPUs allocated", Unit.SHARE, "more")]
    requested_gpus: Annotated[float | None, MetricInfo("  GPUs requested", Unit.SHARE, "more")]
    gpu_fragmentation: Annotated[float | None, MetricInfo("  GPU fragmentation", Unit.SHARE, "less")]
    other_utilisation: Annotated[float | None, MetricInfo("others allocated", Unit.SHARE, "more")]
    licence_utilisation: Annotated[float | None, MetricInfo("licences allocated", Unit.SHARE, "more")]


@dataclass(frozen=True)
class WaitMetrics:
    """Waiting and turnaround times, in seconds."""

    mean_wait: Annotated[float | None, MetricInfo("mean wait", Unit.SECONDS, "less")]
    median_wait: Annotated[float | None, MetricInfo("median wait", Unit.SECONDS, "less")]
    p90_wait: Annotated[float | None, MetricInfo("90th percentile wait", Unit.SECONDS, "less")]
    p99_wait: Annotated[float | None, MetricInfo("99th percentile wait", Unit.SECONDS, "less")]
    max_wait: Annotated[float | None, MetricInfo("maximum wait", Unit.SECONDS, "less")]
    mean_attempt_wait: Annotated[
        float | None, MetricInfo("mean wait of attempts", Unit.SECONDS, "less", shown="if restarted")
    ]
    mean_turnaround: Annotated[float | None, MetricInfo("mean turnaround", Unit.SECONDS, "less")]
    max_turnaround: Annotated[float | None, MetricInfo("maximum turnaround", Unit.SECONDS, "less")]


@dataclass(frozen=True)
class SlowdownMetrics:
    """Slowdowns, plain, with a bound, and divided by the processors of the job."""

    mean_slowdown: Annotated[float | None, MetricInfo("mean slowdown", Unit.NUMBER, "less")]
    max_slowdown: Annotated[float | None, MetricInfo("maximum slowdown", Unit.NUMBER, "less")]
    mean_bounded_slowdown: Annotated[float | None, MetricInfo("mean bounded slowdown", Unit.NUMBER, "less")]
    median_bounded_slowdown: Annotated[float | None, MetricInfo("median bounded slowdown", Unit.NUMBER, "less")]
    p90_bounded_slowdown: Annotated[float | None, MetricInfo("90th pct. bounded slowdown", Unit.NUMBER, "less")]
    p99_bounded_slowdown: Annotated[float | None, MetricInfo("99th pct. bounded slowdown", Unit.NUMBER, "less")]
    max_bounded_slowdown: Annotated[float | None, MetricInfo("maximum bounded slowdown", Unit.NUMBER, "less")]
    mean_per_processor_slowdown: Annotated[float | None, MetricInfo("mean per-processor slowdown", Unit.NUMBER, "less")]
    mean_per_processor_bounded_slowdown: Annotated[
        float | None, MetricInfo("  with the bound", Unit.NUMBER, "less", alone="mean per-processor bounded slowdown")
    ]


@dataclass(frozen=True)
class QueueMetrics:
    """Jobs that wait, and the hosts that they request."""

    mean_queue_length: Annotated[float | None, MetricInfo("mean queue", Unit.NUMBER, "less")]
    max_queue_length: Annotated[int | None, MetricInfo("longest queue", Unit.COUNT, "less")]
    mean_queued_hosts: Annotated[float | None, MetricInfo("mean hosts asked for", Unit.NUMBER, "less")]
    max_queued_hosts: Annotated[int | None, MetricInfo("most hosts asked for", Unit.COUNT, "less")]


@dataclass(frozen=True)
class LayoutMetrics:
    """Positions of jobs on the hosts."""

    mean_pieces: Annotated[float | None, MetricInfo("mean pieces of a job", Unit.NUMBER, "less")]
    contiguous: Annotated[float | None, MetricInfo("contiguous jobs", Unit.SHARE, "more")]
    fragmentation: Annotated[float | None, MetricInfo("fragmentation", Unit.SHARE, "less")]


@dataclass(frozen=True)
class EnergyMetrics:
    """Energy in joules, power in watts."""

    energy: Annotated[float | None, MetricInfo("energy", Unit.JOULES, "less")]
    mean_power: Annotated[float | None, MetricInfo("mean power", Unit.WATTS, "less")]
    mean_job_energy: Annotated[float | None, MetricInfo("mean energy of a job", Unit.JOULES, "less")]
    carbon: Annotated[float | None, MetricInfo("carbon emissions", Unit.CARBON, "less")]
    energy_cost: Annotated[float | None, MetricInfo("cost of energy", Unit.NUMBER, "less")]


@dataclass(frozen=True)
class HostTimeMetrics:
    """Host seconds in each state."""

    computing_time: Annotated[float | None, MetricInfo("computing", Unit.HOST_HOURS, "")]
    idle_time: Annotated[float | None, MetricInfo("idle", Unit.HOST_HOURS, "")]
    sleeping_time: Annotated[float | None, MetricInfo("sleeping", Unit.HOST_HOURS, "", shown="unless 0")]
    switching_on_time: Annotated[float | None, MetricInfo("switching on", Unit.HOST_HOURS, "", shown="unless 0")]
    switching_off_time: Annotated[float | None, MetricInfo("switching off", Unit.HOST_HOURS, "", shown="unless 0")]
    unavailable_time: Annotated[float | None, MetricInfo("unavailable", Unit.HOST_HOURS, "", shown="unless 0")]


@dataclass(frozen=True)
class FairnessMetrics:
    """Differences between users."""

    users: Annotated[int, MetricInfo("users", Unit.COUNT, "")]
    fairness_wait: Annotated[float | None, MetricInfo("fairness of waits", Unit.NUMBER, "more")]
    fairness_bounded_slowdown: Annotated[float | None, MetricInfo("fairness of slowdowns", Unit.NUMBER, "more")]


@dataclass(frozen=True)
class DeadlineMetrics:
    """Jobs with a deadline."""

    with_deadline: Annotated[int, MetricInfo("jobs with a deadline", Unit.COUNT, "", shown="unless 0")]
    deadlines_met: Annotated[int | None, MetricInfo("  in time", Unit.COUNT, "more", alone="deadlines met")]


@dataclass(frozen=True)
class LeaseMetrics:
    """The metrics of leases; undefined if the algorithm has no leases."""

    leases: Annotated[int | None, MetricInfo("leases", Unit.COUNT, "")]
    accepted_reservations: Annotated[int | None, MetricInfo("  reservations accepted", Unit.COUNT, "more")]
    rejected_reservations: Annotated[
        int | None, MetricInfo("  reservations rejected", Unit.COUNT, "less", shown="unless 0")
    ]
    best_effort_done: Annotated[int | None, MetricInfo("  best-effort leases done", Unit.COUNT, "more")]
    best_effort_completion: Annotated[float | None, MetricInfo("best effort completed", Unit.SECONDS, "less")]
    mean_best_effort_wait: Annotated[float | None, MetricInfo("mean wait of best effort", Unit.SECONDS, "less")]
    mean_best_effort_slowdown: Annotated[float | None, MetricInfo("slowdown of best effort", Unit.NUMBER, "less")]
    mean_best_effort_real_slowdown: Annotated[
        float | None,
        MetricInfo("  against its real run", Unit.NUMBER, "less", alone="slowdown of best effort against its real run"),
    ]
    lease_utilisation: Annotated[float | None, MetricInfo("utilisation by leases", Unit.SHARE, "more")]
    lease_utilisation_with_overheads: Annotated[float | None, MetricInfo("  with overheads", Unit.SHARE, "")]
    suspensions: Annotated[int | None, MetricInfo("suspensions", Unit.COUNT, "less", shown="unless 0")]
    time_suspended: Annotated[float | None, MetricInfo("time suspended", Unit.SECONDS, "less", shown="unless 0")]
    migrations: Annotated[int | None, MetricInfo("migrations", Unit.COUNT, "less", shown="unless 0")]
    requeues: Annotated[int | None, MetricInfo("requeues", Unit.COUNT, "less", shown="unless 0")]
    predictions: Annotated[int | None, MetricInfo("predicted starts", Unit.COUNT, "")]
    prediction_error: Annotated[
        float | None, MetricInfo("  mean error", Unit.SECONDS, "less", alone="error of predicted starts")
    ]
    predictions_late: Annotated[
        float | None, MetricInfo("  later than predicted", Unit.SHARE, "less", alone="starts later than predicted")
    ]
    prediction_error_hour: Annotated[
        float | None, MetricInfo("  error, 1 h ahead", Unit.SECONDS, "less", alone="error of starts 1 h ahead")
    ]
    predictions_late_hour: Annotated[
        float | None, MetricInfo("  later, 1 h ahead", Unit.SHARE, "less", alone="later than predicted 1 h ahead")
    ]
    prediction_error_day: Annotated[
        float | None, MetricInfo("  error, 1 d ahead", Unit.SECONDS, "less", alone="error of starts 1 d ahead")
    ]
    predictions_late_day: Annotated[
        float | None, MetricInfo("  later, 1 d ahead", Unit.SHARE, "less", alone="later than predicted 1 d ahead")
    ]
    prediction_error_beyond: Annotated[
        float | None, MetricInfo("  error, beyond", Unit.SECONDS, "less", alone="error of starts over 1 d ahead")
    ]
    predictions_late_beyond: Annotated[
        float | None, MetricInfo("  later, beyond", Unit.SHARE, "less", alone="later than predicted over 1 d ahead")
    ]


@dataclass(frozen=True)
class PlacementMetrics:
    """The metrics of placements; undefined if the run has none."""

    placement_success: Annotated[float | None, MetricInfo("proposals that succeed", Unit.SHARE, "more")]
    requests_per_start: Annotated[float | None, MetricInfo("requests per start", Unit.NUMBER, "less")]
    releases_per_start: Annotated[float | None, MetricInfo("releases per start", Unit.NUMBER, "less")]
    refusals_per_start: Annotated[float | None, MetricInfo("refusals per start", Unit.NUMBER, "less")]


@dataclass(frozen=True)
class RunTimeMetrics:
    """The accuracy of predicted run times; undefined if the algorithm predicts none."""

    run_time_error: Annotated[float | None, MetricInfo("error of predicted run times", Unit.SECONDS, "less")]
    run_time_accuracy: Annotated[float | None, MetricInfo("accuracy of predictions", Unit.SHARE, "more")]
    under_predicted: Annotated[float | None, MetricInfo("jobs predicted too short", Unit.SHARE, "less")]
    mean_e_loss: Annotated[float | None, MetricInfo("mean E-Loss", Unit.NUMBER, "less")]


@dataclass(frozen=True)
class ContentionMetrics:
    """Contention between jobs; undefined if it is unknown, or if no job uses what others may use."""

    slowed_jobs: Annotated[int | None, MetricInfo("jobs slowed by others", Unit.COUNT, "less")]
    mean_contention_slowdown: Annotated[float | None, MetricInfo("mean contention slowdown", Unit.NUMBER, "less")]
    max_contention_slowdown: Annotated[float | None, MetricInfo("maximum contention slowdown", Unit.NUMBER, "less")]


@dataclass(frozen=True)
class WindowMetrics:
    """The measured part of a run; undefined for a whole run."""

    window_begin: Annotated[float | None, MetricInfo("measured from", Unit.SECONDS, "")]
    window_end: Annotated[float | None, MetricInfo("  to", Unit.SECONDS, "")]
    outside_window: Annotated[int | None, MetricInfo("  jobs left out", Unit.COUNT, "")]


@dataclass(frozen=True)
class RunMetrics(  # the fields of the last group come first
    WindowMetrics,
    ContentionMetrics,
    RunTimeMetrics,
    PlacementMetrics,
    LeaseMetrics,
    DeadlineMetrics,
    FairnessMetrics,
    HostTimeMetrics,
    EnergyMetrics,
    LayoutMetrics,
    QueueMetrics,
    SlowdownMetrics,
    WaitMetrics,
    ResourceMetrics,
    UseMetrics,
    AttemptMetrics,
    JobCounts,
):
    """The metrics of a run; docs/metrics.md defines each, in the same words and order.

    A job *ran* if it was not rejected: means, quantiles and maxima are over these jobs. A metric is None if it is
    undefined because no job ran, or if the files lack its inputs. The order of the jobs does not matter. Units are
    seconds, joules and watts; shares are from 0 to 1.
    """

    @property
    def by_name(self) -> dict[str, float | None]:
        """Name -> value, in the order of the fields; without those of resources if they are undefined."""
        names = metric_names([self])
        return {name: value for name, value in vars(self).items() if name in names}


def undefined(group: Callable[..., Group]) -> Group:
    """Return a group of metrics that are all None."""
    return group(*repeat(None, len(signature(group).parameters)))


#: Field of RunMetrics -> its presentation, in the order of the fields.
METRIC_INFO: Final[Mapping[str, MetricInfo]] = {
    name: replace(info, name=name, digits=info.unit.digits)
    for name, hint in get_type_hints(RunMetrics, include_extras=True).items()
    for info in hint.__metadata__
}


#: Metrics of resources: files of runs with whole hosts only do not have them.
RESOURCE_METRICS: Final = frozenset(get_type_hints(ResourceMetrics))


def metric_names(runs: Iterable[RunMetrics]) -> dict[str, None]:
    """Return the names of the metrics of runs in their order, without those of resources that no run shares."""
    shared = any(getattr(run, name) is not None for run in runs for name in RESOURCE_METRICS)
    return {name: None for name in METRIC_INFO if shared or name not in RESOURCE_METRICS}


def have_restarts(run: RunMetrics) -> bool:
    """Return whether jobs of the run were submitted again, or lost work."""
    return run.attempts != run.ran or bool(run.lost_work)


def format_metric(name: str, value: float | None) -> str:
    """Return a metric in the unit of tables, with its usual number of decimals, without the name of the unit."""
    if name == "users" and not value:
        return NO_USERS
    if value is None:
        return NOTHING
    unit = METRIC_INFO[name].unit
    return f"{value * unit.factor:z.{unit.digits}f}"

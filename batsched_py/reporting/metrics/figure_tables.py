"""The figures of runs side by side: a table for people, and rows for programs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, Literal

from msgspec import Struct
from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.display import displayed
from batsched_py.reporting.formatting.durations import HOUR
from batsched_py.reporting.metrics.batsim_figures import BatsimFigures
from batsched_py.reporting.metrics.run_figures import RunFigures
from batsched_py.wording import JOULES_PER_KWH, NOTHING


class Unit(Enum):
    """How a figure is shown: its unit, the factor to it, and the digits."""

    COUNT = ("", 1.0, ".0f")
    NUMBER = ("", 1.0, ".4f")
    SECONDS = ("s", 1.0, ".3f")
    SHARE = ("%", 100.0, ".2f")
    RATE = ("jobs/h", float(HOUR), ".2f")
    JOULES = ("J", 1.0, ".1f")
    WATTS = ("W", 1.0, ".1f")
    HOST_HOURS = ("host h", 1.0 / HOUR, ".3f")


class Figure(Struct, frozen=True):
    """How people read a field of RunFigures.

    Attributes:
        field: its name there.
        title: as tables show it; a part of the row above begins with blanks.
        unit: of what tables show.
        better: which way is better; "" if neither is.
    """

    field: str
    title: str
    unit: Unit = Unit.NUMBER
    better: Literal["less", "more", ""] = "less"


#: All fields of RunFigures in their order, in the sections of the table.
SECTIONS: Final[Sequence[Sequence[Figure]]] = (
    (
        Figure("jobs", "jobs", Unit.COUNT, better=""),
        Figure("ran", "  ran", Unit.COUNT, better=""),
        Figure("successful", "  successful", Unit.COUNT, better="more"),
        Figure("failed", "  failed", Unit.COUNT),
        Figure("walltime_reached", "  walltime reached", Unit.COUNT),
        Figure("killed", "  killed", Unit.COUNT),
        Figure("rejected", "  rejected", Unit.COUNT),
    ),
    (
        Figure("hosts", "hosts", Unit.COUNT, better=""),
        Figure("makespan", "makespan", Unit.SECONDS),
        Figure("utilisation", "utilisation", Unit.SHARE, better="more"),
        Figure("throughput", "throughput", Unit.RATE, better="more"),
    ),
    (
        Figure("mean_wait", "mean wait", Unit.SECONDS),
        Figure("median_wait", "median wait", Unit.SECONDS),
        Figure("p90_wait", "90 % wait at most", Unit.SECONDS),
        Figure("p99_wait", "99 % wait at most", Unit.SECONDS),
        Figure("max_wait", "maximum wait", Unit.SECONDS),
        Figure("mean_turnaround", "mean turnaround", Unit.SECONDS),
        Figure("max_turnaround", "maximum turnaround", Unit.SECONDS),
    ),
    (
        Figure("mean_slowdown", "mean slowdown"),
        Figure("max_slowdown", "maximum slowdown"),
        Figure("mean_bounded_slowdown", "mean bounded slowdown"),
        Figure("median_bounded_slowdown", "median bounded slowdown"),
        Figure("p90_bounded_slowdown", "90 % bounded slowdown"),
        Figure("p99_bounded_slowdown", "99 % bounded slowdown"),
        Figure("max_bounded_slowdown", "maximum bounded slowdown"),
        Figure("mean_per_processor_slowdown", "mean per-processor slowdown"),
        Figure("mean_per_processor_bounded_slowdown", "  with the bound"),
    ),
    (
        Figure("mean_queue_length", "mean queue"),
        Figure("max_queue_length", "longest queue", Unit.COUNT),
        Figure("mean_queued_hosts", "mean hosts asked for"),
        Figure("max_queued_hosts", "most hosts asked for", Unit.COUNT),
    ),
    (
        Figure("mean_pieces", "mean pieces of a job"),
        Figure("contiguous", "contiguous jobs", Unit.SHARE, better="more"),
        Figure("fragmentation", "fragmentation", Unit.SHARE),
    ),
    (
        Figure("energy", "energy", Unit.JOULES),
        Figure("mean_power", "mean power", Unit.WATTS),
        Figure("mean_job_energy", "mean energy of a job", Unit.JOULES),
    ),
    (
        Figure("computing_time", "computing", Unit.HOST_HOURS, better=""),
        Figure("idle_time", "idle", Unit.HOST_HOURS, better=""),
        Figure("sleeping_time", "sleeping", Unit.HOST_HOURS, better=""),
        Figure("switching_on_time", "switching on", Unit.HOST_HOURS, better=""),
        Figure("switching_off_time", "switching off", Unit.HOST_HOURS, better=""),
        Figure("unavailable_time", "unavailable", Unit.HOST_HOURS, better=""),
    ),
    (
        Figure("users", "users", Unit.COUNT, better=""),
        Figure("fairness_wait", "fairness of waits", better="more"),
        Figure("fairness_bounded_slowdown", "fairness of slowdowns", better="more"),
    ),
    (
        Figure("with_deadline", "jobs with a deadline", Unit.COUNT, better=""),
        Figure("deadlines_met", "  in time", Unit.COUNT, better="more"),
    ),
)

#: What a run without users says in the row of their number.
NO_USERS: Final = "not told"


def figures_table(names: Sequence[str], runs: Sequence[RunFigures]) -> Table:
    """A column for each run; rows that say nothing of any run are left out."""
    table = _table(names)
    for section in SECTIONS:
        rows = [(figure, [getattr(run, figure.field) for run in runs]) for figure in section]
        told = [(figure, values) for figure, values in rows if _tells(figure, values)]
        for figure, values in told:
            title = figure.title
            if figure.unit is Unit.JOULES:
                table.add_row(title, *map(_kilowatt_hours, values), "kWh")
                title = ""
            table.add_row(title, *(spell(figure, value) for value in values), figure.unit.value[0])
        if told:
            table.add_section()
    return table


def batsim_table(names: Sequence[str], runs: Sequence[BatsimFigures]) -> Table:
    """A row for each column of Batsim's `_schedule.csv`, under its name."""
    table = _table(names)
    for name in BatsimFigures.__struct_fields__:
        values = [getattr(run, name) for run in runs]
        table.add_row(name, *(batsim_cell(value) or NOTHING for value in values), "")
    return table


def spell(figure: Figure, value: float | None) -> str:
    """A figure as people read it, without its unit."""
    if figure.field == "users" and not value:
        return NO_USERS
    if value is None:
        return NOTHING
    _, factor, digits = figure.unit.value
    return f"{value * factor:z{digits}}"


def batsim_cell(value: float | None) -> str:
    """A figure as Batsim writes it; empty if it is not known."""
    if value is None:
        return ""
    return str(value) if isinstance(value, int) else f"{value:z.6f}"


def _table(names: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False)
    table.add_column("", no_wrap=True)
    for name in names:
        table.add_column(Text(displayed(name)), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, style="dim")
    return table


def _kilowatt_hours(joules: float | None) -> str:
    return NOTHING if joules is None else f"{joules / JOULES_PER_KWH:.3f}"


def _tells(figure: Figure, values: Sequence[float | None]) -> bool:
    """False if a row would hold nothing, or zeros that are usual."""
    if figure.field == "users":
        return True
    return any(values) if figure.field in _USUALLY_ZERO else any(value is not None for value in values)


_USUALLY_ZERO: Final = frozenset(
    {"failed", "walltime_reached", "killed", "rejected", "with_deadline"}
    | {"sleeping_time", "switching_on_time", "switching_off_time", "unavailable_time"}
)

"""The rows of the summary: a figure of each run, what differs from the first run, and which run is best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain
from typing import Final

from msgspec import Struct

from batsched_py.reporting.formatting.durations import clock
from batsched_py.reporting.metrics.figure_tables import SECTIONS, Figure, Unit, spell
from batsched_py.reporting.metrics.run_figures import RunFigures
from batsched_py.wording import NARROW_BLANK, NOTHING, grouped, kilowatt_hours

#: What the summary shows, if any run has it; the others are one click away.
_MAIN: Final = (
    *("hosts", "jobs", "successful", "failed", "walltime_reached", "killed", "rejected"),
    *("makespan", "utilisation", "throughput", "mean_wait", "p90_wait", "max_wait", "mean_turnaround"),
    *("mean_bounded_slowdown", "p90_bounded_slowdown", "mean_queue_length", "energy", "mean_power"),
)
#: Shown although they are 0: that nobody waits is news.
_ALWAYS: Final = frozenset(_MAIN[7:17]) | {"hosts", "jobs"}
#: Smaller parts of a figure, or of 1 for shares, are not shown as differences.
_SHOWN: Final = 0.0005
#: From here on "12.3 times" says more than "+1130.0 %".
_MANY: Final = 10


class Cell(Struct, frozen=True):
    """A figure of a run.

    Attributes:
        text: as people read it.
        exact: the number behind it, with its unit; empty if the text says it all.
        delta: how it differs from the first run's; empty for the first run and where nothing can be said.
        best: True if no run is better and some run is worse, as far as differences are shown.
    """

    text: str
    exact: str = ""
    delta: str = ""
    best: bool = False


class Row(Struct, frozen=True):
    """A figure: its name, a cell for each run, and whether it is a part of the row above."""

    name: str
    cells: tuple[Cell, ...]
    part: bool = False


def summary_rows(runs: Sequence[RunFigures], *, ranked: bool = True) -> list[Row]:
    """What most readers look for; `ranked` tells which run is best."""
    known = {figure.field: figure for figure in chain.from_iterable(SECTIONS)}
    return _rows([known[field] for field in _MAIN], runs, ranked=ranked)


def other_rows(runs: Sequence[RunFigures], *, ranked: bool = True) -> list[Row]:
    """All that the summary leaves out and a run has."""
    figures = [figure for figure in chain.from_iterable(SECTIONS) if figure.field not in _MAIN]
    return _rows(figures, runs, ranked=ranked)


def _rows(figures: Sequence[Figure], runs: Sequence[RunFigures], *, ranked: bool) -> list[Row]:
    rows = []
    for figure in figures:
        values = [getattr(run, figure.field) for run in runs]
        if any(values) or (figure.field in _ALWAYS and any(value is not None for value in values)):
            rows.append(_row(figure, values, ranked=ranked))
    return rows


def _row(figure: Figure, values: Sequence[float | None], *, ranked: bool) -> Row:
    best, first = _best(figure, values) if ranked else None, values[0]
    cells = []
    for number, value in enumerate(values):
        if value is None:
            cells.append(Cell(NOTHING))
            continue
        delta = _delta(figure.unit, first, value) if number and first is not None else ""
        text, exact = _told(figure, value)
        cells.append(Cell(text, exact, delta, best is not None and _alike(figure.unit, value, best)))
    return Row(figure.title.strip(), tuple(cells), figure.title.startswith(" "))


def _told(figure: Figure, value: float) -> tuple[str, str]:
    """As people read it, and the number behind it."""
    spelled = f"{spell(figure, value)} {figure.unit.value[0]}".strip()
    match figure.unit:
        case Unit.SECONDS:
            return clock(value), spelled
        case Unit.JOULES:
            return kilowatt_hours(value), spelled
        case Unit.COUNT:
            return grouped(value, NARROW_BLANK), ""
        case Unit.NUMBER:
            return f"{value:.2f}", spelled
        case _:
            return spelled, ""


def _best(figure: Figure, values: Sequence[float | None]) -> float | None:
    """The best value; None if none is visibly better than another, or if it is no matter of better and worse."""
    told = [value for value in values if value is not None]
    if not figure.better or len(told) < 2 or _alike(figure.unit, min(told), max(told)):
        return None
    return max(told) if figure.better == "more" else min(told)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _alike(unit: Unit, one: float, other: float) -> bool:
    """True if the difference is too small to be shown: it rounds to 0.0 points or percent."""
    scale = 1.0 if unit is Unit.SHARE else 0.0 if unit is Unit.COUNT else min(abs(one), abs(other))
    return _equal(one, other) or abs(one - other) < _SHOWN * scale


def _relative(first: float, value: float) -> str:
    if not first:
        return ""
    return f"{100 * (value / first - 1):+.1f} %" if value < _MANY * first else f"{value / first:.1f} times"


def _delta(unit: Unit, first: float, value: float) -> str:
    """Counts by how many, shares by how many points, all else by how many percent."""
    if _equal(first, value):
        return "" if unit is Unit.COUNT else "same"
    match unit:
        case Unit.COUNT:
            told = f"{value - first:+.0f}"
        case Unit.SHARE:
            told = f"{100 * (value - first):+.1f} points"
        case _:
            told = _relative(first, value)
    if not told.strip("+-.0 %points"):
        told = told[1:]  # nothing has no sign
    return told.replace("-", "\N{MINUS SIGN}")  # as wide as a plus

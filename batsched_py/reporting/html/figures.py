"""The rows of the summary: a figure of each run, what differs from the first run, and which run is best."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, Literal

from msgspec import Struct

from batsched_py.reporting.durations import HOUR, clock
from batsched_py.reporting.metrics import Metrics, measure
from batsched_py.reporting.schedule import Schedule
from batsched_py.reporting.tables import NOTHING, STATE_NAMES

Better = Literal["lower", "higher", ""]


class Cell(Struct, frozen=True):
    """A figure of a run.

    Attributes:
        text: as people read it.
        exact: the number behind it, with its unit; empty if the text says it all.
        delta: how it differs from the first run's; empty for the first run and where nothing can be said.
        best: True if no run is better and some run is worse.
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


class _Run(Struct, frozen=True):
    schedule: Schedule
    metrics: Metrics


class _Figure(Struct, frozen=True):
    """How a figure is taken from a run and told; `differ` tells a value beside the first run's."""

    name: str
    value: Callable[[_Run], float | None]
    better: Better
    text: Callable[[float], str]
    exact: Callable[[float], str] | None = None
    differ: Callable[[float, float], str] | None = None


def summary_rows(schedules: Sequence[Schedule]) -> list[Row]:
    """The table of all runs; figures that no run has are left out."""
    runs = [_Run(schedule, measure(schedule.jobs, schedule.hosts)) for schedule in schedules]
    rows = [_row(_count("hosts", lambda run: run.metrics.hosts), runs), _row(_count("jobs", _jobs), runs)]
    rows += [
        _row(_state(state), runs, part=True) for state in dict.fromkeys(s for run in runs for s in run.metrics.states)
    ]
    if any(schedule.unlisted for schedule in schedules):
        rows.append(_row(_count("not in the jobs file", lambda run: run.schedule.unlisted), runs, part=True))
    measured = [_row(figure, runs) for figure in _FIGURES]
    return [*rows, *(row for row in measured if any(cell.text != NOTHING for cell in row.cells))]


def _state(state: str) -> _Figure:
    """How many jobs ended in it."""
    return _count(STATE_NAMES.get(state, state), lambda run: run.metrics.states.get(state, 0))


def _jobs(run: _Run) -> int:
    return run.metrics.jobs + run.schedule.unlisted


def _row(figure: _Figure, runs: Sequence[_Run], *, part: bool = False) -> Row:
    values = [figure.value(run) for run in runs]
    told = [value for value in values if value is not None]
    best = _best(told, figure.better)
    cells = []
    for number, value in enumerate(values):
        if value is None:
            cells.append(Cell(NOTHING))
            continue
        first = values[0]
        delta = (figure.differ or _relative)(first, value) if number and first is not None else ""
        exact = figure.exact(value) if figure.exact is not None else ""
        cells.append(Cell(figure.text(value), exact, delta, best is not None and _equal(value, best)))
    return Row(figure.name, tuple(cells), part)


def _best(values: Sequence[float], better: Better) -> float | None:
    """The best value; None if none is better than another, or if it is no matter of better and worse."""
    if not better or len(values) < 2 or _equal(min(values), max(values)):
        return None
    return min(values) if better == "lower" else max(values)


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)


def _relative(first: float, value: float) -> str:
    if _equal(first, value):
        return "same"
    return _signed(f"{100 * (value - first) / first:+.1f} %") if first else ""


def _points(first: float, value: float) -> str:
    return "same" if _equal(first, value) else _signed(f"{100 * (value - first):+.1f} points")


def _difference(first: float, value: float) -> str:
    return "" if _equal(first, value) else _signed(f"{value - first:+.0f}")


def _signed(text: str) -> str:
    """With a minus that is as wide as a plus."""
    return text.replace("-", "\N{MINUS SIGN}")


def grouped_digits(number: float) -> str:
    """A whole number as people read it: "28 481", with narrow blanks that do not break."""
    return f"{number:,.0f}".replace(",", "\N{NARROW NO-BREAK SPACE}")


def _seconds(value: float) -> str:
    return f"{value:.3f} s"


def _percent(value: float) -> str:
    return f"{100 * value:.2f} %"


def _count(name: str, value: Callable[[_Run], int]) -> _Figure:
    return _Figure(name, value, "", grouped_digits, differ=_difference)


def _duration(name: str, value: Callable[[_Run], float | None]) -> _Figure:
    return _Figure(name, value, "lower", clock, _seconds)


def _joules(run: _Run) -> float | None:
    """What Batsim tells in its `_schedule.csv`; None if energy was not counted."""
    text = run.schedule.figures.get("consumed_joules", "")
    try:
        joules = float(text)
    except ValueError:
        return None
    return joules or None


_FIGURES: Final = (
    _duration("makespan", lambda run: run.metrics.makespan),
    _Figure(
        "utilisation",
        lambda run: run.metrics.utilisation,
        "higher",
        lambda value: f"{100 * value:.2f} %",
        differ=_points,
    ),
    _Figure("throughput", lambda run: run.metrics.throughput, "higher", lambda value: f"{value * HOUR:.2f} jobs/h"),
    _duration("mean wait", lambda run: run.metrics.mean_wait),
    _duration("maximum wait", lambda run: run.metrics.max_wait),
    _duration("mean turnaround", lambda run: run.metrics.mean_turnaround),
    _Figure(
        "mean bounded slowdown",
        lambda run: run.metrics.mean_bounded_slowdown,
        "lower",
        lambda value: f"{value:.2f}",
        lambda value: f"{value:.6f}",
    ),
    _Figure("energy", _joules, "lower", lambda value: f"{value / 3.6e6:.3f} kWh", lambda value: f"{value:.1f} J"),
)

"""Quantities that grow over time, thinned so that means between the points that remain are exact."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from batsched_py.simulator.outputs.tracing import EnergyRows, StateRows

#: So many points are kept, about: more than a picture is wide.
MOST_POINTS: Final = 4000


class Growth(Struct, frozen=True):
    """Totals since the start of the simulation, at times that ascend strictly.

    Attributes:
        time: in seconds.
        totals: one column for each quantity, as long as `time`.
    """

    time: list[float]
    totals: list[list[float]]


def energy_growth(rows: EnergyRows, most: int = MOST_POINTS) -> Growth | None:
    """Joules of all hosts since 0 over time, whenever the first row was written; None if no time passes."""
    late = bool(rows.times) and rows.times[0] > 0
    times, joules = [0.0] * late + list(rows.times), [0.0] * late + list(rows.joules)
    kept = _kept(times, most)
    if len(kept) < 2:
        return None
    return Growth([times[row] for row in kept], [[joules[row] for row in kept]])


def state_growth(rows: StateRows, hosts: int) -> Growth | None:
    """Host seconds in each state over time; None if no host ever sleeps or switches, or if no time passes.

    Before the first row all of the `hosts` are idle.
    """
    late = bool(rows.times) and rows.times[0] > 0
    times = [0.0] * late + list(rows.times)
    kept = _kept(times, MOST_POINTS)
    if rows.always_awake or len(kept) < 2:
        return None
    totals = [
        _integral(times, [hosts if state == "idle" else 0] * late + list(counts))
        for state, counts in rows.columns().items()
    ]
    return Growth([times[row] for row in kept], [[total[row] for row in kept] for total in totals])


def _integral(times: Sequence[float], counts: Sequence[int]) -> list[float]:
    """The sum of counts times seconds up to each row; a count holds from its row on."""
    total, totals = 0.0, [0.0]
    for (before, after), count in zip(pairwise(times), counts, strict=False):
        total += count * (after - before)
        totals.append(total)
    return totals


def _kept(times: Sequence[float], most: int) -> list[int]:
    """The first row, and the last of each instant; of too many instants, the last of each of some equal pieces of time.

    Totals do not change during an instant: any of its rows will do.
    """
    if not times:
        return []
    piece = (times[-1] - times[0]) / most if len(times) > most else 0.0
    last = {(int((time - times[0]) / piece) if piece > 0 else time): row for row, time in enumerate(times)}
    return [0, *(row for row in last.values() if times[row] > times[0])]

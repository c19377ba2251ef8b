"""The figures that algorithms are compared by: those of docs/metrics.md for which one way is better than the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from batsched_py.campaigns.study import Outcome
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.figure_tables import SECTIONS, Unit
from batsched_py.wording import unknown


class Figure(Struct, frozen=True):
    """One figure of a run.

    Attributes:
        name: as users write it, a field of RunFigures.
        title: as tables show it.
        unit: of what tables show; "" for none.
        scale: what a value is multiplied by to be in this unit.
        digits: after the point.
        more_is_better: False if the smaller value is the better one.
    """

    name: str
    title: str
    unit: str = ""
    scale: float = 1.0
    digits: int = 1
    more_is_better: bool = False

    @property
    def heading(self) -> str:
        """The title with the unit."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title

    def of(self, outcome: Outcome) -> float | None:
        """Its value, in the units of RunFigures; None if it has no meaning, or the run failed."""
        value: float | None = None if outcome.figures is None else getattr(outcome.figures, self.name)
        return value

    def text(self, value: float) -> str:
        """A value in the unit of tables."""
        return f"{value * self.scale:z.{self.digits}f}"


#: Titles that would say nothing without the row above them.
_TITLES: Final = {
    "mean_per_processor_bounded_slowdown": "mean per-processor bounded slowdown",
    "deadlines_met": "deadlines met",
}
#: Means over workloads: fewer digits than of one run.
_DIGITS: Final = {Unit.COUNT: 1, Unit.NUMBER: 3, Unit.SECONDS: 1, Unit.SHARE: 2, Unit.RATE: 2}

#: By their names, in the order of RunFigures.
FIGURES: Final = {
    known.field: Figure(
        known.field,
        _TITLES.get(known.field, known.title.strip()),
        known.unit.value[0],
        known.unit.value[1],
        _DIGITS.get(known.unit, 1),
        known.better == "more",
    )
    for section in SECTIONS
    for known in section
    if known.better
}

ENERGY: Final = "energy"
#: What is shown if nobody asks for others; energy, if it was counted.
SHOWN: Final = ("mean_wait", "p90_wait", "max_wait", "mean_bounded_slowdown", "utilisation", "makespan")


def find_figures(names: Sequence[str]) -> tuple[Figure, ...]:
    """The figures of these names. OptionError for a name that there is not, or that comes twice."""
    for name in names:
        if name not in FIGURES:
            raise OptionError(f"figure {name}: {unknown(name, FIGURES)}")
    if len(set(names)) < len(names):
        raise OptionError(f"figures must be named once each, not {','.join(names)}")
    return tuple(FIGURES[name] for name in names)

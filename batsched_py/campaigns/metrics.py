"""The metrics for comparing algorithms: those of docs/metrics.md for which smaller or larger values are better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.bootstrap import Pairs
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import METRIC_INFO, RunMetrics, Unit
from batsched_py.text.wording import decimals, unknown


class Metric(Struct, frozen=True):
    """One number that describes a run.

    Attributes:
        name: a field of RunMetrics, as in options of commands.
        title: title in tables.
        unit: unit in tables; "" for none.
        scale: factor from SI units to the unit of tables.
        digits: digits after the point.
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
        """Return the title with the unit."""
        return f"{self.title} [{self.unit}]" if self.unit else self.title

    def of(self, run: RunMetrics) -> float | None:
        """Return the value of a run in SI units; None if it is undefined for the run."""
        value: float | None = getattr(run, self.name)
        return value

    def text(self, value: float) -> str:
        """Format a value in the unit of tables."""
        return f"{value * self.scale:z.{self.digits}f}"

    def rounded(self, values: Iterable[float]) -> Metric:
        """Return the metric with the digits of a table in which these values (SI units) are the ones compared."""
        return replace(self, digits=decimals((value * self.scale for value in values), self.digits))

    def balance(self, pairs: Pairs) -> str:
        """Format the number of observations on which the first is better, equal and worse: "7/1/2"."""
        better, worse = (pairs.larger, pairs.smaller) if self.more_is_better else (pairs.smaller, pairs.larger)
        return f"{better}/{pairs.equal}/{worse}"


#: Titles that have a meaning only below another row.
_TITLES: Final = {
    "mean_per_processor_bounded_slowdown": "mean per-processor bounded slowdown",
    "deadlines_met": "deadlines met",
    "mean_best_effort_real_slowdown": "slowdown of best effort against its real run",
}
#: Digits of means over workloads, which are fewer than those of one run.
_DIGITS: Final = {Unit.COUNT: 1, Unit.NUMBER: 3, Unit.SECONDS: 1, Unit.SHARE: 2, Unit.RATE: 2}

#: Digits of ratios.
RATIO_DIGITS: Final = 3

#: Name -> metric, in the order of RunMetrics.
METRICS: Final = {
    name: Metric(
        name,
        _TITLES.get(name, info.title.strip()),
        info.unit.value[0],
        info.unit.value[1],
        _DIGITS.get(info.unit, 1),
        info.better == "more",
    )
    for name, info in METRIC_INFO.items()
    if info.better
}

ENERGY: Final = "energy"
#: The default of `compare --metrics`, with energy if it was counted.
SHOWN: Final = ("mean_wait", "p90_wait", "max_wait", "mean_bounded_slowdown", "utilisation", "makespan")


def find_metrics(names: Sequence[str]) -> tuple[Metric, ...]:
    """Return the metrics of these names. OptionError for an unknown or a repeated name."""
    for name in names:
        if name not in METRICS:
            raise OptionError(f"metric {name}: {unknown(name, METRICS)}")
    if len(set(names)) < len(names):
        raise OptionError(f"metrics must be named once each, not {','.join(names)}")
    return tuple(METRICS[name] for name in names)

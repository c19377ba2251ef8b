"""The metrics for comparing algorithms: those of docs/metrics.md for which smaller or larger values are better."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from batsched_py.campaigns.bootstrap import Pairs
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.catalogue import METRIC_INFO, MetricInfo, Unit
from batsched_py.text.display import displayed
from batsched_py.text.wording import unknown

#: Digits of means over workloads, which are fewer than those of one run.
_DIGITS: Final = {Unit.COUNT: 1, Unit.NUMBER: 3, Unit.SECONDS: 1, Unit.SHARE: 2, Unit.RATE: 2}

#: Digits of ratios.
RATIO_DIGITS: Final = 3

#: Name -> metric, in the order of RunMetrics.
METRICS: Final = {
    name: replace(info, title=info.alone or info.title.strip(), digits=_DIGITS.get(info.unit, 1))
    for name, info in METRIC_INFO.items()
    if info.better
}

ENERGY: Final = "energy"
#: The default of `compare --metrics`, with energy if it was counted.
SHOWN: Final = ("mean_wait", "p90_wait", "max_wait", "mean_bounded_slowdown", "utilisation", "makespan")


def find_metrics(names: Sequence[str]) -> tuple[MetricInfo, ...]:
    """Return the metrics of these names. OptionError for an unknown or a repeated name."""
    for name in names:
        if name not in METRICS:
            raise OptionError(f"metric {displayed(name)}: {unknown(name, METRICS)}")
    if len(set(names)) < len(names):
        raise OptionError(f"metrics must be named once each, not {','.join(names)}")
    return tuple(METRICS[name] for name in names)


def balance(metric: MetricInfo, pairs: Pairs) -> str:
    """Format the number of observations on which the first is better, equal and worse: "7/1/2"."""
    better, worse = (pairs.larger, pairs.smaller) if metric.more_is_better else (pairs.smaller, pairs.larger)
    return f"{better}/{pairs.equal}/{worse}"

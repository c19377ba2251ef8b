"""A search for options of an algorithm, and its trials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from batsched_py.campaigns.tuning.search_space import Space
from batsched_py.reporting.metrics.catalogue import MetricInfo


class Tuning(Struct, frozen=True):
    """A search for options of an algorithm.

    Attributes:
        algorithm: as after -s.
        fixed: options that all trials have.
        spaces: option -> the values among which it is chosen.
        metric: the objective: its mean over all runs.
        trials: number of trials.
        seed: of the search.
    """

    algorithm: str
    fixed: Mapping[str, Any]
    spaces: Mapping[str, Space]
    metric: MetricInfo
    trials: int
    seed: int = 0


class Trial(Struct, frozen=True):
    """Options that were tried.

    Attributes:
        number: from 0 on.
        options: the chosen options.
        value: mean of the metric over all runs, in SI units; None if a run failed or has no such metric.
        error: of a run that failed.
        made: number of runs that were not in the store before.
    """

    number: int
    options: Mapping[str, Any]
    value: float | None = None
    error: str = ""
    made: int = 0


def best_trials(trials: Sequence[Trial], metric: MetricInfo) -> list[Trial]:
    """Return the trials that have a value, best first; ties keep their order."""
    found = [(trial.value, trial.number, trial) for trial in trials if trial.value is not None]
    sign = -1 if metric.more_is_better else 1
    return [trial for _, _, trial in sorted(found, key=lambda one: (sign * one[0], one[1]))]

"""The outcome of one run of a study: its metrics and warnings, or its error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from batsched_py.model.features import Features
from batsched_py.reporting.metrics.catalogue import RunMetrics
from batsched_py.reporting.metrics.job_sample import JobSample
from batsched_py.reporting.metrics.warm_up import WarmUpEnd
from batsched_py.text.representation import Brief


class Outcome(Brief, frozen=True):
    """The outcome of one algorithm on one workload.

    Attributes:
        workload, variant: names.
        metrics: the metrics of the run, as `batsched-py metrics` has them; None if it failed.
        ran: equal for two runs if the same jobs ran, whatever their final states.
        succeeded: equal for two runs if the same jobs succeeded.
        warnings: warnings, a line each.
        approximations: simplifications of the simulator, a line each.
        error: one line if the run failed; "" if it ended normally.
        exit_code: the exit code for the error; 0 without one.
        options: options that the algorithm ran with, defaults included, as JSON values.
        features: the features that the algorithm requested of Batsim 5; None for earlier versions.
        jobs: the jobs in groups, if the study compares groups; None if it does not, or the run failed.
        warm_up: the end of the warm-up, if it was to be found.
    """

    workload: str
    variant: str
    metrics: RunMetrics | None = None
    ran: str = ""
    succeeded: str = ""
    warnings: tuple[str, ...] = ()
    approximations: tuple[str, ...] = ()
    error: str = ""
    exit_code: int = 0
    options: Mapping[str, Any] = {}
    features: Features | None = None
    jobs: JobSample | None = None
    warm_up: WarmUpEnd | None = None

    @property
    def failed(self) -> bool:
        """True if the run ended with an error."""
        return bool(self.error)

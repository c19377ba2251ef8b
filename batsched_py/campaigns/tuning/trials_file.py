"""The trials of a search as a CSV file, one row each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from batsched_py.campaigns.tuning.trial import Trial
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.table_file import csv_rows
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.text.wording import spelled

#: Name of the file, in the folder of a campaign's results.
TRIALS: Final = "trials.csv"


def write_trials(path: Path, trials: Sequence[Trial], metric: MetricInfo) -> None:
    """Write number, options, value in SI units and error of each trial, in their order. OSError."""
    options = list(trials[0].options) if trials else []
    rows = [[one.number, *(spelled(one.options[name]) for name in options), one.value, one.error] for one in trials]
    write_atomically(path, csv_rows([["trial", *options, metric.name, "error"], *rows]))

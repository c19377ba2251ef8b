"""The trials of a search as a CSV file, one row each."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from batsched_py.campaigns.tuning.trial import Trial
from batsched_py.files.atomic_file import write_atomically
from batsched_py.reporting.metrics.catalogue import MetricInfo
from batsched_py.text.display import spreadsheet_cell
from batsched_py.text.wording import spelled

#: Name of the file, in the folder of a campaign's results.
TRIALS: Final = "trials.csv"


def write_trials(path: Path, trials: Sequence[Trial], metric: MetricInfo) -> None:
    """Write number, options, value in SI units and error of each trial, in their order. OSError."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    options = list(trials[0].options) if trials else []
    rows.writerow(["trial", *options, metric.name, "error"])
    for trial in trials:
        chosen = [spreadsheet_cell(spelled(trial.options[name])) for name in options]
        value = "" if trial.value is None else repr(trial.value)
        rows.writerow([trial.number, *chosen, value, spreadsheet_cell(trial.error)])
    write_atomically(path, text.getvalue().encode())

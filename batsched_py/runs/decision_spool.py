"""The file of decisions of a run, with a temporary file in the same folder for its rows during the run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from batsched_py.files.output_file import existing_folder, naming_errors, writing
from batsched_py.files.text_spool import TextSpool
from batsched_py.hostset import HostSet
from batsched_py.model.decision_row import DecisionRow
from batsched_py.results.decisions_file import COLUMNS, DECISIONS, decision_lines
from batsched_py.results.records import Result


class DecisionSpool(TextSpool):
    """Rows of PREFIX_decisions.csv. InputError if they cannot be written."""

    def __init__(self, prefix: str) -> None:
        self.path = Path(prefix + DECISIONS)
        with naming_errors(self.path):
            super().__init__(existing_folder(self.path))

    def add(self, rows: Sequence[DecisionRow]) -> None:
        """Store rows on disk."""
        with naming_errors(self.path):
            self.put(decision_lines(rows))

    def write(self) -> None:
        """Write the file, completely or not at all."""
        with writing(self.path):
            self.write_below(",".join(COLUMNS), self.path)


def outage_rows(result: Result) -> list[DecisionRow]:
    """Return the simulation's own rows: its hosts, and those made unavailable by external events."""
    rows = [DecisionRow(0.0, "hosts", hosts=HostSet.range(result.host_count))]
    for time, hosts in result.unavailable:
        rows += [DecisionRow(time, "down", hosts=hosts), DecisionRow(time, "unavailable", hosts=hosts)]
    return rows


def decision_spool(prefix: str | None) -> AbstractContextManager[DecisionSpool | None]:
    """Store rows on disk for the file of a prefix; yield None without a prefix."""
    return nullcontext() if prefix is None else DecisionSpool(prefix)

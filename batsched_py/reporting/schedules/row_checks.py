"""Consistency checks of the columns within one row of a jobs file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.reporting.schedules.contradictions import ContradictionKind, Contradictions
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown

#: The rounding error of sums and differences of times with six decimals, in seconds.
_RESOLUTION: Final = 3e-6
#: The relative error of large times as 64-bit floating-point numbers.
_PRECISION: Final = 1e-15
#: Derived columns, which are read only for checks: property -> its name in all versions.
DERIVED: Final[Mapping[str, str]] = {
    "execution": "execution_time",
    "wait": "waiting_time",
    "turnaround": "turnaround_time",
}
#: The kinds of contradictions of these columns, in their order.
_KINDS: Final = (ContradictionKind.EXECUTION, ContradictionKind.WAIT, ContradictionKind.TURNAROUND)


class RowChecks:
    """The checks of the rows of one file."""

    def __init__(self, at: Mapping[str, int], found: Contradictions) -> None:
        """`at` maps each property in the file to the index of its column; contradictions are added to `found`."""
        self._found = found
        self._success, self._start, self._state = at["success"], at["start"], at.get("state")
        self._stretch = at["stretch"]
        self._derived = [at.get(name) for name in DERIVED]

    def rejected(self, record: JobRecord, row: Sequence[str], line: int) -> None:
        """Check the row of a job that was rejected."""
        if row[self._start] and row[self._start].strip("0."):
            started = shown(row[self._start])
            self._found.add(ContradictionKind.STATE, record.job.id, line, "is rejected, and started at %s", started)
        if row[self._success] == "1":
            self._found.add(ContradictionKind.STATE, record.job.id, line, "is rejected, and a success")

    def ran(self, record: JobRecord, row: Sequence[str], line: int) -> None:
        """Check the row of a job that ran."""
        if not self._is_right(record, row):
            self._report(record, row, line)

    def _is_right(self, record: JobRecord, row: Sequence[str]) -> bool:
        """Return True if a quick test shows that a row has no contradictions, as for nearly all; else False."""
        submitted, start, finish = record.job.submit_time, record.start, record.finish
        execution, wait, turnaround = self._derived
        if execution is None or wait is None or turnaround is None:
            return False
        tolerance = _RESOLUTION + _PRECISION * abs(finish)
        run, whole = finish - start, finish - submitted
        try:
            agree = (
                abs(float(row[execution]) - run) <= tolerance
                and abs(float(row[wait]) - (start - submitted)) <= tolerance
                and abs(float(row[turnaround]) - whole) <= tolerance
                and _is_stretch(float(row[self._stretch]), run, whole, tolerance)
            )
        except ValueError:
            return False
        success = self._state is None or (row[self._success] == "1") is record.success
        return agree and success and 0 <= submitted <= start + tolerance and start >= 0

    def _report(self, record: JobRecord, row: Sequence[str], line: int) -> None:
        job, start, finish = record.job, record.start, record.finish
        tolerance, submitted = _RESOLUTION + _PRECISION * abs(finish), job.submit_time
        if submitted < 0 or start < 0:
            self._found.add(
                ContradictionKind.NEGATIVE, job.id, line, "is submitted at %.6f, starts at %.6f", submitted, start
            )
        if start < submitted - tolerance:
            self._found.add(
                ContradictionKind.EARLY_START, job.id, line, "starts at %.6f, submitted at %.6f", start, submitted
            )
        expected = (finish - start, start - submitted, finish - submitted)
        for kind, column, time in zip(_KINDS, self._derived, expected, strict=True):
            if column is not None and not _agrees(row[column], time, tolerance):
                self._found.add(kind, job.id, line, "is %s, by its times %.6f", shown(row[column]), time)
        if not _is_stretch(float(row[self._stretch]), finish - start, finish - submitted, tolerance):
            ratio = (finish - submitted) / (finish - start)
            self._found.add(
                ContradictionKind.STRETCH, job.id, line, "is %s, by its times %.6f", shown(row[self._stretch]), ratio
            )
        if self._state is not None and (row[self._success] == "1") is not record.success:
            words = shown(row[self._success]), record.state
            self._found.add(ContradictionKind.STATE, job.id, line, "success is %s, final_state %s", *words)


def _agrees(written: str, expected: float, tolerance: float) -> bool:
    try:
        return abs(float(written) - expected) <= tolerance
    except ValueError:
        return False


def _is_stretch(stretch: float, run: float, turnaround: float, tolerance: float) -> bool:
    """Return whether a stretch is consistent; True also for a run too short to determine the stretch."""
    return run <= tolerance or abs(stretch * run - turnaround) <= tolerance * (1 + abs(stretch) + run)

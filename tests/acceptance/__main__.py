"""Checks against published results and recordings of real Batsim, which the project does not carry.

`python -m tests.acceptance FOLDER` where FOLDER has `traces/` (logs of the Parallel Workloads Archive with reference
start times, the log of RLScheduler's table, and an example run of Batsim with batsched) and `transcripts/`
(recordings). Exits with 1 if a check fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.acceptance.check import Check
from tests.acceptance.energy import inertial, medium_late, recorded_energy
from tests.acceptance.failures import failures
from tests.acceptance.metrics import metrics
from tests.acceptance.published import published
from tests.acceptance.recordings import recordings
from tests.acceptance.report_page import report_page
from tests.acceptance.table_v import table_v, without_quirks


def main() -> int:
    """Run every check, show a table, and tell whether all hold."""
    folder = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if folder is None or not (folder / "traces").is_dir():
        Console(stderr=True).print("usage: python -m tests.acceptance FOLDER (with traces and transcripts in it)")
        return 2
    table = Table("check", "expected", "found", "", title="acceptance")
    failed = 0
    transcripts = folder / "transcripts"
    checks: list[Check] = [
        *published(folder / "traces"),
        *table_v(folder / "traces"),
        *without_quirks(folder / "traces"),
        *medium_late(folder / "traces" / "medium_late"),
        *inertial(folder / "traces" / "medium_late"),
        *recordings(transcripts),
        *report_page(folder / "traces"),
        *recorded_energy(transcripts),
        *metrics(folder),
        *failures(folder / "traces"),
    ]
    for check in checks:
        table.add_row(check.name, check.expected, check.found, "ok" if check.holds else "FAILED")
        failed += not check.holds
    console = Console(width=150)
    console.print(table)
    console.print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

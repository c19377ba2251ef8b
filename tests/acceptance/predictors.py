"""Backfilling by predicted run times on the logs of SC'15: `python -m tests.acceptance.predictors TRACES`.

TRACES is a folder with the logs and reference starts. Prints the mean bounded slowdown (AVEbsld, threshold 10 s) and
the accuracy of the predictions for configurations of Gaussier and others, and compares the published values that the
folder has: those of EASY and EASY-SJBF with the run times themselves, which `clairvoyant` has here. Exits with 1 if a
value is not as published, or not as docs/reproductions.md has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from batsched_py.reporting.api import measure_run, schedule_of
from tests.acceptance.check import Check, near
from tests.acceptance.published import LOGS, Log, simulate_log

#: The order of events of the authors' simulator: a pass for each submission.
SJBF: Final = {"arrivals": "one_by_one", "backfill_order": "sjf"}
#: Title of a row -> options of `easy`.
ROWS: Final[Mapping[str, Mapping[str, str]]] = {
    "clairvoyant EASY": {"predictor": "clairvoyant"},
    "clairvoyant EASY-SJBF": {**SJBF, "predictor": "clairvoyant"},
    "EASY++": {**SJBF, "predictor": "last2"},
    "learning": {**SJBF, "predictor": "online"},
    "learning, correction=request": {**SJBF, "predictor": "online", "correction": "request"},
}
#: Log and row -> AVEbsld of docs/reproductions.md.
DOCUMENTED: Final[Mapping[tuple[str, str], float]] = {("KTH-SP2", "EASY++"): 68.53, ("KTH-SP2", "learning"): 59.87}


def rows_of(traces: Path, log: Log, table: Table) -> Iterator[Check]:
    """Simulate each row of a log, and compare it."""
    for title, options in ROWS.items():
        found = measure_run(schedule_of(simulate_log(traces, log, "request", options), title))
        slowdown = found.mean_bounded_slowdown or 0.0
        accuracy = (found.run_time_error, found.run_time_accuracy, found.under_predicted, found.mean_e_loss)
        table.add_row(log.name, title, f"{slowdown:.4f}", *(f"{value or 0.0:.4g}" for value in accuracy))
        exact = {"clairvoyant EASY": log.slowdown, "clairvoyant EASY-SJBF": log.sjf_slowdown}.get(title)
        if exact is not None:
            yield near(f"{log.name} {title}: AVEbsld as published", exact, slowdown, 0.00005)
        documented = DOCUMENTED.get((log.name, title))
        if documented is not None:
            yield near(f"{log.name} {title}: AVEbsld as documented", documented, slowdown, 0.005)


def main() -> int:
    """Run all rows; print both tables."""
    traces = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if traces is None or not (traces / "KTH-SP2.swf.gz").is_file():
        Console(stderr=True).print("usage: python -m tests.acceptance.predictors TRACES (a folder with KTH-SP2.swf.gz)")
        return 2
    console = Console(width=150)
    table = Table("log", "row", "AVEbsld", "mean error, s", "accuracy", "under-predicted", "mean E-Loss")
    checks = [check for log in LOGS for check in rows_of(traces, log, table)]
    console.print(table)
    for check in checks:
        console.print(f"{'ok' if check.holds else 'FAILED'}: {check.name}: {check.expected}, found {check.found}")
    return 0 if all(check.holds for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())

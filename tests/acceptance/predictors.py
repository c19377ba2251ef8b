"""Backfilling by predicted run times on the logs of SC'15: `python -m tests.acceptance.predictors TRACES`.

TRACES is a folder with the logs. Prints the mean bounded slowdown (AVEbsld, threshold 10 s) that Gaussier and others
published for a configuration, that of this program, and the accuracy of its predictions, each row when it is ready.
Exits with 1 if a value of a row that is reproduced is not as published, or another not as docs/reproductions.md has it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from rich.console import Console

from batsched_py.reporting.api import measure_run, schedule_of
from tests.acceptance.check import Check, near
from tests.acceptance.published import LOGS, Log, simulate_log

#: The order of events of the authors' simulator: a pass for each submission.
SJBF: Final = {"arrivals": "one_by_one", "backfill_order": "sjf"}


class Row(Struct, frozen=True):
    """A configuration of SC'15: options of `easy`, and mean bounded slowdowns by log.

    Attributes:
        published: of the authors' result files, `sim_analysis/metrics_complete` of their repository predictsim.
        documented: of docs/reproductions.md, where ours differ.
    """

    options: Mapping[str, str]
    published: Mapping[str, float]
    documented: Mapping[str, float] = {}


def _both(kth: float, sdsc: float) -> Mapping[str, float]:
    return {"KTH-SP2": kth, "SDSC-SP2": sdsc}


REQUEST: Final = {"correction": "request"}
DOUBLING: Final = {"correction": "doubling"}
#: Title -> row. The authors name `last2` tsafrir, `online` E-Loss, and `incremental` tsafrir.
ROWS: Final[Mapping[str, Row]] = {
    "clairvoyant": Row({"predictor": "clairvoyant"}, _both(71.7224, 70.4779)),
    "clairvoyant, SJBF": Row({**SJBF, "predictor": "clairvoyant"}, _both(49.8477, 56.8362)),
    "request, SJBF": Row(SJBF, _both(69.4054, 84.8889), _both(69.39, 83.0)),
    "EASY++": Row({**SJBF, "predictor": "last2"}, _both(63.5007, 79.3963), _both(68.53, 84.53)),
    "last2, request, SJBF": Row(
        {**SJBF, "predictor": "last2", **REQUEST}, _both(62.8569, 65.0636), _both(63.08, 66.35)
    ),
    "last2, doubling, SJBF": Row(
        {**SJBF, "predictor": "last2", **DOUBLING}, _both(64.5275, 98.0032), _both(61.04, 77.51)
    ),
    "online, incremental, SJBF": Row({**SJBF, "predictor": "online"}, _both(51.4411, 74.9520), _both(59.87, 99.0)),
    "online, request, SJBF": Row(
        {**SJBF, "predictor": "online", **REQUEST}, _both(60.2577, 72.2844), _both(59.4, 95.59)
    ),
    "online, doubling, SJBF": Row(
        {**SJBF, "predictor": "online", **DOUBLING}, _both(62.17, 81.68), _both(63.24, 108.21)
    ),
}


def rows_of(traces: Path, log: Log, console: Console) -> Iterator[Check]:
    """Simulate each row of a log, print it, and compare it."""
    for title, row in ROWS.items():
        found = measure_run(schedule_of(simulate_log(traces, log, "request", row.options), title))
        slowdown = found.mean_bounded_slowdown or 0.0
        accuracy = (found.run_time_error, found.run_time_accuracy, found.under_predicted, found.mean_e_loss)
        published = row.published[log.name]
        cells = [f"{published:.4f}", f"{slowdown:.4f}", f"{100 * (slowdown / published - 1):+.1f} %"]
        cells += ["" if value is None else f"{value:.4g}" for value in accuracy]
        console.print(f"{log.name:8} {title:34}" + "".join(f"{cell:>12}" for cell in cells))
        documented = row.documented.get(log.name)
        if documented is None:
            yield near(f"{log.name} {title}: AVEbsld as published", published, slowdown, 0.00005)
        else:
            yield near(f"{log.name} {title}: AVEbsld as documented", documented, slowdown, 0.005)


def main() -> int:
    """Run all rows; print the table, and then the checks."""
    traces = Path(sys.argv[1]) if len(sys.argv) == 2 else None
    if traces is None or not (traces / "KTH-SP2.swf.gz").is_file():
        Console(stderr=True).print("usage: python -m tests.acceptance.predictors TRACES (a folder with KTH-SP2.swf.gz)")
        return 2
    console = Console(width=150)
    headings = ("published", "ours", "difference", "error, s", "accuracy", "too short", "E-Loss")
    console.print(f"{'log':8} {'configuration':34}" + "".join(f"{heading:>12}" for heading in headings))
    checks = [check for log in LOGS for check in rows_of(traces, log, console)]
    for check in checks:
        console.print(f"{'ok' if check.holds else 'FAILED'}: {check.name}: {check.expected}, found {check.found}")
    return 0 if all(check.holds for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main())

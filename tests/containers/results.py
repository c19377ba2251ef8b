"""Files of results of two runs, compared."""

from __future__ import annotations

import csv
import json
from pathlib import Path

from batsched_py.results.decisions_file import DECISIONS

#: Columns of Batsim's `_schedule.csv` that a clock measured.
MEASURED = ("scheduling_time", "simulation_time")


def same_results(one: Path, other: Path) -> None:
    """Assert that two folders hold the same files, to the byte but for measured times.

    What an algorithm decided beside starts is written by the process that decides, and is left out.
    """
    names, others = (
        sorted(path.name for path in folder.iterdir() if not path.name.endswith(DECISIONS)) for folder in (one, other)
    )
    assert names == others
    assert names
    for name in names:
        if name.endswith("_run.json"):
            assert described(one / name) == described(other / name)
        elif name.endswith("_schedule.csv"):
            assert numbers(one / name) == numbers(other / name)
        else:
            assert (one / name).read_bytes() == (other / name).read_bytes(), name


def described(path: Path) -> dict[str, object]:
    """Return the version and the hashes of inputs of a run: not their paths, nor another program's algorithm."""
    run = json.loads(path.read_text())
    hashes = [run["platform"]["sha256"], *(workload["sha256"] for workload in run["workloads"])]
    return {"hashes": hashes, "version": run["version"]}


def numbers(path: Path) -> list[dict[str, str]]:
    """Without those that no two runs share."""
    with path.open(newline="") as file:
        return [{key: row[key] for key in row if key not in MEASURED} for row in csv.DictReader(file)]

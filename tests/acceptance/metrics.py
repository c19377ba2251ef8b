"""Batsim's own metrics, computed from the jobs that it wrote, against its `_schedule.csv`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import asdict

from batsched_py.reporting.api import Schedule, batsim_metrics, measure_run, read_schedule
from tests.acceptance.check import Check

#: Six digits in all, and the last of the six behind the point of a file's numbers, which are rounded one by one.
RELATIVE: Final = 1e-6
ABSOLUTE: Final = 2.5e-6

#: Run -> columns that no file tells, or that are defined otherwise; docs/metrics.md says why.
KNOWN: Final[Mapping[str, str]] = {
    "14_energy_watcher_query": "consumed_joules",
    "22_events_filler": "time_",
    "41_probe_events_kill_on_fail": "time_",
    "45_probe_pfs_storage": "nb_computing_machines",
    "o19_machine_events": "time_",
    "v310_events": "time_",
}

#: Our metrics that are Batsim's, too, where no job was rejected.
SHARED: Final[Mapping[str, str]] = {
    "makespan": "makespan",
    "mean_wait": "mean_waiting_time",
    "max_wait": "max_waiting_time",
    "mean_turnaround": "mean_turnaround_time",
    "max_turnaround": "max_turnaround_time",
    "mean_slowdown": "mean_slowdown",
    "max_slowdown": "max_slowdown",
}


def metrics(folder: Path) -> Iterator[Check]:
    """All runs that have both files, recorded and published."""
    jobs = [*folder.glob("transcripts/*/*/*_jobs.csv"), *folder.glob("traces/medium_late/*/*_jobs.csv")]
    runs = [read_schedule(path) for path in sorted(jobs) if _has_metrics(path)]
    compared, others = 0, []
    for run in runs:
        found = _differences(run)
        compared += sum(name in asdict(batsim_metrics(run)) for name in run.batsim_row)
        others += [f"{run.name} {name}" for name in found if not name.startswith(KNOWN.get(run.name, "nothing"))]
    shown = ", ".join(others[:3]) or f"{compared} metrics of {len(runs)} runs"
    yield Check("metrics --batsim: metrics of _schedule.csv, 6 digits", "all but the known", shown, not others)
    yield Check("... and there are enough of them", "at least 48 runs", f"{len(runs)} runs", len(runs) >= 48)
    without = [run for run in runs if run.ran and len(run.ran) == len(run.jobs) + run.unlisted]
    wrong = [f"{run.name} {name}" for run in without for name in _ours_that_differ(run)]
    named = f"metrics: {len(SHARED)} of our own metrics, no job rejected"
    yield Check(named, "Batsim's", ", ".join(wrong[:3]) or f"of {len(without)} runs", not wrong)


def _has_metrics(jobs: Path) -> bool:
    return jobs.with_name(jobs.name.replace("_jobs.csv", "_schedule.csv")).is_file()


def _differences(run: Schedule) -> list[str]:
    """Names of the metrics that are not Batsim's."""
    found = asdict(batsim_metrics(run))
    return [name for name, text in run.batsim_row.items() if name in found and not _equal(found[name], float(text))]


def _ours_that_differ(run: Schedule) -> list[str]:
    found = measure_run(run)
    return [ours for ours, theirs in SHARED.items() if not _equal(getattr(found, ours), float(run.batsim_row[theirs]))]


def _equal(found: float | None, told: float) -> bool:
    return found is not None and math.isclose(found, told, rel_tol=RELATIVE, abs_tol=ABSOLUTE)

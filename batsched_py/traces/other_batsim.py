"""Conversion of a workload for another version of Batsim, and the changes of its meaning."""

from __future__ import annotations

from collections.abc import Iterator

from batsched_py.model.workload import Workload
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.batsim5_json import lost_in_4, lost_in_5
from batsched_py.traces.workload_parts import without_unused_profiles


def prepared(workload: Workload, protocol: str) -> Workload:
    """Return the workload to write for a protocol: without unused profiles for Batsim 5, which crashes on them."""
    return without_unused_profiles(workload) if protocol == "v5" else workload


def lines_on_changes(workload: Workload, protocol: str) -> Iterator[str]:
    """Yield a line for each feature that the Batsim of a protocol cannot express, or interprets differently."""
    kept = prepared(workload, protocol)
    dropped = len(workload.profiles) - len(kept.profiles)
    if dropped:
        yield f"{counted(dropped, 'profile')} left out: no job uses {'it' if dropped == 1 else 'them'}"
    profiles = list(kept.profiles.values())
    divided = kept.divided_otherwise(protocol)
    if divided:
        here, there = ("n * n - n", "Batsim 4 by n") if protocol == "v5" else ("n", "Batsim 5 by n * n - n")
        yield f"{', '.join(map(displayed, divided))}: com of n hosts is divided by {here}, in {there}"
    yield from lost_in_5(profiles, kept.jobs) if protocol == "v5" else lost_in_4(profiles)

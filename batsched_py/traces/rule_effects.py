"""The rules of cleaning that were chosen and changed no job, which is reported: the log may lack what they need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from batsched_py.model.cancellation import CANCELLED_AFTER
from batsched_py.model.demand_members import DEMAND
from batsched_py.model.feedback import SUBMITTED_AFTER
from batsched_py.model.recorded_wait import RECORDED_WAIT
from batsched_py.model.workload import Workload
from batsched_py.text.display import displayed
from batsched_py.traces.cleaning import CleaningRules
from batsched_py.traces.slurm_members import SLURM

#: Attribute of CleaningRules -> the members of the jobs that it changes, one of which they have, and what no job has.
_MEMBERS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "cancelled": ((CANCELLED_AFTER,), "was cancelled before its start at a known time, with a known request"),
    "dependencies": (("depends_on", "singleton"), "has a preceding job among those that are kept"),
    "feedback": ((SUBMITTED_AFTER,), "follows an earlier job of its user"),
    "demands": ((DEMAND,), "has a known amount"),
    "slurm_members": ((SLURM,), "has a known value for it"),
    "recorded_waits": ((RECORDED_WAIT,), "has a known wait"),
}


def without_effect(rules: CleaningRules, workload: Workload) -> Iterator[str]:
    """Yield a line for each option of these rules that changed no job of a workload: "--demands had no effect: ..."."""
    chosen = [(name, members, lack) for name, (members, lack) in _MEMBERS.items() if getattr(rules, name)]
    for name, members, lack in chosen:
        if not _has_any(workload, members):
            yield f"--{name.replace('_', '-')} had no effect: no job {lack}"
    for field in rules.keep:
        if not _has_any(workload, (field, field.lower())):
            yield f"--keep had no effect for {displayed(field)}: no job has a known value"


def _has_any(workload: Workload, members: Iterable[str]) -> bool:
    extras: Iterator[Mapping[str, Any]] = (job.extra for job in workload.jobs)
    return any(member in extra for extra in extras for member in members)

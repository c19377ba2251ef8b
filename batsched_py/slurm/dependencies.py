"""Dependencies between jobs: `afterok:5:6,afterany:7`, alternatives by `?`, and `singleton`."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final

from batsched_py.slurm.jobs import PENDING, SlurmJob

MET, OPEN, NEVER = "met", "open", "never"
_REFERENCE: Final = re.compile(r"(\d{1,12})(?:\+(\d{1,6}))?")
KINDS: Final = frozenset({"after", "afterany", "afterok", "afternotok", "aftercorr"})


def dependency_state(job: SlurmJob, jobs: Mapping[int, Sequence[SlurmJob]], now: float) -> str:
    """Return whether the dependency of a job is met, open or never satisfied at an instant."""
    text = job.request.dependency
    if not text:
        return MET
    parts = text.split("?") if "?" in text else text.split(",")
    states = [_state(part, job, jobs, now) for part in parts]
    if "?" in text:
        return MET if MET in states else (OPEN if OPEN in states else NEVER)
    return NEVER if NEVER in states else (OPEN if OPEN in states else MET)


def longest_delay(job: SlurmJob) -> float:
    """Return the longest delay after the start of another job that a dependency has, in seconds."""
    return 60.0 * max((int(one) for one in re.findall(r"\+(\d{1,6})", job.request.dependency)), default=0)


def depended_on(job: SlurmJob) -> Iterator[Hashable]:
    """Yield the ids of the jobs on which a job depends, and user and name of those that a singleton depends on."""
    for part in job.request.dependency.replace("?", ",").split(","):
        kind, _, references = part.partition(":")
        if kind == "singleton":
            yield job.request.user, job.request.name
        else:
            yield from referenced(references)


def referenced(text: str) -> list[int]:
    """Return the ids in references such as `5:6+10`; 0, which no job has, for what is none."""
    matches = [_REFERENCE.fullmatch(reference) for reference in text.split(":")]
    return [int(match[1]) if match else 0 for match in matches]


def _state(part: str, job: SlurmJob, jobs: Mapping[int, Sequence[SlurmJob]], now: float) -> str:
    kind, _, references = part.partition(":")
    if kind == "singleton":
        every = [one for many in jobs.values() for one in many if one.sequence < job.sequence]
        same = [one for one in every if one.request.name == job.request.name and one.request.user == job.request.user]
        return MET if all(one.ended is not None for one in same) else OPEN
    states = [_of_one(kind, reference, job, jobs, now) for reference in references.split(":")]
    return NEVER if NEVER in states else (OPEN if OPEN in states else MET)


def _of_one(kind: str, reference: str, job: SlurmJob, jobs: Mapping[int, Sequence[SlurmJob]], now: float) -> str:
    match = _REFERENCE.fullmatch(reference)
    others = jobs.get(int(match[1]), ()) if match else ()
    if kind == "aftercorr":
        others = [one for one in others if one.task == job.task]
    if kind == "after":
        delay = int(match[2] or 0) * 60 if match else 0
        return MET if all(_has_begun(one, delay, now) for one in others) else OPEN
    if any(one.ended is None for one in others):
        failed = kind in {"afterok", "aftercorr"} and any(one.ended is not None and not one.exit_ok for one in others)
        return NEVER if failed else OPEN
    if kind in {"afterok", "aftercorr"}:
        return MET if all(one.exit_ok for one in others) else NEVER
    if kind == "afternotok":
        return MET if any(not one.exit_ok for one in others) else NEVER
    return MET


def _has_begun(job: SlurmJob, delay: float, now: float) -> bool:
    if job.state == PENDING:
        return False
    return job.started is None or now >= int(job.started) + delay

"""Parts of a workload of equal length: separate workloads for independent observations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.model.feedback import without_outer_feedback
from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, Delay, Receive
from batsched_py.model.workload import Workload
from batsched_py.text.wording import counted, seconds
from batsched_py.traces.job_conditions import without_outer_dependencies

#: Maximum number of parts: more are a typing error, and each becomes a file.
MOST_PARTS: Final = 10_000


class WorkloadPart(Struct, frozen=True):
    """The jobs submitted in [begin, end), in seconds on the clock of the whole workload; `number` counts from 1.

    Submission times of the part are relative to `begin`.
    """

    number: int
    begin: float
    end: float
    workload: Workload


def parts_of(workload: Workload, length: float) -> list[WorkloadPart]:
    """Cut a workload every `length` seconds from 0 on; empty parts are left out, but counted in the numbers.

    A job belongs to the part in which it is submitted, with its whole run time: the next part begins with an empty
    machine. OptionError for too many parts, or a length of 0.
    """
    if length <= 0:
        raise OptionError(f"--every: must be greater than 0 s, not {seconds(length)}")
    last = max(workload.submissions(), default=0.0) // length
    if last >= MOST_PARTS:
        raise OptionError(f"--every: must leave at most {MOST_PARTS} parts, not {last + 1:.0f} of {seconds(length)} s")
    return list(_parts(workload, length))


def later(start: datetime | None, passed: float) -> datetime | None:
    """Return the date `passed` seconds later; None without a date, or if the result is out of range."""
    try:
        return None if start is None else start + timedelta(seconds=passed)
    except OverflowError:
        return None


def part_of(workload: Workload, begin: float, end: float) -> Workload:
    """Return the jobs submitted in [begin, end) with times relative to `begin`. WorkloadError if there are none."""
    jobs = [job for job in workload.jobs if begin <= job.submit_time < end]
    if not jobs:
        raise WorkloadError(workload.source, "", f"has no job that the rules keep, of {len(workload.jobs)}")
    return _cut(workload, jobs, begin)


def jobs_of(workload: Workload, first: int, count: int) -> Workload:
    """Return `count` jobs in submission order, from index `first` on; times are relative to the first of them.

    WorkloadError if there are fewer jobs.
    """
    total = len(workload.jobs)
    if not (first >= 0 and 1 <= count <= total - first):
        raise WorkloadError(workload.source, "", f"has {counted(total, 'job')}, not {count} from number {first} on")
    jobs = workload.jobs[first : first + count]
    return _cut(workload, jobs, jobs[0].submit_time)


def without_unused_profiles(workload: Workload) -> Workload:
    """Return the workload without unused profiles; steps and continuations of used profiles are kept."""
    wanted = list(dict.fromkeys(name for name, _ in workload.requests()))
    used = set(wanted)
    while wanted:
        profile = workload.profiles[wanted.pop()]
        following = set(profile.parts if isinstance(profile, Composed) else ())
        if isinstance(profile, Receive):
            following.update(profile.continuations.values())
        wanted += sorted(following - used)
        used |= following
    if len(used) == len(workload.profiles):
        return workload
    return replace(workload, profiles={name: one for name, one in workload.profiles.items() if name in used})


def _parts(workload: Workload, length: float) -> Iterator[WorkloadPart]:
    for place, group in groupby(workload.jobs, key=lambda job: int(job.submit_time // length)):
        begin = place * length
        yield WorkloadPart(place + 1, begin, begin + length, _cut(workload, group, begin))


def _cut(workload: Workload, jobs: Iterable[Job], begin: float) -> Workload:
    """Return a workload of these jobs, whose clock starts at `begin`."""
    moved, cut = without_outer_dependencies([_moved(job, begin) for job in jobs])
    moved, freed = without_outer_feedback(moved)
    profiles = workload.profiles
    if all(isinstance(profile, Delay) for profile in profiles.values()):  # delays reference no other profiles
        used = {job.profile for job in moved}
        profiles = {name: profile for name, profile in profiles.items() if name in used}
    notes = [f"{counted(cut, 'dependency', 'dependencies')} on jobs outside of this part: not kept"] if cut else []
    if freed:
        notes.append(f"{counted(freed, 'submission')} after jobs outside of this part: at the times of the log")
    start = later(workload.log_start, begin)
    return replace(workload, jobs=moved, profiles=profiles, log_start=start, notes=(*workload.notes, *notes))


def _moved(job: Job, begin: float) -> Job:
    submitted = max(job.submit_time - begin, 0)  # rounding may give a negative time
    return replace(job, submit_time=submitted, members={**job.members, "subtime": submitted})

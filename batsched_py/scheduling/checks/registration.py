"""What may be registered: the rules for jobs and profiles of one's own that Batsim would abort or crash on."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Final

from batsched_py.model.job import Job
from batsched_py.model.limits import LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.model.profile import ALL_TRANSFERS, Composed, Delay, Parallel, ProfileError, parse_profile
from batsched_py.protocol.dialects import V4, V14, Dialect
from batsched_py.protocol.events import Members
from batsched_py.protocol.fields import FieldError, shown
from batsched_py.protocol.jobs import check_job_id, is_job_number, read_job
from batsched_py.wording import counted

#: The types of profiles of Batsim 3 and 4.
_TYPES: Final = frozenset(
    {
        *("delay", "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "composed"),
        *("parallel_homogeneous_pfs", "data_staging", "send", "recv", "smpi", "usage_trace", "trace"),
    }
)
#: What Batsim 1 has instead of those that begin with "parallel"; later versions do not know them.
_ONLY_BATSIM_1: Final = frozenset(
    {"msg_par", "msg_par_hg", "msg_par_hg_tot", "msg_par_hg_pfs", "msg_par_hg_pfs_tiers", "msg_par_hg_pfs0"}
)


def profile_fault(name: str, members: Members, dialect: Dialect, exists: Callable[[str], bool]) -> str | None:
    """The rule that a new profile breaks, or None; `exists` tells of the other profiles of its workload."""
    if not name or breaks_csv(name):
        return f"the name {NAME_RULE if name else 'must not be empty'}"
    if not isinstance(members, Mapping):
        return f"must be an object, not {shown(members)}"
    try:
        profile = parse_profile(name, members)
    except ProfileError as error:
        return f"{error.field}: {error.rule}"
    if profile.type not in _TYPES and (dialect is V4 or profile.type not in _ONLY_BATSIM_1):
        what = "a type of Batsim 1 only" if profile.type in _ONLY_BATSIM_1 else "not a type of profile"
        return f"type: {shown(profile.type)} is {what}"
    if profile.lacks_transfers:
        return f"com: {ALL_TRANSFERS}"
    if isinstance(profile, Delay) and profile.delay > LONGEST:
        return f"delay: {TOO_LONG} not {shown(profile.delay)}"
    if isinstance(profile, Composed):
        if dialect is V4:
            return "type: it is composed, and Batsim 4 crashes when it runs a composed profile that was registered"
        missing = [step for step in profile.sequence if not exists(step)]
        if missing:
            return f"seq: names the profile {shown(missing[0])}, which does not exist"
    return None


def job_fault(job: Job, dialect: Dialect) -> str | None:
    """The rule that a new job breaks, or None; whether its profile exists is another question."""
    try:
        check_job_id(job.id)
        described = read_job(job.id, job.members)
    except FieldError as error:
        return f"{error.path.removeprefix('job.')}: {error.rule}"
    if described != job:
        return "its members say something else than its attributes; make it with Job.create"
    if breaks_csv(job.id):
        return f"job_id: {NAME_RULE}"
    if dialect is V14 and not is_job_number(job.name):
        return f"job_id: Batsim 1 names jobs by integers (1 in {job.workload}!1), not {shown(job.name)}"
    if job.members.get("id", job.id) not in (job.id, job.name):
        return f"id: must be that of the job, not {shown(job.members['id'])}"
    if job.size == 0:
        return "it needs at least one host, Batsim runs no job on none"
    for what, value in (("walltime", job.walltime), ("subtime", job.submit_time)):
        if value is not None and not (math.isfinite(value) and value <= LONGEST):
            return f"{what}: {TOO_LONG} not {shown(value)}"
    return None


def pair_fault(job: Job, members: Members, lookup: Callable[[str], Members | None]) -> str | None:
    """The rule that a job breaks together with its profile, or with a step of it, or None; `lookup` finds the steps."""
    wanted = [members]
    seen: set[str] = set()
    while wanted:
        try:
            profile = parse_profile(job.profile, wanted.pop())
        except ProfileError:  # of a static workload: Batsim has read it, whatever it is
            continue
        if isinstance(profile, Parallel) and len(profile.cpu) != job.size:
            return f"profile {job.profile} is for {counted(len(profile.cpu), 'host')}, the job asks for {job.size}"
        if isinstance(profile, Composed):
            steps = [step for step in profile.sequence if step not in seen]
            seen.update(steps)
            wanted += [found for step in steps if (found := lookup(step)) is not None]
    return None

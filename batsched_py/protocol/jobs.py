"""Jobs and job progress inside messages: the objects that several events share."""

from __future__ import annotations

from typing import Any, Final

from batsched_py.model.job import Job
from batsched_py.model.limits import SHORTEST
from batsched_py.protocol.events import Progress
from batsched_py.protocol.fields import Data, FieldError, integer, mapping, shown, text

#: The largest number that Batsim 1 can read (a C int).
_LARGEST: Final = 2**31 - 1
#: Deeper progress trees are refused: no composed profile nests like that, a hostile message might.
MAX_NESTING: Final = 100


def check_job_id(job_id: str) -> None:
    """A job's id is `workload!name` (E7)."""
    workload, mark, name = job_id.partition("!")
    if not (workload and mark and name):
        raise FieldError("job_id", f"must be workload!name, not {shown(job_id)}")


def is_job_number(name: str) -> bool:
    """True if Batsim 1 reads this name of a job as the integer that it writes in the same way."""
    if not (name.isascii() and name.isdecimal() and len(name) <= len(str(_LARGEST))):
        return False
    return int(name) <= _LARGEST and str(int(name)) == name


def read_job(job_id: str, data: Data) -> Job:
    """The `job` object of a message; `walltime` absent or -1 means none."""
    size = data.get("res")
    if type(size) is not int or size < 0:
        raise FieldError("job.res", f"must be an integer from 0, not {shown(size)}")
    profile = data.get("profile")
    if type(profile) is not str:
        raise FieldError("job.profile", f"must be a string, not {shown(profile)}")
    submit_time = data.get("subtime", 0.0)
    if (type(submit_time) is not float and type(submit_time) is not int) or submit_time < 0:
        raise FieldError("job.subtime", f"must be a number of seconds from 0, not {shown(submit_time)}")
    walltime = data.get("walltime")
    if walltime is not None:
        if type(walltime) is not float and type(walltime) is not int:
            raise FieldError("job.walltime", f"must be a number of seconds, not {shown(walltime)}")
        if walltime < SHORTEST:
            if walltime > 0:
                raise FieldError("job.walltime", f"must be at least {SHORTEST:g} s, not {shown(walltime)}")
            if walltime != -1:
                raise FieldError("job.walltime", f"must be more than 0 s, or -1 for none, not {shown(walltime)}")
            walltime = None
    return Job(job_id, submit_time, size, walltime, profile, data)


def read_progress(data: Data, depth: int = 0) -> Progress:
    """One node of `job_progress`, under either name of its profile member (E9)."""
    if depth == MAX_NESTING:
        raise FieldError("current_task", f"must not nest deeper than {MAX_NESTING}")
    profile = text(data, "profile_name" if "profile_name" in data else "profile")
    if "current_task_index" not in data:
        progress = data.get("progress")
        if type(progress) is not float and type(progress) is not int:
            raise FieldError("progress", f"must be a number, not {shown(progress)}")
        return Progress(profile, progress)
    step = integer(data, "current_task_index")
    if "current_task" not in data:
        return Progress(profile, None, step)
    task = mapping(data, "current_task")
    try:
        return Progress(profile, None, step, read_progress(task, depth + 1))
    except FieldError as error:
        raise FieldError(f"current_task.{error.path}", error.rule) from None


def write_progress(progress: Progress, profile_key: str) -> dict[str, Any]:
    """The reverse of `read_progress`; dialects differ in the name of the profile member."""
    node: dict[str, Any] = {profile_key: progress.profile}
    if progress.step is None:
        node["progress"] = progress.progress
        return node
    node["current_task_index"] = progress.step
    if progress.current is not None:
        node["current_task"] = write_progress(progress.current, profile_key)
    return node

"""Jobs on the wire of Batsim 5; members other than its fields are in `extra_data`."""

from __future__ import annotations

from typing import Any, Final

from batsched_py.model.job import KNOWN_MEMBERS, Job
from batsched_py.protocol.batsim5.envelope import only
from batsched_py.protocol.batsim5.profiles import profile_id, profile_name, read_extra, write_extra
from batsched_py.protocol.fields import Data, finite, read_demand
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import SHORTEST
from batsched_py.text.display import shown

_MEMBERS: Final = frozenset({"resource_request", "walltime", "extra_data", "profile_id"})
_WITH_EXTRA: Final = KNOWN_MEMBERS | {"extra_data"}


def read_job(job_id: str, data: Data, submit_time: float, *, may_be_nothing: bool = False) -> Job:
    """Read a `Job`. A walltime that is absent, null or -1 means none.

    A walltime of 0 ends the job at once in Batsim 5: it is refused, unless `may_be_nothing`.
    """
    if not _MEMBERS.issuperset(data):
        only(data, _MEMBERS, "job")
    size = data.get("resource_request", 0)
    if type(size) is not int or size < 0:
        raise FieldError("job.resource_request", f"must be a whole number from 0, not {shown(size)}")
    named = data.get("profile_id")
    if type(named) is not str:
        raise FieldError("job.profile_id", f"must be a text, not {shown(named)}")
    profile = profile_name(job_id.partition("!")[0], named)
    walltime = 0.0 if may_be_nothing and data.get("walltime") == 0 else _walltime(data.get("walltime"))
    demand = None
    members: dict[str, Any] = {"id": job_id, "subtime": submit_time, "res": size, "profile": profile}
    if walltime is not None:
        members["walltime"] = walltime
    extra = data.get("extra_data", "")
    if extra:
        if type(extra) is not str:
            raise FieldError("job.extra_data", f"must be a text, not {shown(extra)}")
        members |= read_extra(extra, KNOWN_MEMBERS)
        demand = read_demand(members, size)
    return Job(job_id, submit_time, size, walltime, profile, members, demand)


def write_job(job: Job, *, always: bool) -> dict[str, Any]:
    """Write the form that `read_job` reads; with `always`, also a missing walltime, as Batsim does."""
    data: dict[str, Any] = {"resource_request": job.size}
    if always or job.walltime is not None:
        data["walltime"] = job.walltime
    members = job.members
    extra = "" if len(members) <= 5 and members.keys() <= KNOWN_MEMBERS else write_extra(members, _WITH_EXTRA)
    if always or extra:
        data["extra_data"] = extra
    data["profile_id"] = profile_id(job.workload, job.profile)
    return data if always else finite(data, "job")


def _walltime(value: object) -> float | None:
    if value is None or value == -1:
        return None
    if type(value) is not float and type(value) is not int:
        raise FieldError("job.walltime", f"must be a number of seconds, not {shown(value)}")
    if value < SHORTEST:
        raise FieldError("job.walltime", f"must be at least {SHORTEST:g} s, or null for none, not {shown(value)}")
    return value

"""A job as submitted: a request for hosts during a time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from batsched_py.model.job_demand import JobDemand

#: Members of Batsim's job object with an attribute.
KNOWN_MEMBERS = frozenset({"id", "subtime", "res", "walltime", "profile"})


class Job(Struct, frozen=True, gc=False):
    """A rigid job: `size` hosts simultaneously, for at most `walltime` seconds.

    Attributes:
        id: unique in the run, `workload!name`, as in "w0!12".
        submit_time: seconds since the start of the simulation.
        size: number of hosts requested (Batsim's `res`).
        walltime: seconds after which the job is stopped, or None if it has no limit.
        profile: name of the profile, the work that the job does.
        members: all members of the job object as written, including unknown ones.
        demand: the resources that its tasks request; None for whole hosts.
    """

    id: str
    submit_time: float
    size: int
    walltime: float | None
    profile: str
    members: Mapping[str, Any]
    demand: JobDemand | None = None

    @classmethod
    def create(
        cls,
        job_id: str,
        *,
        size: int,
        profile: str,
        submit_time: float | None = None,
        walltime: float | None = None,
        extra: Mapping[str, Any] = MappingProxyType({}),
        demand: JobDemand | None = None,
    ) -> Job:
        """Create a job; `extra` are user-defined members, which Batsim keeps and forwards.

        The tasks of a `demand` are as many as the `size`.

        Omit `submit_time` for a job that the Plan submits: it is then the time of its submission.
        """
        times = {} if submit_time is None else {"subtime": submit_time}
        members: dict[str, Any] = {"id": job_id, **times, "res": size, "profile": profile}
        if walltime is not None:
            members["walltime"] = walltime
        if demand is not None:
            members["demand"] = demand.members
        return cls(job_id, submit_time or 0.0, size, walltime, profile, {**members, **extra}, demand)

    @property
    def limit(self) -> float:
        """Maximum run time in seconds: its walltime, infinite if it has none."""
        return math.inf if self.walltime is None else self.walltime

    @property
    def workload(self) -> str:
        """Name of the workload it belongs to ("w0" of "w0!12")."""
        return self.id.partition("!")[0]

    @property
    def name(self) -> str:
        """Its name inside the workload ("12" of "w0!12")."""
        return self.id.partition("!")[2]

    @property
    def user(self) -> str | None:
        """The member `user` as text; None if it has none."""
        user = self.members.get("user")
        return None if user is None or user == "" else str(user)

    @property
    def extra(self) -> Mapping[str, Any]:
        """The members unknown to Batsim, which the workload's author added."""
        return MappingProxyType({key: value for key, value in self.members.items() if key not in KNOWN_MEMBERS})

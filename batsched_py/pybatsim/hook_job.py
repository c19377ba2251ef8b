"""The job that a pybatsim scheduler sees: mutable, with pybatsim's attribute names."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from batsched_py.model.job import Job as SubmittedJob


class JobState(Enum):
    """The states of pybatsim 3.2.1, under its names: `IN_SUBMISSON` is spelled so there."""

    UNKNOWN = -1
    IN_SUBMISSON = 0
    SUBMITTED = 1
    RUNNING = 2
    COMPLETED_SUCCESSFULLY = 3
    COMPLETED_FAILED = 4
    COMPLETED_WALLTIME_REACHED = 5
    COMPLETED_KILLED = 6
    REJECTED = 7
    IN_KILLING = 8


class HookJob:
    """A job as hooks receive it; schedulers may add attributes of their own (`batsim.batsim.Job`).

    Its hash is its number in the order of arrival, so that sets of jobs are iterated in the same order in each run.
    """

    State = JobState

    def __init__(
        self,
        id: str,
        subtime: float,
        walltime: float,
        res: int,
        profile: str,
        json_dict: Mapping[str, Any],
        number: int = 0,
    ) -> None:
        self.id = id
        self.submit_time = subtime
        #: The walltime in seconds, -1 if it has none.
        self.requested_time = walltime
        self.requested_resources = res
        self.profile = profile
        self.finish_time: float | None = None
        self.job_state = JobState.UNKNOWN
        self.return_code: int | None = None
        #: The member of JOB_KILLED's `job_progress`; None for jobs that were not killed.
        self.progress: Mapping[str, Any] | None = None
        self.json_dict = json_dict
        self.profile_dict: Any = None
        self.allocation: Any = None
        self.metadata: Any = None
        self._number = number

    @classmethod
    def of_submitted(cls, job: SubmittedJob, number: int) -> HookJob:
        """Return the job for hooks with the members that Batsim sent."""
        members = dict(job.members)
        walltime = members.get("walltime", -1)
        return cls(job.id, members.get("subtime", job.submit_time), walltime, job.size, job.profile, members, number)

    @staticmethod
    def from_json_string(json_str: str) -> HookJob:
        """Make a job of a JSON object."""
        return HookJob.from_json_dict(json.loads(json_str))

    @staticmethod
    def from_json_dict(json_dict: Mapping[str, Any]) -> HookJob:
        """Make a job of the members that Batsim sends; KeyError if one is missing."""
        walltime = json_dict.get("walltime", -1)
        return HookJob(
            json_dict["id"], json_dict["subtime"], walltime, json_dict["res"], json_dict["profile"], json_dict
        )

    @property
    def workload(self) -> str:
        """The part of the id before the exclamation mark."""
        return self.id.partition("!")[0]

    def __hash__(self) -> int:
        return self._number

    def __eq__(self, other: object) -> bool:
        return self is other

    def __repr__(self) -> str:
        asked = f"{self.requested_resources} hosts for {self.requested_time} s"
        return f"<Job {self.id}: {asked}, {self.profile}, {self.job_state.name}, on {self.allocation}>"

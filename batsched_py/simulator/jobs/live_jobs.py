"""Live jobs: the jobs known to Batsim, and their states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.protocol.events import (
    COMPLETED_FAILED,
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    REJECTED,
    Progress,
)
from batsched_py.results.places import JobPlaces
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.jobs.execution import HostsByRole
from batsched_py.simulator.referee.errors import BrokenRuleError

SUBMITTED: Final = "SUBMITTED"
RUNNING: Final = "RUNNING"
#: RUNNING only as recorded by Batsim, after CHANGE_JOB_STATE: no work runs, and the state never ends.
ONLY_IN_THE_BOOKS: Final = "RUNNING (set by CHANGE_JOB_STATE)"

#: (state, command or end) -> next state; absent pairs are refused.
STATES: Final = {
    (SUBMITTED, "executed"): RUNNING,
    (SUBMITTED, "rejected"): REJECTED,
    (SUBMITTED, "set to RUNNING"): ONLY_IN_THE_BOOKS,
    (SUBMITTED, "set to REJECTED"): REJECTED,
    (ONLY_IN_THE_BOOKS, "set to COMPLETED_SUCCESSFULLY"): COMPLETED_SUCCESSFULLY,
    (ONLY_IN_THE_BOOKS, "set to COMPLETED_KILLED"): COMPLETED_KILLED,
    (RUNNING, "succeeded"): COMPLETED_SUCCESSFULLY,
    (RUNNING, "failed"): COMPLETED_FAILED,
    (RUNNING, "stopped at its walltime"): COMPLETED_WALLTIME_REACHED,
    (RUNNING, "killed"): COMPLETED_KILLED,
}

NO_HOSTS: Final = HostSet()
#: The site of nearly all jobs that consist of delays: they have no executors.
NO_SITE: Final = HostsByRole()


class RunningJob(Protocol):
    """The part of a job from its start to its end."""

    @property
    def waits(self) -> bool:
        """True if it waits for a message without a walltime that would end the wait."""

    @property
    def lost(self) -> float:
        """Delay in seconds by other jobs; known after the stop."""

    @property
    def release(self) -> Callable[[], None] | None:
        """Release its resources after the notification of a reached walltime; None if it has none then."""

    @property
    def demands(self) -> Sequence[ActivityDemand]:
        """The demand of its parallel task, or those of the ranks of a trace; none during a delay, or a wait."""

    @property
    def replays(self) -> bool:
        """True during the replay of a trace, whose ranks run on all its hosts."""

    def begin(self) -> None:
        """Start at the current instant."""

    def follow_speeds(self) -> None:
        """Recompute its end after a change of speed of some of its hosts (with energy accounting)."""

    def kill(self) -> tuple[int, Progress]:
        """Cancel its end; return the return code and the progress of the job, which is stopped next."""

    def stop(self) -> float:
        """Clean up after any kind of end; return the joules consumed by its hosts, 0 without energy accounting."""


class LiveJob:
    """A job from its submission until its end has been sent."""

    __slots__ = ("code", "hosts", "job", "kill_requested", "places", "profile", "running", "site", "start", "state")

    def __init__(self, job: Job, profile: Profile) -> None:
        """Take a submitted job, and its profile."""
        self.job, self.profile = job, profile
        self.state = SUBMITTED
        self.kill_requested = False
        #: This and all attributes below are set only for executed jobs.
        self.hosts = NO_HOSTS
        self.site = NO_SITE
        self.start = 0.0
        self.places: JobPlaces | None = None
        self.running: RunningJob | None = None
        #: Return code, if known; None if the walltime ends the job.
        self.code: int | None = None

    def next_state(self, what: str) -> str:
        """Return the next state; BrokenRuleError if there is none."""
        state = STATES.get((self.state, what))
        if state is None:
            raise BrokenRuleError(f"is {self.state}, it cannot be {what}", job=self.job.id)
        return state

"""Live jobs: those that Batsim knows, in their states."""

from __future__ import annotations

from collections.abc import Callable
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
from batsched_py.simulator.jobs.execution import Site
from batsched_py.simulator.referee.errors import BrokenRuleError

SUBMITTED: Final = "SUBMITTED"
RUNNING: Final = "RUNNING"
#: RUNNING in Batsim's books only, by CHANGE_JOB_STATE: nothing runs, and nothing will ever end it.
ONLY_IN_THE_BOOKS: Final = "RUNNING (set by CHANGE_JOB_STATE)"

#: (state, what happens) -> next state; what is absent is refused.
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
#: The site of nearly all jobs that only sleep: they have no executors.
NO_SITE: Final = Site()


class RunningJob(Protocol):
    """The part of a job from its start to its end."""

    @property
    def waits(self) -> bool:
        """True if it waits for a message and no walltime will ever end that."""

    @property
    def lost(self) -> float:
        """Seconds by which other jobs have delayed it; known when it was stopped."""

    @property
    def release(self) -> Callable[[], None] | None:
        """Free what it uses when its end at its walltime was told; None if it uses nothing then."""

    def begin(self) -> None:
        """Start at the present instant."""

    def follow_speeds(self) -> None:
        """Compute its end anew after a change of speed of some of its hosts (energy is counted)."""

    def kill(self) -> tuple[int, Progress]:
        """Prevent its end; return the return code and the progress of the job, which is stopped next."""

    def stop(self) -> float:
        """Clean up at the end, however it came; return the joules its hosts have consumed, 0 if not counted."""


class LiveJob:
    """A job from its submission until the message with its end was sent."""

    __slots__ = ("code", "hosts", "job", "kill_requested", "profile", "running", "site", "start", "state")

    def __init__(self, job: Job, profile: Profile) -> None:
        """Begin with a job that was submitted, and its profile."""
        self.job, self.profile = job, profile
        self.state = SUBMITTED
        self.kill_requested = False
        #: This and all below: known of an executed job only.
        self.hosts = NO_HOSTS
        self.site = NO_SITE
        self.start = 0.0
        self.running: RunningJob | None = None
        #: Return code, as far as it is known; None if the walltime ends the job.
        self.code: int | None = None

    def next_state(self, what: str) -> str:
        """Return the state that follows; BrokenRuleError if there is none."""
        state = STATES.get((self.state, what))
        if state is None:
            raise BrokenRuleError(f"is {self.state}, it cannot be {what}", job=self.job.id)
        return state

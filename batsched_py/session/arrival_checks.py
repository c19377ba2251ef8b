"""The checks of jobs when they arrive, before the algorithm sees them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from batsched_py.model.job import Job
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.codec import Message
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.checks import idle_fault, staging_fault
from batsched_py.scheduling.host_queries import MEMBER
from batsched_py.scheduling.plan import Plan
from batsched_py.session.ignored_constraints import constraint_hint, misdated_line
from batsched_py.state.state import State
from batsched_py.text.wording import counted


class ArrivalChecks:
    """The checks of a run: jobs that can never run are rejected, and what an algorithm ignores causes a warning.

    Args:
        scheduler: the algorithm.
        state: of the run.
        plan: used to reject jobs; its dialect is that of the run.
        warn: called with each warning.
    """

    def __init__(self, scheduler: Scheduler[Any], state: State, plan: Plan, warn: Callable[[str], None]) -> None:
        self._scheduler, self._state, self._plan, self._warn = scheduler, state, plan, warn
        #: True if profiles of jobs may make Batsim abort.
        self._checks_profiles = plan.dialect.is_v5
        #: Warning for the first job with a constraint on hosts; None if none is needed.
        self._hint = constraint_hint(scheduler)
        #: Warning for the first job whose `subtime` is not its submission time; "" as long as there is none.
        self._misdated = ""

    def admit(self, arrived: Iterable[Job], message: Message) -> None:
        """Check the jobs that arrive with a message."""
        now = message.now
        for job in arrived:
            if not (now - TOLERANCE <= job.submit_time <= now + TOLERANCE or self._misdated):
                self._warn_of_misdated(message)
            why = self.refusal(job)
            if why is not None and job.id in self._state.queue:
                self._plan.reject(job, why)
            if self._hint is not None and MEMBER in job.members:
                self._warn(self._hint)
                self._hint = None

    def refusal(self, job: Job) -> str | None:
        """Return the reason why a job can never run; None if it may wait."""
        scheduler, host_count = self._scheduler, len(self._state.hosts.by_id)
        if job.size > host_count and not scheduler.oversubscribes:
            return f"needs {counted(job.size, 'host')}, the platform has {host_count}"
        if job.size == 0:
            return "needs no host, and Batsim runs no job on none"
        if self._checks_profiles:
            lookup = partial(self._state.profiles.members, job.workload)
            fault = staging_fault(job.profile, lookup) or idle_fault(job, lookup)
            if fault is not None:
                return fault
        if job.walltime is None and scheduler.needs_walltime:
            return "has no walltime, and the algorithm needs one"
        return None

    def _warn_of_misdated(self, message: Message) -> None:
        """Warn about the first job whose `subtime` is not its submission time."""
        self._misdated = misdated_line(message.events)
        if self._misdated:
            self._warn(self._misdated)

"""The release of held jobs, and the rejection of those whose conditions on other jobs can never be fulfilled."""

from __future__ import annotations

import math
from typing import Final

from batsched_py.model.job import Job
from batsched_py.scheduling.plan import Plan
from batsched_py.state.state import State
from batsched_py.text.display import displayed

#: Warning about the first held job of a run.
_HELD: Final = "jobs are held until their conditions on other jobs are fulfilled: waits and slowdowns contain that time"


class Releases:
    """The held jobs of a run between two decisions of its algorithm."""

    def __init__(self, state: State, plan: Plan) -> None:
        self._state, self._plan = state, plan
        #: True once the user knows that waits contain the time for which jobs are held.
        self._warned = False

    def before_decision(self) -> None:
        """Let jobs arrive that the events of a message release."""
        self._state.arrived = [*self._state.arrived, *self._release()]

    def after_decision(self) -> bool:
        """Let jobs arrive that a decision releases; return whether there are any, which need another decision.

        If there is none, schedule the next release, and reject the held jobs if nothing else can happen.
        """
        released = self._release()
        while not released and self._is_stuck() and self._reject_some():
            released = self._release()
        if released:
            self._state.arrived = released
            return True
        due = self._state.held.next_release
        if due < math.inf:
            self._plan.wake_at(max(due, math.nextafter(self._state.now, math.inf)))
        return False

    def _release(self) -> list[Job]:
        held = self._state.held
        while held.impossible:
            job_id, why = next(iter(held.impossible.items()))
            self._plan.reject(held.jobs[job_id], why)
        released = self._state.receive_released()
        for job in released:
            self._plan.release(job)
            held.changed.pop(job.id, None)
        if held.changed and not self._warned:
            self._warned = True
            self._plan.warn(_HELD)
        for job_id in held.changed:
            self._plan.hold(held.jobs[job_id], held.reason(job_id), "condition")
        held.changed.clear()
        return released

    def _is_stuck(self) -> bool:
        """Return whether no event can fulfil a condition any more."""
        state = self._state
        busy = state.queue or state.running or state.control or state.registered or state.arriving
        may_come = not state.all_submitted or state.registration_open
        return not busy and not may_come and state.held.next_release == math.inf

    def _reject_some(self) -> bool:
        """Reject the held jobs that depend on unknown ones, else the first of a cycle; return False if none is held."""
        held, known = self._state.held, self._state.known.__contains__
        reasons = {
            job_id: f"it depends on {displayed(other)}, and no such job was submitted"
            for job_id, other in held.unknown(known)
        }
        if not reasons:
            reasons = dict.fromkeys(list(held.jobs)[:1], "it depends on jobs that depend on it")
        for job_id, why in reasons.items():
            if job_id in held:
                self._plan.reject(held.jobs[job_id], why)
        return bool(reasons)

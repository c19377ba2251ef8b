"""The withdrawal of jobs that their users cancel, before the algorithm decides: each algorithm sees shorter queues."""

from __future__ import annotations

import math
from typing import Any

from batsched_py.scheduling.base import CANCELLED, Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.state import State


class Withdrawals:
    """The cancellations of a run, between two decisions of its algorithm."""

    def __init__(self, state: State, view: View, plan: Plan) -> None:
        self._state, self._view, self._plan = state, view, plan

    def before_decision(self, scheduler: Scheduler[Any]) -> None:
        """Cancel the jobs whose instants have come: waiting ones are rejected, running ones are killed."""
        state = self._state
        for job_id in state.cancellations.take_due(state.now):
            if job_id in state.held:
                self._plan.reject(state.held.jobs[job_id], CANCELLED)
            elif job_id in state.queue or job_id in state.running:
                scheduler.cancel(job_id, self._view, self._plan)
                state.let_others_start()

    def after_decision(self) -> None:
        """Request a call at the next cancellation, unless its job ends before: a pending call prolongs a simulation."""
        due = self._state.cancellations.next_due(self._is_live)
        if due is not None:
            self._plan.wake_at(max(due, math.nextafter(self._state.now, math.inf)))

    def _is_live(self, job_id: str, due: float) -> bool:
        state = self._state
        run = state.running.get(job_id)
        if run is not None:
            return not run.killed and run.end > due
        return job_id in state.queue or job_id in state.held or job_id in state.registered

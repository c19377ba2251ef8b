"""Restarts: killed jobs that are submitted again, each as its next segment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batsched_py.leases.segments import Segments
from batsched_py.model.job import Job
from batsched_py.protocol.events import COMPLETED_KILLED, Event, JobCompleted, JobKilled
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View


class Restarts:
    """Killed jobs that are submitted again, unless they ended by themselves before the kill.

    Attributes:
        segments: the segments of all restarted jobs.
    """

    def __init__(self) -> None:
        self.segments = Segments()
        #: Job id -> job that is being killed, with its profile. The second one: killed jobs to submit again.
        self._dying: dict[str, tuple[Job, Mapping[str, Any]]] = {}
        self._again: list[tuple[Job, Mapping[str, Any]]] = []

    @property
    def to_repeat(self) -> bool:
        """True if a killed job can be submitted again now."""
        return bool(self._again)

    @property
    def in_progress(self) -> bool:
        """True if a killed job has not been submitted again."""
        return bool(self._dying or self._again)

    def observe(self, event: Event) -> Sequence[str]:
        """Record killed jobs to submit again; return the ids of all jobs that an event ends."""
        killed = ended_jobs(event)
        for job_id, again in killed.items():
            victim = self._dying.pop(job_id, None)
            if victim is not None and again:
                self._again.append(victim)
        return list(killed)

    def awaits(self, job_id: str) -> bool:
        """Return whether an ended job will be submitted again."""
        return any(job.id == job_id for job, _ in self._again)

    def stop(self, victims: Sequence[Job], view: View, plan: Plan) -> None:
        """Kill running jobs, which must be repeatable (see Segments), to submit them again."""
        if not victims:
            return
        if not view.registration_open:
            plan.continue_registration()
        for job in victims:
            profile = self.segments.repeatable(job, view)
            assert profile is not None  # noqa: S101  # stoppable
            self._dying[job.id] = job, profile
        plan.kill(victims)

    def repeat(self, view: View, plan: Plan) -> list[Job]:
        """Submit killed jobs again, and return their next segments."""
        repeated = [self.segments.repeat(job, profile, view, plan) for job, profile in self._again]
        self._again.clear()
        return repeated


def ended_jobs(event: Event) -> Mapping[str, bool]:
    """Return the jobs that an event ends -> whether each was killed."""
    if isinstance(event, JobCompleted):
        return {event.job_id: event.state == COMPLETED_KILLED}
    if isinstance(event, JobKilled):  # the only event that Batsim 1 sends for killed jobs
        return dict.fromkeys(event.killed_ids, True)
    return {}

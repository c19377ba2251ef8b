"""Losses: jobs whose hosts fail before they have ended, and their treatment (L41)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from batsched_py.api import Event, Job, OptionError, Plan, View
from batsched_py.collection.attempts import PlacementCounts
from batsched_py.collection.enactor import Negotiation
from batsched_py.collection.placers import Placer
from batsched_py.leases.restarts import Restarts


class JobLosses:
    """Jobs that are killed because they have lost hosts, and are submitted again if their placer wants that."""

    def __init__(self, mode: Literal["ignore", "fail", "replace"], view: View) -> None:
        """Set the mode; OptionError if jobs are to be submitted again but cannot be."""
        self._mode = mode
        self._restarts = Restarts()
        #: Id of a job -> its number among those that waited, in whose place the next segment comes.
        self._numbers: dict[str, int] = {}
        if mode == "replace" and not view.config.dynamic_jobs:
            raise OptionError("option on_loss of placer: replace needs a simulation with --enable-dynamic-jobs")

    def observe(self, event: Event) -> Sequence[str]:
        """Return the ids of the jobs that have ended with an event."""
        return self._restarts.observe(event)

    def first_id(self, job_id: str) -> str:
        """Return the id under which a job was submitted first."""
        return self._restarts.segments.first_id(job_id)

    def ends(self, job_id: str) -> bool:
        """Return whether the end of a job is final."""
        if self._restarts.awaits(job_id):
            return False
        self._numbers.pop(self.first_id(job_id), None)
        return True

    def note_start(self, job: Job, number: int) -> None:
        """Record the number that a job had while it waited."""
        if self._mode == "replace":
            self._numbers[self.first_id(job.id)] = number

    def number(self, job: Job) -> int | None:
        """Return the number of a repeated job; None for a new one."""
        return self._numbers.get(self.first_id(job.id))

    def stop_lost(
        self,
        talks: Mapping[str, Negotiation],
        attempts: Mapping[str, PlacementCounts],
        placer: Placer,
        view: View,
        plan: Plan,
    ) -> None:
        """Kill jobs on failed hosts; submit those again that the placer replaces."""
        if self._mode == "ignore" or not view.unavailable:
            return
        again, failed = list[Job](), list[Job]()
        for run in [run for run in view.running if not run.killed and run.job.id in talks]:
            names = {view.hosts[number].name for number in run.hosts & view.unavailable}
            stays = self._mode == "replace" and self._restarts.segments.repeatable(run.job, view) is None
            if names and not stays:
                lost = talks[run.job.id].lose(names)
                attempts[run.job.id].losses += len(lost)
                replaced = self._mode == "replace" and placer.replaces(lost)
                (again if replaced else failed).append(run.job)
        self._restarts.stop(again, view, plan)
        if failed:
            plan.kill(failed)

    def repeat(self, view: View, plan: Plan) -> list[Job]:
        """Submit killed jobs again; return their next segments that already wait."""
        return [job for job in self._restarts.repeat(view, plan) if job.id in view.queue]

    def finish_registration(self, view: View, plan: Plan) -> None:
        """Finish registration once no job can be repeated. It may be reopened for Batsim 1, which announces no end."""
        if not view.registration_open:
            return
        if self._mode == "replace":
            all_came = view.all_submitted or plan.dialect.name == "v1.4"
            if not all_came or view.queue or view.running or self._restarts.in_progress:
                return
        if not view.expects_requests:
            plan.finish_registration()

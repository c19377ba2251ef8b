"""Enactment: decisions of the controller become starts, kills and new submissions of jobs in Batsim.

A requeued job is killed and submitted again as `id#1`. The controller counts nodes as free at the instant of its
decision, Batsim with the end of a job, so a start waits here until its hosts are free, or until its launch is over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from batsched_py.api import TOLERANCE, Event, Job, JobCompleted, JobKilled, OptionError, Plan, View
from batsched_py.leases.segments import Segments
from batsched_py.slurm.adapter.nodes import ClusterNodes
from batsched_py.slurm.decisions import Decision, JobRequeue, JobStart, JobStop
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation

#: The rule for what submits jobs again.
SUBMITS_AGAIN: Final = "submits jobs again: run Batsim, or simulate, with --enable-dynamic-jobs"
#: State of a job that has done its work.
_DONE = "COMPLETED_SUCCESSFULLY"


@dataclass(frozen=True, slots=True)
class EndedJob:
    """A job that has ended by itself, or was killed for an external event."""

    job: SlurmJob
    is_ok: bool
    at: float


@dataclass(frozen=True, slots=True)
class _DueStart:
    job: SlurmJob
    allocation: NodeAllocation
    at: float


class SlurmEnactment:
    """The jobs of one run in Batsim."""

    def __init__(self, view: View, nodes: ClusterNodes, launch: float) -> None:
        self._view, self._nodes, self._launch = view, nodes, launch
        self._segments = Segments()
        #: Key of the controller -> the waiting or running job of Batsim.
        self.jobs: dict[str, Job] = {}
        #: Id of a running job of Batsim -> the controller's job, unless the controller has decided that it ends.
        self._running: dict[str, SlurmJob] = {}
        #: Decided starts that were not carried out yet, by key.
        self._starting: dict[str, _DueStart] = {}
        #: Jobs to reject once Batsim has accepted their submission, and the reasons.
        self._refused: list[tuple[Job, str]] = []
        #: Jobs that have ended, for the controller.
        self.ended: list[EndedJob] = []

    def arrived(self, jobs: Sequence[Job]) -> Sequence[Job]:
        """Return the jobs without those that were submitted here."""
        return [job for job in jobs if self._segments.first(job) is job]

    def meet(self, job: Job, found: SlurmJob) -> None:
        """Note a job that was submitted to the controller."""
        self.jobs[found.key] = job

    def find(self, job_id: str) -> SlurmJob | None:
        """Return the controller's job of a running job; None if it does not run."""
        return self._running.get(job_id)

    def observe(self, event: Event) -> None:
        """Note ends of jobs."""
        if isinstance(event, JobCompleted):
            self._note_end(event.job_id, event.state == _DONE, event.timestamp)
        elif isinstance(event, JobKilled):
            for job_id in event.killed_ids:
                self._note_end(job_id, False, event.timestamp)

    def _note_end(self, job_id: str, is_ok: bool, at: float) -> None:
        job = self._running.pop(job_id, None)
        if job is not None:
            self.ended.append(EndedJob(job, is_ok, at))

    def enact(self, decisions: Iterable[Decision], by_key: dict[str, SlurmJob], plan: Plan) -> None:
        """Carry out decisions, as far as possible now."""
        for one in decisions:
            job = by_key[one.job]
            if isinstance(one, JobStart):
                if job.allocation is not None:  # otherwise it is requeued below, before it began
                    self._starting[one.job] = _DueStart(job, job.allocation, one.at + self._launch)
            elif isinstance(one, JobStop):
                self._stop(job, one.state, plan)
            elif isinstance(one, JobRequeue):
                self._requeue(job, plan)

    def give_up(self, job: SlurmJob, plan: Plan) -> None:
        """Reject a job that pends and can never start."""
        current = self.jobs.pop(job.key)
        if current.id in self._view.queue:
            plan.reject(current, f"nothing runs, and it cannot start: {job.reason or 'PENDING'}")

    def _stop(self, job: SlurmJob, state: str, plan: Plan) -> None:
        current = self.jobs.pop(job.key)
        if self._running.pop(current.id, None) is not None:
            if self._view.run(current.id) is not None:
                plan.kill(current)
            return
        self._starting.pop(job.key, None)
        if current.id in self._view.queue:
            plan.reject(current, f"Slurm: {state}")
        elif current.id not in self._ended_ids():
            self._refused.append((current, f"Slurm: {state}"))

    def _ended_ids(self) -> set[str]:
        """Return the ids of jobs that have ended in this message."""
        return {self.jobs[one.job.key].id for one in self.ended if one.job.key in self.jobs}

    def _requeue(self, job: SlurmJob, plan: Plan) -> None:
        if self._starting.pop(job.key, None) is not None:
            return
        current = self.jobs[job.key]
        if self._running.pop(current.id, None) is not None and self._view.run(current.id) is not None:
            if not self._view.config.dynamic_jobs:
                rule = (
                    "submits it again: run Batsim with --enable-dynamic-jobs (or simulate, which has the same option)"
                )
                raise OptionError(f"the requeue of {current.id} {rule}")
            profile = self._segments.repeatable(current, self._view)
            if profile is None:
                rule = "cannot be submitted again: its profile is not known (Batsim: --forward-profiles-on-submission)"
                raise OptionError(f"{current.id} is requeued and {rule}")
            plan.kill(current)
            self.jobs[job.key] = self._segments.repeat(current, profile, self._view, plan)

    def proceed(self, plan: Plan) -> None:
        """Start jobs whose hosts are free and whose launch is over."""
        for refused in [one for one in self._refused if one[0].id in self._view.queue]:
            self._refused.remove(refused)
            plan.reject(*refused)
        for start in list(self._starting.values()):
            if self._view.due(start.at):
                self._start(start, plan)

    def _start(self, start: _DueStart, plan: Plan) -> None:
        job = self.jobs[start.job.key]
        if job.id not in self._view.queue:
            return
        if job.demand is None:
            hosts = self._nodes.hosts(start.allocation.nodes)
            if not hosts <= plan.free:
                return
            plan.start(job, hosts)
        else:
            placed = self._nodes.placed(start.allocation, job.demand, self._view)
            if placed is None or not plan.has_room(job, placed):
                return
            plan.start(job, placed)
        del self._starting[start.job.key]
        self._running[job.id] = start.job

    def next_start(self) -> float | None:
        """Return the next instant at which a launch is over; None if none is under way."""
        later = [one.at for one in self._starting.values() if one.at > self._view.now + TOLERANCE]
        return min(later, default=None)

    @property
    def in_progress(self) -> bool:
        """True if a decision is not carried out yet."""
        return bool(self._starting or self._refused)

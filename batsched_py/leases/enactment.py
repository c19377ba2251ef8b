"""Enactment: the one place that turns what the scheduler of leases decides into verbs of the Plan.

A lease is a chain of Batsim jobs, its segments, because Batsim runs no job twice. To suspend a lease its job is killed,
and what was left of its work is submitted as the next segment, which is started when the resumption is over.

The scheduler plans by the clock, and Batsim's news may be a little late: a job that was to have ended still runs, or a
kill is not done yet. What is to start on such hosts waits here until they are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.leases.actions import Action, Reject, Start, Stop
from batsched_py.leases.lease import Lease
from batsched_py.leases.reservations import Run
from batsched_py.leases.segments import Segments
from batsched_py.leases.terms import Kind
from batsched_py.model.job import Job
from batsched_py.model.profile import Delay
from batsched_py.protocol.events import COMPLETED_KILLED, Event, JobCompleted, JobKilled, Members, Progress
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import TOLERANCE, View

#: The share of a profile by which Batsim's progress may be off.
_ROUNDED: Final = 1e-6
#: The work of a lease that was killed just when it had done all.
_NOTHING: Final[Members] = {"type": "delay", "delay": 1e-3}


class _Running(NamedTuple):
    """A lease whose job runs, the run for which it was started, and when."""

    lease: Lease
    run: Run
    job: Job
    started: float


class _Killed(NamedTuple):
    """A lease whose job is being killed, when it was started, and why: "suspend", "requeue" or "shutdown"."""

    lease: Lease
    job: Job
    started: float
    why: str


class _Left(NamedTuple):
    """A killed job that goes on: its lease, its work as profiles in turn, and the seconds that it may still run."""

    lease: Lease
    job: Job
    parts: tuple[Members, ...]
    walltime: float


class Enactment:
    """Jobs of leases: those that wait, those that run, and those whose kill is on its way."""

    def __init__(self, view: View, hosts: Sequence[int]) -> None:
        """Begin with no leases; `hosts` are Batsim's numbers of the site's hosts."""
        self._view, self._hosts = view, hosts
        self.segments = Segments()
        #: Lease id -> its last segment: it waits for its start, runs, or has run.
        self._jobs: dict[int, Job] = {}
        #: Job id -> what runs, for as long as Batsim says that it does.
        self._running: dict[str, _Running] = {}
        #: Job id -> what is being killed, until Batsim tells what it had done.
        self._killed: dict[str, _Killed] = {}
        #: Lease id -> what is to start, in the order in which it was decided.
        self._starting: dict[int, Start] = {}
        self._left: list[_Left] = []

    @property
    def in_progress(self) -> bool:
        """True if a job was killed that has not been submitted again, or waits for its hosts to be free."""
        return bool(self._left or self._starting) or any(one.why != "shutdown" for one in self._killed.values())

    def meet(self, lease: Lease, job: Job) -> None:
        """Take over a job that is a lease."""
        self._jobs[lease.id] = job

    def observe(self, event: Event) -> Lease | None:
        """Note what has become of jobs; return the lease of one that has ended, but not because it was killed."""
        if isinstance(event, JobKilled):
            self._note_killed(event)
        elif isinstance(event, JobCompleted):
            return self._note_end(event.job_id, killed=event.state == COMPLETED_KILLED)
        return None

    def enact(self, actions: Iterable[Action], plan: Plan) -> None:
        """Do what the scheduler has decided, as far as it can be done now."""
        for action in actions:
            if isinstance(action, Start):
                self._starting[action.lease.id] = action
            elif isinstance(action, Stop):
                self._stop(action, plan)
            else:
                self._reject(action, plan)

    def proceed(self, plan: Plan) -> None:
        """Submit what goes on, and start what is due and has its hosts."""
        for left in self._left:
            self._jobs[left.lease.id] = self.segments.go_on(left.job, left.parts, left.walltime, self._view, plan)
        self._left.clear()
        if self._starting:
            lingering = self._lingering()
            for start in list(self._starting.values()):
                self._start(start, lingering, plan)

    def _note_end(self, job_id: str, *, killed: bool) -> Lease | None:
        runs = self._running.pop(job_id, None)
        if runs is None or killed:
            return None
        late = self._killed.pop(job_id, None)
        if late is None:
            return runs.lease
        if late.why != "shutdown":  # it was quicker than its kill, and its lease is thought of as stopped
            self._left.append(_Left(late.lease, late.job, (_NOTHING,), late.job.limit))
        return None

    def _note_killed(self, event: JobKilled) -> None:
        """Keep what killed jobs had left to do."""
        for job_id in event.killed_ids:
            self._running.pop(job_id, None)
            killed = self._killed.pop(job_id, None)
            if killed is None or killed.why == "shutdown":
                continue
            progress = event.progress.get(job_id) if killed.why == "suspend" else None
            parts = self._unfinished(killed, progress, event.timestamp) if progress is not None else None
            limit = killed.job.limit if parts is None else killed.lease.remaining
            if parts is None:
                parts = (self._whole(killed.job),)
            self._left.append(_Left(killed.lease, killed.job, parts or (_NOTHING,), limit))

    def _unfinished(self, killed: _Killed, progress: Progress, now: float) -> tuple[Members, ...] | None:
        """Return what a killed job had left; None if it is not known.

        Batsim rounds progress to six digits, seconds of a long delay. The clock is more exact; progress is right where
        the job began later than it was told to.
        """
        parts = self._view.remainder(killed.job.id, progress)
        profile = self._view.profile(killed.job)
        if parts and isinstance(profile, Delay):
            left = profile.delay - (now - killed.started)
            if abs(left - parts[0]["delay"]) <= _ROUNDED * profile.delay + TOLERANCE and left > 0:
                return ({**parts[0], "delay": left},)
        return parts

    def _whole(self, job: Job) -> Members:
        profile = self.segments.repeatable(job, self._view)
        assert profile is not None, f"{job.id} was stopped and cannot go on"  # noqa: S101  # it was repeatable
        return profile

    def _start(self, start: Start, lingering: HostSet, plan: Plan) -> None:
        lease, run = start
        job, hosts = self._jobs[lease.id], self._numbers(run.nodes)
        usable = self._view.all_hosts - self._view.unavailable if self._view.compute_sharing else plan.free
        if job.id not in self._view.queue or job.id in self._killed or not hosts <= usable - lingering:
            return
        del self._starting[lease.id]
        if lease.kind is Kind.ADVANCE and self._view.now > run.start + TOLERANCE:
            plan.warn(f"{job.id} starts {self._view.now - run.start:g} s after {run.start:g}: its hosts were not free")
        plan.start(job, hosts, self._executors(run.nodes, hosts))
        self._running[job.id] = _Running(lease, run, job, self._view.now)

    def _lingering(self) -> HostSet:
        """Return hosts of jobs that still run though their time is over."""
        now = self._view.now + TOLERANCE
        bits = 0
        for job_id, runs in self._running.items():
            if runs.run.end <= now or job_id in self._killed:
                bits |= self._numbers(runs.run.nodes).bits
        return HostSet(bits)

    def _stop(self, stop: Stop, plan: Plan) -> None:
        lease, run, why = stop
        job = self._jobs[lease.id]
        if lease.id in self._starting:
            if why != "shutdown":  # nothing has run: all of it is left; otherwise it starts when its hosts are free
                del self._starting[lease.id]
            return
        # What began late ends late: its walltime ends it, unless an advance reservation is shut down before.
        due = why == "shutdown" and (lease.kind is Kind.BEST_EFFORT or run.start + job.limit <= run.end + TOLERANCE)
        if job.id in self._running and not due:
            self._killed[job.id] = _Killed(lease, job, self._running[job.id].started, why)
            plan.kill(job)

    def _reject(self, reject: Reject, plan: Plan) -> None:
        job = self._jobs.pop(reject.lease.id)
        if plan.dialect.name != "v1.4":
            plan.set_metadata(job, reject.why.replace('"', "'"))
        plan.reject(job, reject.why)

    def _numbers(self, nodes: Mapping[int, int]) -> HostSet:
        """Return the hosts of nodes by Batsim's numbers."""
        return HostSet.from_ids(self._hosts[host] for host in nodes.values())

    def _executors(self, nodes: Mapping[int, int], hosts: HostSet) -> dict[int, int] | None:
        """Return which executor runs on which of the hosts, None if there is one on each."""
        if len(hosts) == len(nodes):
            return None
        place = {host: position for position, host in enumerate(hosts)}
        return {node - 1: place[self._hosts[host]] for node, host in nodes.items()}

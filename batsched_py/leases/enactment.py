"""Enactment: the only place that turns decisions of the lease scheduler into verbs of the Plan.

A lease is a chain of Batsim jobs, its segments, because Batsim runs no job twice. To suspend a lease, its job is
killed, and the remaining work is submitted as the next segment, which is started after the resumption. A group of jobs
is one lease with a chain for each job.

The scheduler plans by the clock, but events from Batsim may be slightly late: a job still runs after its planned end,
or a kill is not complete. Starts on the hosts concerned wait here until they are free.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.leases.actions import Action, Occupy, Reject, Start, Stop
from batsched_py.leases.chain import Chain, Killed, Left, Lingering, RunningLeaseJob, ShownOverhead
from batsched_py.leases.lease import Lease, LeaseRun
from batsched_py.leases.segments import Overhead, Segments
from batsched_py.leases.task_places import task_places
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import (
    COMPLETED_FAILED,
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    Event,
    JobCompleted,
    JobKilled,
    Members,
    Progress,
)
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.remainder import in_turn
from batsched_py.scheduling.view import View
from batsched_py.text.wording import seconds

#: The rounding error of Batsim's progress, relative to the profile.
_ROUNDED: Final = 1e-6
#: The remaining work of a job that was killed at the moment of its completion.
_NOTHING: Final[Members] = {"type": "delay", "delay": 1e-3}
#: Reasons to stop a run whose lease continues later.
_GOES_ON: Final = frozenset({"suspend", "requeue"})


class Enactment:
    """Jobs of leases: waiting, running, or being killed.

    Attributes:
        segments: the segments of all chains.
        ended: leases whose work is complete; the caller empties it.
        failed: leases with a failed job; the caller empties it.
    """

    def __init__(self, view: View, hosts: Sequence[int], *, overhead_jobs: bool = False) -> None:
        """Begin with no leases.

        Args:
            view: the state of the run.
            hosts: Batsim's numbers of the site's hosts.
            overhead_jobs: True to show suspensions and resumptions as jobs.
        """
        self._view, self._hosts, self._shows_overheads = view, hosts, overhead_jobs
        self.segments = Segments()
        self.ended: list[Lease] = []
        self.failed: list[Lease] = []
        #: Lease id -> its chains, until the lease and all its jobs have ended.
        self._chains: dict[int, list[Chain]] = {}
        #: Ids of leases that will not continue: a job of the lease has ended, was stopped finally or was rejected.
        self._closing: dict[int, None] = {}
        #: Job id -> running job, until Batsim reports its end.
        self._running: dict[str, RunningLeaseJob] = {}
        #: Job id -> job being killed, until Batsim reports its progress.
        self._killed: dict[str, Killed] = {}
        #: Lease id -> pending start, in the order of the decisions.
        self._starting: dict[int, Start] = {}
        self._left: list[Left] = []
        #: Submitted jobs that continue a run under way and have not started, with the run.
        self._next: list[tuple[Chain, LeaseRun]] = []
        #: Jobs that show overheads and have not started.
        self._overheads: list[ShownOverhead] = []
        #: Jobs to reject once Batsim has accepted their submission, and the reasons.
        self._refused: list[tuple[Job, str]] = []

    @property
    def leases(self) -> Sequence[Lease]:
        """The leases that have not ended, or have a job that still runs or is being killed."""
        return [chains[0].lease for chains in self._chains.values()]

    @property
    def in_progress(self) -> bool:
        """True if a killed job is not yet submitted again, or a job waits for its hosts to be free."""
        waits = self._left or self._next or self._starting or self._overheads or self._refused
        return bool(waits) or any(one.why in _GOES_ON for one in self._killed.values())

    def meet(self, lease: Lease, jobs: Sequence[Job]) -> None:
        """Register the jobs of a new lease; the nodes of the lease are assigned to them in order."""
        chains, first = list[Chain](), 1
        for job in jobs:
            last = first + job.size if len(jobs) > 1 else lease.size + 1
            chains.append(Chain(lease, range(first, last), job))
            first = last
        self._chains[lease.id] = chains

    def observe(self, event: Event) -> None:
        """Record ends and kills of jobs."""
        if isinstance(event, JobKilled):
            self._note_killed(event)
        elif isinstance(event, JobCompleted):
            self._note_end(event.job_id, event.state)

    def enact(self, actions: Iterable[Action], plan: Plan) -> None:
        """Execute decisions of the scheduler, as far as possible now; starts are executed by `proceed`."""
        for action in actions:
            if isinstance(action, Start):
                self._starting[action.lease.id] = action
            elif isinstance(action, Stop):
                self._stop(action, plan)
            elif isinstance(action, Reject):
                self._reject(action, plan)
            elif self._shows_overheads:
                self._show(action, plan)

    def proceed(self, plan: Plan) -> None:
        """Submit remaining work, and execute pending starts whose hosts are free."""
        for left in self._left:
            self._go_on(left, plan)
        self._left.clear()
        for refused in [one for one in self._refused if one[0].id in self._view.queue]:
            self._refused.remove(refused)
            self._reject_with(*refused, plan)
        for overhead in list(self._overheads):
            if overhead.job.id in self._view.queue and overhead.hosts <= plan.free:
                self._overheads.remove(overhead)
                plan.start(overhead.job, overhead.hosts)
        if self._starting or self._next:
            lingering = self._lingering()
            for start in list(self._starting.values()):
                self._start(start, lingering, plan)
            for chain, run in list(self._next):
                self._start_next(chain, run, lingering, plan)
        self._let_go()

    def _note_end(self, job_id: str, state: str) -> None:
        runs = self._running.pop(job_id, None)
        if runs is None or state == COMPLETED_KILLED:
            return
        chain, late = runs.chain, self._killed.pop(job_id, None)
        left = runs.job.limit - (self._view.now - runs.started)
        if late is not None:
            if late.why in _GOES_ON:  # it ended before the kill, but for the scheduler its lease is stopped
                again = chain.parts if late.why == "requeue" and chain.following else chain.following
                self._left.append(Left(chain, again or (_NOTHING,), chain.limit if again is chain.parts else left))
            return
        if state == COMPLETED_SUCCESSFULLY and chain.following and left > TOLERANCE:
            self._left.append(Left(chain, chain.following, left, runs.run))
            return
        chain.done = True
        self._closing[chain.lease.id] = None
        if state == COMPLETED_FAILED:
            self.failed.append(chain.lease)
        elif all(one.done for one in self._chains[chain.lease.id]):
            self.ended.append(chain.lease)

    def _note_killed(self, event: JobKilled) -> None:
        """Keep the remaining work of killed jobs."""
        for job_id in event.killed_ids:
            self._running.pop(job_id, None)
            killed = self._killed.pop(job_id, None)
            if killed is None:
                continue
            if killed.why not in _GOES_ON or killed.chain.lease.ended:
                self._closing[killed.chain.lease.id] = None
                continue
            progress = event.progress.get(job_id) if killed.why == "suspend" else None
            parts = self._unfinished(killed, progress, event.timestamp) if progress is not None else None
            limit = killed.chain.limit if parts is None else killed.chain.lease.remaining
            if parts is None:
                parts = self._whole(killed.chain)
            self._left.append(Left(killed.chain, parts or (self._nothing(killed.job),), limit))

    def _unfinished(self, killed: Killed, progress: Progress, now: float) -> tuple[Members, ...] | None:
        """Return the remaining profiles of a killed job and its followers; None if they are unknown.

        Batsim rounds progress to six digits, which can be seconds of a long delay. The elapsed time is more exact, but
        wrong if the job began later than commanded: then the progress is used.
        """
        parts = self._view.remainder(killed.job.id, progress)
        whole = self.segments.work(killed.job, self._view)
        if parts and whole is not None and len(whole) == 1 and whole[0]["type"] == "delay":
            seconds = whole[0]["delay"]
            left = seconds - (now - killed.started)
            if abs(left - parts[0]["delay"]) <= _ROUNDED * seconds + TOLERANCE and left > 0:
                parts = ({**parts[0], "delay": left},)
        return None if parts is None else in_turn([*parts, *killed.chain.following])

    def _whole(self, chain: Chain) -> tuple[Members, ...]:
        """Return all profiles of the current run, from its begin."""
        if chain.parts:
            return chain.parts
        parts = self.segments.work(chain.job, self._view)
        assert parts is not None, f"{chain.job.id} was stopped and cannot continue"  # noqa: S101  # it was repeatable
        return parts

    def _nothing(self, job: Job) -> Members:
        """Return the work of a job that was killed at its completion: a minimal delay with the job's return code."""
        profile = self._view.profile(job)
        code = 0 if profile is None else profile.return_code
        return {**_NOTHING, "ret": code} if code else _NOTHING

    def _go_on(self, left: Left, plan: Plan) -> None:
        """Submit the remaining work of a job, unless its lease has ended."""
        chain, parts, limit, run = left
        if chain.lease.ended:
            self._closing[chain.lease.id] = None
            return
        if run is None:
            chain.parts, chain.limit = parts, limit
        chain.following = () if self.segments.joins(plan) else parts[1:]
        chain.job, chain.waits = self.segments.go_on(chain.job, parts, limit, self._view, plan), True
        if run is not None:
            self._next.append((chain, run))

    def _start_next(self, chain: Chain, run: LeaseRun, lingering: Lingering, plan: Plan) -> None:
        """Start the next job of a run under way on the hosts of the last one, once they are free."""
        if chain.lease.ended:
            self._next.remove((chain, run))
        elif chain.job.id in self._view.queue and self._may_begin(chain, run, lingering, plan):
            self._next.remove((chain, run))
            self._begin(chain, run, plan)

    def _may_begin(self, chain: Chain, run: LeaseRun, lingering: Lingering, plan: Plan) -> bool:
        """Return whether the hosts of a job are free, or those of its tasks have room."""
        hosts = self._numbers({node: run.nodes[node] for node in chain.nodes})
        if chain.job.demand is None:
            return hosts <= self._usable(plan) - lingering.hosts
        return not hosts & lingering.whole and plan.has_room(chain.job, self._placed(chain, run))

    def _begin(self, chain: Chain, run: LeaseRun, plan: Plan) -> None:
        if chain.job.demand is not None:
            plan.start(chain.job, self._placed(chain, run))
        else:
            nodes = {node: run.nodes[node] for node in chain.nodes}
            hosts = self._numbers(nodes)
            plan.start(chain.job, hosts, self._executors(nodes, hosts))
        chain.waits = False
        self._running[chain.job.id] = RunningLeaseJob(chain, run, chain.job, self._view.now)

    def _placed(self, chain: Chain, run: LeaseRun) -> Placed:
        return task_places(chain.job, chain.nodes, run, self._hosts, self._view)

    def _usable(self, plan: Plan) -> HostSet:
        return self._view.all_hosts - self._view.unavailable if self._view.compute_sharing else plan.free

    def _start(self, start: Start, lingering: Lingering, plan: Plan) -> None:
        """Start all jobs of a lease, if they are submitted and their hosts are free."""
        lease, run = start
        chains = [chain for chain in self._chains[lease.id] if not chain.done]
        there = all(chain.job.id in self._view.queue and chain.job.id not in self._killed for chain in chains)
        if not there or not all(self._may_begin(chain, run, lingering, plan) for chain in chains):
            return
        del self._starting[lease.id]
        late = self._view.now - run.start
        if lease.kind is LeaseKind.ADVANCE and late > TOLERANCE:
            plan.warn(
                f"{chains[0].job.id} starts {seconds(late)} s after {seconds(run.start)}: its hosts were not free"
            )
        for chain in chains:
            if chain.job.demand is None or plan.has_room(chain.job, self._placed(chain, run)):
                self._begin(chain, run, plan)
            else:  # a job that still runs leaves room for one job of the group, but not for two
                self._next.append((chain, run))

    def _lingering(self) -> Lingering:
        """Return the hosts of jobs that still run after their planned end."""
        now = self._view.now + TOLERANCE
        bits = whole = 0
        for job_id, runs in self._running.items():
            if runs.run.end <= now or job_id in self._killed:
                hosts = self._numbers(runs.run.nodes).bits
                bits |= hosts
                whole |= hosts if runs.job.demand is None else 0
        return Lingering(HostSet(bits), HostSet(whole))

    def _stop(self, stop: Stop, plan: Plan) -> None:
        lease, run, why = stop
        if lease.id in self._starting:
            if why != "shutdown":  # the start is dropped, with all its work left; a start that is only late is kept
                del self._starting[lease.id]
                self._refuse_waiting(lease, why, plan)
            return
        self._break_off(lease, why)
        for chain in self._chains[lease.id]:
            job = chain.job
            # A job that began late ends late, by its walltime, unless it must end for an advance reservation.
            best_effort = lease.kind is LeaseKind.BEST_EFFORT
            due = why == "shutdown" and (best_effort or run.start + job.limit <= run.end + TOLERANCE)
            if job.id in self._running and not due:
                self._killed[job.id] = Killed(chain, job, self._running[job.id].started, why)
                plan.kill(job)

    def _break_off(self, lease: Lease, why: str) -> None:
        """Cancel the immediate continuation of a run that is stopped."""
        self._next = [one for one in self._next if one[0].lease is not lease]
        for number, left in enumerate(self._left):
            if left.chain.lease is lease and left.run is not None and why in _GOES_ON:
                again, limit = left.parts, left.walltime
                if why == "requeue":
                    again, limit = self._whole(left.chain), left.chain.limit
                self._left[number] = Left(left.chain, again, limit)

    def _reject(self, reject: Reject, plan: Plan) -> None:
        why = reject.why
        if reject.alternative_start is not None:
            why += f"; it could start at {seconds(reject.alternative_start)}"
        self._refuse(reject.lease, why, plan)

    def _refuse_waiting(self, lease: Lease, why: str, plan: Plan) -> None:
        """Reject the jobs of a lease that ended before its pending start."""
        if why not in _GOES_ON:
            self._refuse(lease, f"its lease has ended: {why}", plan)

    def _refuse(self, lease: Lease, why: str, plan: Plan) -> None:
        """Reject the waiting jobs of a lease, as soon as Batsim has accepted their submissions."""
        self._closing[lease.id] = None
        for chain in self._chains[lease.id]:
            if chain.waits and chain.job.id in self._view.queue:
                self._reject_with(chain.job, why, plan)
            elif chain.waits:
                self._refused.append((chain.job, why))
            chain.waits = False

    def _reject_with(self, job: Job, why: str, plan: Plan) -> None:
        """Reject a job, with the reason as metadata if supported."""
        if plan.dialect.keeps_metadata:
            plan.set_metadata(job, why.replace('"', "'"))
        plan.reject(job, why)

    def _show(self, occupy: Occupy, plan: Plan) -> None:
        """Submit a job with the duration of a suspension or a resumption."""
        reservation = occupy.reservation
        if any(chain.job.demand is not None for chain in self._chains[reservation.lease.id]):
            return  # its tasks share hosts, and such a job would need whole ones
        seconds, hosts = reservation.end - self._view.now, self._numbers(reservation.nodes)
        if seconds > TOLERANCE:
            overhead = Overhead(reservation.use.value, seconds, len(hosts))
            job = self._chains[reservation.lease.id][0].job
            shown = self.segments.show_overhead(job, overhead, self._view, plan)
            self._overheads.append(ShownOverhead(shown, hosts))

    def _let_go(self) -> None:
        """Drop ended leases without jobs that run or are being killed."""
        for lease_id in list(self._closing):
            chains = self._chains[lease_id]
            runs = any(chain.job.id in self._running or chain.job.id in self._killed for chain in chains)
            if chains[0].lease.ended and not runs and lease_id not in self._starting:
                del self._closing[lease_id], self._chains[lease_id]

    def _numbers(self, nodes: Mapping[int, int]) -> HostSet:
        """Return the hosts of nodes, in Batsim's numbers."""
        return HostSet.from_ids(self._hosts[host] for host in nodes.values())

    def _executors(self, nodes: Mapping[int, int], hosts: HostSet) -> dict[int, int] | None:
        """Return executor -> position of its host among `hosts`; None if there is one executor on each host."""
        if len(hosts) == len(nodes):
            return None
        place = {host: position for position, host in enumerate(hosts)}
        return {number: place[self._hosts[host]] for number, host in enumerate(nodes.values())}

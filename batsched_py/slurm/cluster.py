"""State of the cluster that both schedulers share: jobs, nodes, licences and reservations."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Sequence
from functools import reduce
from math import floor, inf
from operator import or_
from typing import Final

from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.core_sharing import CoreSharing, may_share
from batsched_py.slurm.decisions import Decision, JobRequeue, JobStart, JobStop, JobSuspension
from batsched_py.slurm.hostlist import compress
from batsched_py.slurm.jobs import PENDING, RUNNING, SUSPENDED, SlurmJob
from batsched_py.slurm.limits import UsageLimits
from batsched_py.slurm.node_use import NodeAllocation, NodeUse
from batsched_py.slurm.offers import each_bit
from batsched_py.slurm.priority import JobPriorities
from batsched_py.slurm.queue import Candidate, JobQueue
from batsched_py.slurm.reservations import AdvanceReservation, AdvanceReservations
from batsched_py.slurm.running_changes import RunningChanges
from batsched_py.slurm.selection import NodeSelector

#: The largest number of requests of which it is remembered where they fit.
_MOST_FITTING: Final = 10_000


class ClusterState:
    """Jobs, nodes, licences and reservations of one cluster, with the mutators of jobs."""

    def __init__(self, configuration: SlurmConfiguration, accounts: Accounts) -> None:
        self.configuration, self.accounts = configuration, accounts
        self.selector, self.limits = NodeSelector(configuration), UsageLimits(configuration, accounts)
        self.priorities = JobPriorities(configuration, accounts)
        self.use, self.idle = NodeUse(configuration), NodeUse(configuration)
        self.sharing = CoreSharing(configuration)
        self.queue = JobQueue(stop=self.stop, kills_invalid=configuration.scheduler.kill_invalid_depend)
        #: Running and suspended jobs in the order of their starts, and by the ends of their limits and sequence.
        self.running: dict[SlurmJob, None] = {}
        self._by_end: list[tuple[float, int, SlurmJob]] = []
        #: Those of them that are suspended, those that have licences, and the licences in use.
        self._suspended: dict[SlurmJob, None] = {}
        self.licensed: dict[SlurmJob, None] = {}
        self._licences: Counter[str] = Counter()
        #: Id of each array with a limit -> number of its tasks that run or are suspended.
        self._active: Counter[int] = Counter()
        #: Request and nodes -> whether it fits there if nothing runs.
        self._fitting: dict[tuple[object, ...], bool] = {}
        self.reservations = AdvanceReservations()
        #: Nodes that take no jobs: drained or down.
        self.unavailable = configuration.down_nodes
        #: Preempted jobs whose nodes are not free yet, in the order in which they will be; and how long this takes.
        self.completing: list[SlurmJob] = []
        self.requeue_delay = self.cancel_delay = 0.0
        self.decisions: list[Decision] = []
        #: Whole second of the last change that backfill takes into account, and of a submission or an end.
        self.changed_at = -(1 << 40)
        self.is_pass_due = False
        #: Number of changes on which passes depend: with the same one, and no other time, a pass decides the same.
        self.version = 0
        #: Number of those of them that were not new jobs or another order of the queue; and without starts and ends.
        self.basis = self.ground = 0
        #: The starts and ends since the last pass of backfill began.
        self.running_changes = RunningChanges()

    @property
    def pending(self) -> list[SlurmJob]:
        """Pending jobs in the order of submission."""
        return self.queue.pending

    @property
    def jobs(self) -> dict[int, list[SlurmJob]]:
        """All jobs by id; the tasks of an array have one."""
        return self.queue.jobs

    def add(self, jobs: list[SlurmJob]) -> None:
        """Add the new jobs of one submission."""
        self.jobs[jobs[0].id] = jobs
        for job in jobs:
            self.queue.add(job)
            self.limits.note_submission(job)
        self.version += 1

    def note_change(self) -> None:
        """Note a change on which all decisions may depend."""
        self._note_running()
        self.ground += 1

    def _note_running(self) -> None:
        """Note a start or an end of a running job."""
        self.version += 1
        self.basis += 1

    def note_command(self) -> None:
        """Note that a command may have changed jobs, nodes and reservations."""
        self.note_change()
        self.priorities.is_outdated = True
        self.queue.note_changes()
        self.limits.note_changes(self.running)
        self._by_end = sorted((job.limit_end, job.sequence, job) for job in self.running)

    @property
    def is_timeless(self) -> bool:
        """Do passes of the same version decide the same, apart from instants that they and the queue know?"""
        has_edges = bool(self.reservations.all or self.completing or self.configuration.switches)
        has_licences = self.configuration.scheduler.bf_licenses and bool(self.licensed)
        return self.configuration.preempt == "none" and not has_edges and not has_licences

    def mark_changed(self, now: float) -> None:
        """Note a change: backfill has something to do."""
        self.changed_at = floor(now)

    def candidates(self, now: float) -> list[Candidate]:
        """Return pending jobs that may start, in each of their partitions and reservations, in the order of tests."""
        return self.queue.candidates(self.reservations, now)

    def waits_for_array(self, job: SlurmJob) -> bool:
        """Does the limit of its array on running tasks keep the job?"""
        most = job.request.array_limit
        return most is not None and self._active[job.id] >= most

    def lacks_licences(self, job: SlurmJob, entered: AdvanceReservation | None, now: float) -> bool:
        """Are fewer licences free than the job asks for?"""
        end = now + job.limit * 60
        for name, count in job.request.licences:
            total = next((many for known, many in self.configuration.licences if known == name), 0)
            if count > total - self._licences[name] - self.reservations.reserved_licences(name, now, end, entered):
                return True
        return False

    def switches_wait(self, job: SlurmJob) -> float:
        """Return the seconds for which a job waits for as few switches as it wants."""
        return job.request.switches_wait if job.request.switches_wait is not None else 300.0

    def most_switches(self, job: SlurmJob, now: float) -> int | None:
        """Return the number of leaf switches that the job wants, while it still waits for them."""
        return job.request.switches if now < (job.eligible or job.submitted) + self.switches_wait(job) else None

    def select(self, job: SlurmJob, partition: SlurmPartition, nodes: int, now: float) -> NodeAllocation | None:
        """Return an allocation on some of these nodes that is free now."""
        job.enter(partition)
        nodes = self.selector.nodes_for_user(self.use, job, nodes)
        return self.select_now(job, nodes, self.most_switches(job, now))

    def select_now(self, job: SlurmJob, nodes: int, most_switches: int | None) -> NodeAllocation | None:
        """Return an allocation of a job in its partition that is free now, or shared if it must be."""
        found = self.selector.select(self.use, job, nodes, most_switches)
        if found is None and self.sharing and may_share(job):
            return self.selector.select(self.sharing.use_for(job, self.running), job, nodes, most_switches)
        return found

    def fits_idle(self, job: SlurmJob, partition: SlurmPartition, nodes: int) -> bool:
        """Would the job fit on these nodes if nothing ran?"""
        job.enter(partition)
        shape = self.selector.table.shape(job)
        key = (shape, job.tasks, job.min_nodes, job.max_nodes, job.request.constraint, nodes)
        if key not in self._fitting:
            if len(self._fitting) > _MOST_FITTING:
                self._fitting.clear()
            self._fitting[key] = self.selector.choose(self.idle, job, nodes) is not None
        return self._fitting[key]

    def start(self, job: SlurmJob, partition: SlurmPartition, allocation: NodeAllocation, now: float, by: str) -> None:
        """Start a pending job."""
        self.use.take(self.sharing.unshared_part(allocation) if self.sharing else allocation)
        self.queue.remove(job)
        job.state, job.reason, job.partition, job.allocation = RUNNING, "", partition, allocation
        self.sharing.add(job)
        job.started = job.used_until = now
        job.suspended, job.suspended_since, job.grace_until = 0.0, None, None
        self.running[job] = None
        insort(self._by_end, (job.limit_end, job.sequence, job))
        self.limits.note_start(job)
        self._count(job, 1)
        self.queue.note_state(job)
        self._note_running()
        self.running_changes.started = max(self.running_changes.started, job.limit_end)
        self.mark_changed(now)
        self.decisions.append(JobStart(job.key, now, self.names(allocation.nodes), by))

    def names(self, nodes: int) -> str:
        """Return nodes as Slurm writes them."""
        return compress([self.configuration.nodes[at].name for at in each_bit(nodes)])

    def end(self, job: SlurmJob, state: str, now: float, is_ok: bool = True) -> None:
        """End a running job, and free what it has."""
        self._free(job, now)
        job.state, job.ended, job.exit_ok = state, now, is_ok
        self.limits.note_end(job)
        self.queue.note_state(job)
        self.mark_changed(now)
        self.is_pass_due = True

    def _free(self, job: SlurmJob, now: float) -> None:
        assert job.allocation is not None  # noqa: S101
        if "limits" in self.configuration.enforce and self.configuration.multifactor:
            self.priorities.add_usage(job, now)
        del self.running[job]
        del self._by_end[bisect_left(self._by_end, (job.limit_end, job.sequence, job))]
        self._suspended.pop(job, None)
        self.limits.note_stop(job)
        self._count(job, -1)
        self._note_running()
        self.running_changes.ended = max(self.running_changes.ended, job.limit_end)
        if job in self.completing:
            self.completing.remove(job)
        self.sharing.remove(job)
        kept = job.kept or job.allocation
        self.use.release(self.sharing.unshared_part(kept) if self.sharing else kept)
        job.kept = None
        for one in [one for one in self.running if one.suspended_by == job.key] if self._suspended else ():
            self._resume(one, now)

    def _count(self, job: SlurmJob, sign: int) -> None:
        """Count the licences of a job that starts or ends, and its array."""
        for name, many in job.request.licences:
            self._licences[name] += sign * many
        if job.request.licences:
            self.licensed[job] = None
            if sign < 0:
                del self.licensed[job]
        if job.request.array_limit is not None:
            self._active[job.id] += sign

    def stop(self, job: SlurmJob, state: str, now: float) -> None:
        """End a job by a decision, or remove a pending one."""
        if job.state == PENDING:
            self.queue.remove(job)
            job.state, job.ended, job.exit_ok = state, now, False
            self.limits.note_end(job)
            self.queue.note_state(job)
            self.note_change()
            self.mark_changed(now)
        else:
            self.end(job, state, now, is_ok=False)
        self.decisions.append(JobStop(job.key, now, state))

    def requeue(self, job: SlurmJob, now: float) -> None:
        """Let a running job pend again."""
        self._pend_again(job, now)
        self.decisions.append(JobRequeue(job.key, now))

    def _pend_again(self, job: SlurmJob, now: float) -> None:
        """Put a running job into the queue; it may begin after its credential has expired."""
        self._free(job, now)
        job.state, job.reason, job.allocation, job.ended = PENDING, "BeginTime", None, None
        job.restarts += 1
        job.submitted = now
        job.begin = floor(now) + self.configuration.cred_expire + 1
        job.eligible = None
        self.queue.add(job)
        self.queue.note_state(job)
        self.mark_changed(now)
        self.is_pass_due = True

    def preempt(self, job: SlurmJob, is_requeued: bool, now: float) -> None:
        """Decide that a running job ends at once; its nodes are free a little later, by `complete`."""
        job.is_requeued = is_requeued
        self.note_change()
        job.complete_at = now + (self.requeue_delay if is_requeued else self.cancel_delay)
        self.completing.append(job)
        self.completing.sort(key=lambda one: (one.complete_at or 0, one.sequence))
        self.decisions.append(JobRequeue(job.key, now) if is_requeued else JobStop(job.key, now, "PREEMPTED"))

    def complete(self, now: float) -> None:
        """Free the nodes of preempted jobs for which it is time."""
        for job in [one for one in self.completing if (one.complete_at or 0) <= now]:
            if job.is_requeued:
                self._pend_again(job, now)
            else:
                self.end(job, "PREEMPTED", now, is_ok=False)

    def start_over(
        self,
        job: SlurmJob,
        partition: SlurmPartition,
        allocation: NodeAllocation,
        suspended: Sequence[SlurmJob],
        *,
        now: float,
        by: str,
    ) -> None:
        """Start a job on cores of others, which are suspended until it ends."""
        for one in suspended:
            assert one.allocation is not None  # noqa: S101
            self.use.release(one.allocation)
            one.kept, one.suspended_by = one.allocation.without(allocation), job.key
            one.state, one.suspended_since = SUSPENDED, now
            self._suspended[one] = None
            self.decisions.append(JobSuspension(one.key, now, True))
        self.start(job, partition, allocation, now, by)
        for one in suspended:
            if one.kept is not None:
                self.use.take(one.kept)
        self.limits.note_changes(self.running)

    def _resume(self, job: SlurmJob, now: float) -> None:
        """Resume a suspended job; its limit moves by the time of the suspension."""
        assert job.suspended_since is not None  # noqa: S101
        assert job.allocation is not None  # noqa: S101
        assert job.kept is not None  # noqa: S101
        self.use.release(job.kept)
        self.use.take(job.allocation)
        job.kept, job.suspended_by = None, ""
        del self._by_end[bisect_left(self._by_end, (job.limit_end, job.sequence, job))]
        job.suspended += now - job.suspended_since
        job.state, job.suspended_since = RUNNING, None
        del self._suspended[job]
        insort(self._by_end, (job.limit_end, job.sequence, job))
        self.limits.note_changes(self.running)
        self.mark_changed(now)
        self.decisions.append(JobSuspension(job.key, now, False))

    def running_by_end(self) -> Sequence[SlurmJob]:
        """Return running jobs in the order of the ends of their limits."""
        return [job for _, _, job in self._by_end]

    @property
    def has_suspended(self) -> bool:
        """Is a job suspended?"""
        return bool(self._suspended)

    def first_end(self) -> float:
        """Return the first end of a limit of a running job, without OverTimeLimit; infinite if none runs."""
        return self._by_end[0][0] if self._by_end else inf

    def check(self) -> None:
        """Assert that jobs and nodes agree."""
        for at, cores in enumerate(self.use.free_cores):
            used = [s.cores for job in self.running if job.allocation for s in job.allocation.shares if s.node == at]
            every = reduce(or_, used, 0)
            assert self.sharing or every == sum(used), f"jobs share cores of node {at}"  # noqa: S101
            assert every + cores == self.idle.free_cores[at], f"cores of node {at}"  # noqa: S101
        assert all(job.state == PENDING for job in self.pending), "a job that is not pending is in the queue"  # noqa: S101

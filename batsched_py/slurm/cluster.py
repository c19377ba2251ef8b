"""State of the cluster that both schedulers share: jobs, nodes, licences and reservations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor

from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.configuration import SlurmConfiguration, SlurmPartition
from batsched_py.slurm.decisions import Decision, JobRequeue, JobStart, JobStop, JobSuspension
from batsched_py.slurm.dependencies import MET, NEVER, dependency_state
from batsched_py.slurm.hostlist import compress
from batsched_py.slurm.jobs import PENDING, RUNNING, SUSPENDED, SlurmJob
from batsched_py.slurm.limits import UsageLimits
from batsched_py.slurm.node_use import NodeAllocation, NodeUse
from batsched_py.slurm.priority import JobPriorities
from batsched_py.slurm.reservations import AdvanceReservation, AdvanceReservations
from batsched_py.slurm.selection import NodeSelector


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job in one of its partitions, and in a reservation that it enters."""

    job: SlurmJob
    partition: SlurmPartition
    reservation: AdvanceReservation | None

    def rank(self) -> tuple[float, ...]:
        """Return the key of the order in which candidates are tested."""
        job = self.job
        priority = job.priority_in(self.partition)
        return (self.reservation is None, -self.partition.tier, -priority, job.sequence)


class ClusterState:
    """Jobs, nodes, licences and reservations of one cluster, with the mutators of jobs."""

    def __init__(self, configuration: SlurmConfiguration, accounts: Accounts) -> None:
        self.configuration, self.accounts = configuration, accounts
        self.selector, self.limits = NodeSelector(configuration), UsageLimits(configuration)
        self.priorities = JobPriorities(configuration, accounts)
        self.use, self.idle = NodeUse(configuration), NodeUse(configuration)
        #: Jobs in the order of submission; running ones include suspended ones.
        self.pending: list[SlurmJob] = []
        self.running: list[SlurmJob] = []
        #: All jobs by id; the tasks of an array have one.
        self.jobs: dict[int, list[SlurmJob]] = {}
        self.reservations = AdvanceReservations()
        #: Nodes that take no jobs: drained or down.
        self.unavailable = 0
        #: Preempted jobs whose nodes are not free yet, in the order in which they will be; and how long this takes.
        self.completing: list[SlurmJob] = []
        self.requeue_delay = self.cancel_delay = 0.0
        self.decisions: list[Decision] = []
        #: Whole second of the last change that backfill takes into account, and of a submission or an end.
        self.changed_at = -(1 << 40)
        self.is_pass_due = False

    def mark_changed(self, now: float) -> None:
        """Note a change: backfill has something to do."""
        self.changed_at = floor(now)

    def candidates(self, now: float) -> list[Candidate]:
        """Return pending jobs that may start, in each of their partitions and reservations, in the order of tests."""
        runnable = [job for job in list(self.pending) if self._is_runnable(job, now)]
        found = [
            Candidate(job, partition, reservation)
            for job in runnable
            for partition in job.partitions
            for reservation in self.reservations.of(job, now)
        ]
        found.sort(key=Candidate.rank)
        return found

    def _is_runnable(self, job: SlurmJob, now: float) -> bool:
        if job.is_held:
            return False
        if job.is_dependency_open:
            state = dependency_state(job, self.jobs, now)
            if state != MET:
                self._set_dependency_reason(job, state, now)
                return False
            job.is_dependency_open = False
        if job.begin is not None and now < job.begin:
            job.reason = "BeginTime"
            return False
        if job.eligible is None:
            job.eligible = max(now if job.request.dependency else job.submitted, job.begin or 0)
        return not self._is_deadline_missed(job, now)

    def _set_dependency_reason(self, job: SlurmJob, state: str, now: float) -> None:
        job.reason = "DependencyNeverSatisfied" if state == NEVER else "Dependency"
        kill = job.request.kill_on_invalid_dependency
        if state == NEVER and (self.configuration.scheduler.kill_invalid_depend if kill is None else kill):
            self.stop(job, "CANCELLED", now)

    def _is_deadline_missed(self, job: SlurmJob, now: float) -> bool:
        limit = job.request.time_min or job.limit
        if job.deadline is None or now + limit * 60 <= job.deadline:
            return False
        self.stop(job, "DEADLINE", now)
        return True

    def waits_for_array(self, job: SlurmJob) -> bool:
        """Does the limit of its array on running tasks keep the job?"""
        most = job.request.array_limit
        if most is None:
            return False
        return sum(one.state in {RUNNING, SUSPENDED} for one in self.jobs[job.id]) >= most

    def lacks_licences(self, job: SlurmJob, entered: AdvanceReservation | None, now: float) -> bool:
        """Are fewer licences free than the job asks for?"""
        end = now + job.limit * 60
        for name, count in job.request.licences:
            total = next((many for known, many in self.configuration.licences if known == name), 0)
            used = sum(many for one in self.running for known, many in one.request.licences if known == name)
            if count > total - used - self.reservations.reserved_licences(name, now, end, entered):
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
        job.partition = partition
        nodes = self.selector.nodes_for_user(self.use, job, nodes)
        return self.selector.select(self.use, job, nodes, self.most_switches(job, now))

    def fits_idle(self, job: SlurmJob, partition: SlurmPartition, nodes: int) -> bool:
        """Would the job fit on these nodes if nothing ran?"""
        job.partition = partition
        return self.selector.select(self.idle, job, nodes) is not None

    def start(self, job: SlurmJob, partition: SlurmPartition, allocation: NodeAllocation, now: float, by: str) -> None:
        """Start a pending job."""
        self.use.take(allocation)
        self.pending.remove(job)
        self.running.append(job)
        job.state, job.reason, job.partition, job.allocation = RUNNING, "", partition, allocation
        job.started = job.used_until = now
        job.suspended, job.suspended_since, job.grace_until = 0.0, None, None
        self.mark_changed(now)
        self.decisions.append(JobStart(job.key, now, self.names(allocation.nodes), by))

    def names(self, nodes: int) -> str:
        """Return nodes as Slurm writes them."""
        return compress([node.name for at, node in enumerate(self.configuration.nodes) if nodes >> at & 1])

    def end(self, job: SlurmJob, state: str, now: float, is_ok: bool = True) -> None:
        """End a running job, and free what it has."""
        self._free(job, now)
        job.state, job.ended, job.exit_ok = state, now, is_ok
        self.mark_changed(now)
        self.is_pass_due = True

    def _free(self, job: SlurmJob, now: float) -> None:
        assert job.allocation is not None  # noqa: S101
        if "limits" in self.configuration.enforce and self.configuration.multifactor:
            self.priorities.add_usage(job, now)
        self.running.remove(job)
        if job in self.completing:
            self.completing.remove(job)
        self.use.release(job.kept or job.allocation)
        job.kept = None
        for one in [one for one in self.running if one.suspended_by == job.key]:
            self._resume(one, now)

    def stop(self, job: SlurmJob, state: str, now: float) -> None:
        """End a job by a decision, or remove a pending one."""
        if job.state == PENDING:
            self.pending.remove(job)
            job.state, job.ended, job.exit_ok = state, now, False
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
        job.begin = floor(now) + self.configuration.cred_expire + 1
        job.eligible = None
        self.pending.append(job)
        self.pending.sort(key=lambda one: one.sequence)
        self.mark_changed(now)
        self.is_pass_due = True

    def preempt(self, job: SlurmJob, is_requeued: bool, now: float) -> None:
        """Decide that a running job ends at once; its nodes are free a little later, by `complete`."""
        job.is_requeued = is_requeued
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
            self.decisions.append(JobSuspension(one.key, now, True))
        self.start(job, partition, allocation, now, by)
        for one in suspended:
            if one.kept is not None:
                self.use.take(one.kept)

    def _resume(self, job: SlurmJob, now: float) -> None:
        """Resume a suspended job; its limit moves by the time of the suspension."""
        assert job.suspended_since is not None  # noqa: S101
        assert job.allocation is not None  # noqa: S101
        assert job.kept is not None  # noqa: S101
        self.use.release(job.kept)
        self.use.take(job.allocation)
        job.kept, job.suspended_by = None, ""
        job.suspended += now - job.suspended_since
        job.state, job.suspended_since = RUNNING, None
        self.mark_changed(now)
        self.decisions.append(JobSuspension(job.key, now, False))

    def running_by_end(self) -> Sequence[SlurmJob]:
        """Return running jobs in the order of the ends of their limits."""
        return sorted(self.running, key=lambda job: (job.limit_end, job.sequence))

    def check(self) -> None:
        """Assert that jobs and nodes agree."""
        for at, cores in enumerate(self.use.free_cores):
            used = [s.cores for job in self.running if job.allocation for s in job.allocation.shares if s.node == at]
            assert sum(used) + cores == self.idle.free_cores[at], f"cores of node {at}"  # noqa: S101
        assert all(job.state == PENDING for job in self.pending), "a job that is not pending is in the queue"  # noqa: S101

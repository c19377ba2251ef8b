"""The main scheduler: a pass over the queue that starts jobs in order, until one does not fit in its partition."""

from __future__ import annotations

from collections import Counter
from math import inf

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.pass_outcome import PassOutcome
from batsched_py.slurm.preemption import JobPreemption
from batsched_py.slurm.queue import Candidate


class MainScheduler:
    """Passes of the main scheduler (sched/builtin, and the first part of sched/backfill)."""

    def __init__(self, cluster: ClusterState, preemption: JobPreemption) -> None:
        self._cluster, self._preemption = cluster, preemption
        #: Did the last pass look at all jobs?
        self.sees_all = False
        #: Partitions that are closed for the rest of the pass, and their nodes, which no later job gets.
        self._closed: set[str] = set()
        self._withheld = 0
        #: Jobs whose reason was set in the pass; and whether one got two reasons, or was started behind one that waits.
        self._explained: set[SlurmJob] = set()
        self._is_unsteady = False

    def run(self, now: float, is_full: bool) -> PassOutcome:
        """Run a pass: over all jobs, or at most default_queue_depth of them; return whether it would be the same again.

        A full pass and another one are the same if all jobs are in both: `sees_all`.
        """
        self._closed, self._withheld = set(), 0
        self._explained, self._is_unsteady = set(), False
        cluster = self._cluster
        options, depth, depths = cluster.configuration.scheduler, 0, Counter[str]()
        candidates, version = cluster.candidates(now), cluster.version
        self.sees_all = len(candidates) <= options.default_queue_depth and not options.partition_job_depth
        for candidate in candidates:
            job, partition = candidate.job, candidate.partition
            if job.state != PENDING:
                continue
            if not is_full and depth >= options.default_queue_depth:
                break
            depth += 1
            depths[partition.name] += 1
            if options.partition_job_depth and depths[partition.name] > options.partition_job_depth and not is_full:
                continue
            self._try(candidate, now)
        has_started = cluster.version != version
        is_steady = cluster.is_timeless and not self._is_unsteady and (self.sees_all or not has_started)
        return PassOutcome(
            cluster.version, cluster.queue.next_instant() if is_steady else -inf, is_change=bool(self._withheld)
        )

    def _try(self, candidate: Candidate, now: float) -> None:
        cluster, job, partition = self._cluster, candidate.job, candidate.partition
        if partition.name in self._closed:
            if job.reason in {"", "Resources"}:
                self._wait(job, "Priority", now)
            return
        reason = self._obstacle(candidate, now)
        if reason:
            self._wait(job, reason, now)
            return
        nodes, reason = self._nodes(candidate, now)
        allocation = cluster.select(job, partition, nodes, now) if not reason else None
        if allocation is not None and (reason := cluster.limits.reason(job, partition, allocation)):
            allocation = None
        if allocation is not None:
            self._is_unsteady = self._is_unsteady or bool(self._withheld)
            cluster.start(job, partition, allocation, now, "main")
        elif reason:
            self._wait(job, reason, now)
        elif self._preemption.give_way(job, nodes, now, "main") is None or job.state == PENDING:
            self._close(job, partition, now)

    def _close(self, job: SlurmJob, partition: SlurmPartition, now: float) -> None:
        self._closed.add(partition.name)
        self._withheld |= partition.nodes
        self._wait(job, "Resources", now)
        self._cluster.mark_changed(now)

    def _wait(self, job: SlurmJob, reason: str, now: float) -> None:
        if job.reason != reason:
            self._is_unsteady = self._is_unsteady or job in self._explained
            self._explained.add(job)
            job.reason = reason
            self._cluster.mark_changed(now)

    def _obstacle(self, candidate: Candidate, now: float) -> str:
        """Return the reason that keeps the job, apart from nodes."""
        cluster, job, partition = self._cluster, candidate.job, candidate.partition
        if reason := cluster.limits.partition_reason(job, partition):
            return reason
        if cluster.waits_for_array(job):
            return "JobArrayTaskLimit"
        if reason := cluster.limits.reason(job, partition):
            if cluster.configuration.scheduler.assoc_limit_stop and "Jobs" not in reason:
                self._closed.add(partition.name)
            return reason
        if cluster.lacks_licences(job, candidate.reservation, now):
            if cluster.configuration.scheduler.bf_licenses:
                self._closed.add(partition.name)
            return "Licenses"
        return ""

    def _nodes(self, candidate: Candidate, now: float) -> tuple[int, str]:
        """Return the nodes that the job may use now, and the reason if they can never suffice for now."""
        cluster, job, partition = self._cluster, candidate.job, candidate.partition
        entered = candidate.reservation
        if entered is not None and not entered.start <= now < entered.end:
            return 0, "Reservation"
        available = partition.nodes & ~cluster.unavailable
        nodes = available & ~cluster.reservations.closed_nodes(now, now + job.limit * 60, entered)
        if entered is not None:
            nodes = entered.offered(nodes)
        if nodes != available and not cluster.fits_idle(job, partition, nodes):
            return 0, "ReqNodeNotAvail, May be reserved for other job"
        open_nodes = nodes
        nodes &= ~self._withheld
        if nodes != open_nodes and not cluster.fits_idle(job, partition, nodes):
            return 0, "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
        return nodes, ""

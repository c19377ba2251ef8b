"""The main scheduler: a pass over the queue that starts jobs in order, until one does not fit in its partition."""

from __future__ import annotations

from collections import Counter

from batsched_py.slurm.cluster import Candidate, ClusterState
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.preemption import JobPreemption


class MainScheduler:
    """Passes of the main scheduler (sched/builtin, and the first part of sched/backfill)."""

    def __init__(self, cluster: ClusterState, preemption: JobPreemption) -> None:
        self._cluster, self._preemption = cluster, preemption
        #: Partitions that are closed for the rest of the pass, and their nodes, which no later job gets.
        self._closed: set[str] = set()
        self._withheld = 0

    def run(self, now: float, is_full: bool) -> None:
        """Run a pass: over all jobs, or at most default_queue_depth of them."""
        self._closed, self._withheld = set(), 0
        options, depth, depths = self._cluster.configuration.scheduler, 0, Counter[str]()
        for candidate in self._cluster.candidates(now):
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
        if allocation is not None:
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
            job.reason = reason
            self._cluster.mark_changed(now)

    def _obstacle(self, candidate: Candidate, now: float) -> str:
        """Return the reason that keeps the job, apart from nodes."""
        cluster, job, partition = self._cluster, candidate.job, candidate.partition
        if reason := cluster.limits.partition_reason(job, partition):
            return reason
        if cluster.waits_for_array(job):
            return "JobArrayTaskLimit"
        if reason := cluster.limits.reason(job, cluster.running):
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
            nodes &= entered.nodes
        if nodes != available and not cluster.fits_idle(job, partition, nodes):
            return 0, "ReqNodeNotAvail, May be reserved for other job"
        open_nodes = nodes
        nodes &= ~self._withheld
        if nodes != open_nodes and not cluster.fits_idle(job, partition, nodes):
            return 0, "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions"
        return nodes, ""

"""Preemption by partition or QOS: which running jobs give way to a job, and how.

Jobs of lower partition tiers, or of QOS that the job's QOS may preempt, are removed in order until the job fits: the
least QOS priority or tier first, then jobs on fewer nodes, then those that started first, or with
preempt_youngest_first those that started last. Those on other nodes than the job gets are spared. As long as one of
them runs, in its time of grace or until its nodes are free, the job asks no others, nor the same ones again.

What is reserved for the job in the meantime is not the nodes of those jobs, but what it would get if all that it may
preempt were gone: so the recorded plans are.
"""

from __future__ import annotations

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import RUNNING, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse


class JobPreemption:
    """The preemption of jobs of one cluster."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._configuration = cluster.configuration
        #: May jobs give way at all?
        self.is_possible = cluster.configuration.preempt != "none"

    def give_way(self, job: SlurmJob, nodes: int, now: float, by: str) -> NodeAllocation | None:
        """Let running jobs give way to one that does not fit on these nodes.

        Returns:
            what it will get, or None if none has to give way or they do not suffice. With suspension it has started.
        """
        if not self.is_possible:
            return None
        if self._is_waited_for(job):
            return self.without_preempted(job, nodes, now)
        found = self._victims(job, nodes, now)
        if found is None:
            return None
        allocation, victims = found
        suspended = [one for one in victims if self._mode(one) == "SUSPEND"]
        if suspended and len(suspended) == len(victims) and job.partition is not None:
            self._cluster.start_over(job, job.partition, allocation, suspended, now=now, by=by)
            return allocation
        job.preempted = tuple(victims)
        for one in victims:
            self._end(one, now)
        return allocation

    def without_preempted(self, job: SlurmJob, nodes: int, now: float) -> NodeAllocation | None:
        """Return what a job would get on these nodes if no job ran that it may preempt; None if it does not fit."""
        use = self._cluster.use.copy()
        for one in self.gone(job, now):
            _release(use, one)
        return self._cluster.selector.select(use, job, nodes)

    def gone(self, job: SlurmJob, now: float) -> list[SlurmJob]:
        """Return the running jobs that are not in the way of a job in plans: it may preempt them, or they end now."""
        return [*self._cluster.completing, *self._candidates(job, now)] if self.is_possible else []

    def _is_waited_for(self, job: SlurmJob) -> bool:
        """Does one of the jobs that had to give way still run, in its time of grace or until its nodes are free?"""
        running, completing = self._cluster.running, self._cluster.completing
        job.preempted = tuple(
            one for one in job.preempted if one in running and (one.grace_until is not None or one in completing)
        )
        return bool(job.preempted)

    def _victims(self, job: SlurmJob, nodes: int, now: float) -> tuple[NodeAllocation, list[SlurmJob]] | None:
        """Return an allocation and the running jobs that have to go for it."""
        cluster, use = self._cluster, self._cluster.use.copy()
        for one in cluster.completing:
            _release(use, one)
        if (found := cluster.selector.select(use, job, nodes)) is not None:
            return (found, []) if cluster.completing else None
        removed: list[SlurmJob] = []
        candidates = self._candidates(job, now)
        if self._configuration.gang:
            removed = [one for one in candidates if self._mode(one) == "SUSPEND"]
            for one in removed:
                _release(use, one)
            candidates = [one for one in candidates if one not in removed]
            found = cluster.selector.select(use, job, nodes)
        for one in candidates:
            if found is not None:
                break
            _release(use, one)
            removed.append(one)
            found = cluster.selector.select(use, job, nodes)
        if found is None:
            return None
        return found, [one for one in removed if one.allocation and one.allocation.nodes & found.nodes]

    def _candidates(self, job: SlurmJob, now: float) -> list[SlurmJob]:
        candidates = [one for one in self._cluster.running if one.state == RUNNING and self._may(job, one, now)]
        if self._configuration.scheduler.preempt_youngest_first:
            return sorted(candidates, key=lambda one: (self._level(one), -(one.started or 0), -one.sequence))
        return sorted(candidates, key=lambda one: (self._level(one), _nodes(one), one.started or 0, one.sequence))

    def _may(self, job: SlurmJob, victim: SlurmJob, now: float) -> bool:
        if victim in self._cluster.completing or self._mode(victim) == "OFF" or victim.partition is None:
            return False
        exempt = victim.qos.exempt if victim.qos is not None and victim.qos.exempt is not None else None
        if victim.started is None or now < victim.started + (exempt or self._configuration.preempt_exempt):
            return False
        if self._configuration.preempt == "qos":
            return job.qos is not None and victim.qos is not None and victim.qos.name in job.qos.preempts
        return job.partition is not None and victim.partition.tier < job.partition.tier

    def _mode(self, victim: SlurmJob) -> str:
        if self._configuration.preempt == "qos" and victim.qos is not None and victim.qos.preempt_mode:
            return victim.qos.preempt_mode
        if victim.partition is not None and victim.partition.preempt_mode:
            return victim.partition.preempt_mode
        return self._configuration.preempt_mode

    def _level(self, victim: SlurmJob) -> int:
        if self._configuration.preempt == "qos":
            return victim.qos.priority if victim.qos is not None else 0
        return victim.partition.tier if victim.partition is not None else 0

    def _end(self, victim: SlurmJob, now: float) -> None:
        grace = victim.qos.grace if self._configuration.preempt == "qos" and victim.qos is not None else 0
        if victim.partition is not None:
            grace = max(grace, victim.partition.grace)
        if victim.grace_until is None and grace:
            victim.grace_until = now + grace
        elif victim.grace_until is None or now >= victim.grace_until:
            self._cluster.preempt(victim, self._mode(victim) == "REQUEUE" and victim.request.requeue, now)


def _nodes(job: SlurmJob) -> int:
    return job.allocation.nodes.bit_count() if job.allocation is not None else 0


def _release(use: NodeUse, job: SlurmJob) -> None:
    if job.allocation is not None:
        use.release(job.allocation)

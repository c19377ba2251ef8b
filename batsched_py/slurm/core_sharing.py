"""Jobs that share cores, as OverSubscribe=YES lets those do that ask for it with --oversubscribe.

A job gets free cores if it can. Otherwise cores count as free on which only jobs run that share, fewer than the
partition allows (source: slurm.conf(5)). Memory and generic resources are never shared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse


class CoreSharing:
    """The running jobs of one cluster that share cores."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._configuration = configuration
        self._jobs: dict[SlurmJob, None] = {}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def add(self, job: SlurmJob) -> None:
        """Note the start of a job, if it shares cores."""
        if may_share(job):
            self._jobs[job] = None

    def remove(self, job: SlurmJob) -> None:
        """Note the end of a job."""
        self._jobs.pop(job, None)

    def unshared_part(self, allocation: NodeAllocation) -> NodeAllocation:
        """Return an allocation without the cores that running jobs share."""
        for one in self._jobs:
            assert one.allocation is not None  # noqa: S101
            allocation = allocation.without(one.allocation)
        return allocation

    def use_for(self, job: SlurmJob, running: Iterable[SlurmJob], gone: Collection[SlurmJob] = ()) -> NodeUse:
        """Return what is free for a job while these others run, without those that are gone."""
        use, counts = NodeUse(self._configuration), dict[tuple[int, int], int]()
        most = _most(job)
        for one in running:
            if one in gone or one.allocation is None:
                continue
            if one in self._jobs:
                use.take(_beyond(one.allocation, counts, most))
            else:
                use.take(one.kept or one.allocation)
        return use


def may_share(job: SlurmJob) -> bool:
    """May a job share cores in its partition?"""
    return _most(job) > 1


def _most(job: SlurmJob) -> int:
    """Return how many jobs may run on the cores of this one."""
    here = job.partition or job.partitions[0]
    return here.jobs_on_core if job.request.share else 1


def _beyond(allocation: NodeAllocation, counts: dict[tuple[int, int], int], most: int) -> NodeAllocation:
    """Count the cores of a job, and return its allocation with those only that no further job gets by it."""
    shares = []
    for share in allocation.shares:
        full, left = 0, share.cores
        while left:
            core = left & -left
            left ^= core
            counts[share.node, core] = many = counts.get((share.node, core), 0) + 1
            full |= core if many == most else 0
        shares.append(replace(share, cores=full))
    return replace(allocation, shares=tuple(shares))

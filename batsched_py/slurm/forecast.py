"""The earliest start of a job on some nodes, by the limits of the running jobs."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse

#: Seconds within which ends of running jobs are taken together at first; the window doubles each time.
_WINDOW = 30


def earliest(
    cluster: ClusterState, job: SlurmJob, partition: SlurmPartition, nodes: int, after: float
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    With select/cons_tres, ends that are near to each other are taken together (bf_window_linear in slurm.conf(5)).
    """
    job.partition = partition
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (now := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, now
    use, left = cluster.use.copy(), list(cluster.running_by_end())
    linear = cluster.configuration.linear
    gone = [one for one in left if _end(one, after) <= after and not linear]
    for one in gone:
        _release(use, one)
    if gone and (found := selector.select(use, job, nodes, most)) is not None:
        return after, found
    left, window = left[len(gone) :], _WINDOW
    while left:
        count = _together(cluster, left, window)
        for one in left[:count]:
            _release(use, one)
        at, left = max(after, left[count - 1].limit_end), left[count:]
        if (found := selector.select(use, job, nodes, most)) is not None:
            return at, found
        window += cluster.configuration.scheduler.bf_window_linear or window
    return None


def _together(cluster: ClusterState, left: Sequence[SlurmJob], window: int) -> int:
    """Return the number of jobs, from the first, whose ends are taken together."""
    if cluster.configuration.linear:
        return 1
    last = left[0].limit_end + window
    return next((number for number, one in enumerate(left) if number and one.limit_end >= last), len(left))


def _end(job: SlurmJob, now: float) -> float:
    """Return the end of a running job by its limit; a job over its limit ends in the next second."""
    return job.limit_end if job.limit_end > now else max(job.limit_end, floor(now))


def _release(use: NodeUse, job: SlurmJob) -> None:
    if job.allocation is not None:
        use.release(job.allocation)

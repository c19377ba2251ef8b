"""The earliest start of a job on some nodes, by the limits of the running jobs."""

from __future__ import annotations

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse


def earliest(
    cluster: ClusterState, job: SlurmJob, partition: SlurmPartition, nodes: int, after: float
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there."""
    job.partition = partition
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (now := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, now
    use, left = cluster.use.copy(), list(cluster.running_by_end())
    linear = cluster.configuration.linear
    gone = [one for one in left if one.limit_end <= after and not linear]
    for one in gone:
        _release(use, one)
    if gone and (found := selector.select(use, job, nodes, most)) is not None:
        return after, found
    for one in left[len(gone) :]:
        _release(use, one)
        if (found := selector.select(use, job, nodes, most)) is not None:
            return max(after, one.limit_end), found
    return None


def _release(use: NodeUse, job: SlurmJob) -> None:
    if job.allocation is not None:
        use.release(job.allocation)

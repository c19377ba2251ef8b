"""The earliest start of a job on some nodes, by the limits of the running jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse

#: Seconds within which ends of running jobs are taken together with select/cons_tres. The manual page says 30 at first
#: and twice as many each time; the recorded plans are met best by a constant between 46 and 52.
_WINDOW: Final = 48


def earliest(
    cluster: ClusterState, job: SlurmJob, nodes: int, *, after: float, now: float
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    A job over its limit ends in the next second from `now`. With select/cons_tres, ends that are near to each other
    are taken together; the end of a job on other nodes, too, lets the next one count as near.
    """
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    nodes = selector.nodes_for_user(cluster.use, job, nodes)
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (found := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, found
    use = cluster.use.copy()
    left = list(cluster.running_by_end())
    while left:
        count = _together(left, nodes, -1 if cluster.configuration.linear else _WINDOW)
        here, left = [one for one in left[:count] if _is_on(one, nodes)], left[count:]
        _release(use, here)
        if here and (found := selector.select(use, job, nodes, most)) is not None:
            return max(after, here[-1].limit_end, now + 1), found
    return None


def _together(left: Sequence[SlurmJob], nodes: int, window: float) -> int:
    """Return the number of jobs, from the first, that are taken together: at least one is on the nodes."""
    first: SlurmJob | None = None
    for number, one in enumerate(left, 1):
        if not _is_on(one, nodes):
            continue
        first = first or one
        following = left[number] if number < len(left) else None
        if following is None or following.limit_end > first.limit_end + window:
            return number
    return len(left)


def _is_on(job: SlurmJob, nodes: int) -> bool:
    return job.allocation is not None and bool(job.allocation.nodes & nodes)


def _release(use: NodeUse, jobs: Sequence[SlurmJob]) -> None:
    for job in jobs:
        if job.allocation is not None:
            use.release(job.kept or job.allocation)

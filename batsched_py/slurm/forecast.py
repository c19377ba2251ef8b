"""The earliest start of a job on some nodes, by the limits of the running jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeUse

#: Seconds within which ends of running jobs are taken together at first; the window doubles each time.
_WINDOW: Final = 30


def earliest(
    cluster: ClusterState, job: SlurmJob, nodes: int, *, after: float, now: float
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    A job over its limit ends in the next second from `now`. With select/cons_tres, ends that are near to each other
    are taken together (bf_window_linear in slurm.conf(5)).
    """
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    nodes = selector.nodes_for_user(cluster.use, job, nodes)
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (found := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, found
    use = cluster.use.copy()
    left = [one for one in cluster.running_by_end() if one.allocation is not None and one.allocation.nodes & nodes]
    linear = cluster.configuration.linear
    gone = 0 if linear else sum(max(one.limit_end, now + 1) <= after for one in left)
    _release(use, left[:gone])
    if gone and (found := selector.select(use, job, nodes, most)) is not None:
        return after, found
    left, window = left[gone:], _WINDOW
    while left:
        count = 1 if linear else _together(left, window)
        _release(use, left[:count])
        at, left = max(after, left[count - 1].limit_end, now + 1), left[count:]
        if (found := selector.select(use, job, nodes, most)) is not None:
            return at, found
        window += cluster.configuration.scheduler.bf_window_linear or window
    return None


def _together(left: Sequence[SlurmJob], window: float) -> int:
    """Return the number of jobs, from the first, whose ends are taken together."""
    last = left[0].limit_end + window
    return next((number for number, one in enumerate(left) if number and one.limit_end >= last), len(left))


def _release(use: NodeUse, jobs: Sequence[SlurmJob]) -> None:
    for job in jobs:
        if job.allocation is not None:
            use.release(job.kept or job.allocation)

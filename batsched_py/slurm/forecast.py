"""The earliest start of a job on some nodes, by the limits of the running jobs.

With select/cons_tres the ends of running jobs are not tested one by one but by windows: the page slurm.conf(5) says
(under bf_window_linear) that the first is of 30 s and that each further one is twice as long, or longer by
bf_window_linear. Where windows begin and end it does not say. The recorded plans show it: in 255 passes (no job before
the first planned one) each planned start is the end of the last job within a window, if windows end at

    (floor(e / 30) + 2) * 30,    then 30, 60, 120... seconds later,

in absolute clock time, inclusive, where e is the first end on a node that the job could use. Jobs on other nodes count
in one way: a window is tested if the next end, of whatever job, is beyond it. With windows of 30 s from the first end,
as a reader of the page might suppose, 28 of the plans differ, with ends one by one 89. With select/linear the recorded
plans are those of ends one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor
from typing import Final

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation

#: Seconds of the first window, and the grid on which it ends.
_WINDOW: Final = 30


@dataclass(slots=True)
class EndWindow:
    """A window of ends of jobs, in absolute seconds: ends up to `until` are in it, and further ones move it."""

    until: float
    step: float = _WINDOW
    #: How much longer each further window is; None to double it.
    growth: int | None = None

    @classmethod
    def of_first(cls, end: float, growth: int | None) -> EndWindow:
        """Return the first window, which has this end."""
        return cls((floor(end / _WINDOW) + 2) * _WINDOW, growth=growth)

    def move_to(self, end: float) -> None:
        """Take the next windows until one has this end."""
        while end > self.until:
            self.until += self.step
            self.step += self.step if self.growth is None else self.growth


def earliest(
    cluster: ClusterState, job: SlurmJob, nodes: int, *, after: float, now: float, clock: int
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    A job over its limit ends in the next second from `now`; `clock` is the absolute second of time zero.
    """
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    nodes = selector.suitable(job, selector.nodes_for_user(cluster.use, job, nodes))
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (found := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, found
    use = cluster.use.copy()
    running = cluster.running_by_end()
    for group in _by_end(running, nodes) if cluster.configuration.linear else _windows(cluster, running, nodes, clock):
        for one in group:
            assert one.allocation is not None  # noqa: S101
            use.release(one.kept or one.allocation)
        if (found := selector.select(use, job, nodes, most)) is not None:
            return max(after, group[-1].limit_end, now + 1), found
    return None


def _by_end(running: Sequence[SlurmJob], nodes: int) -> Iterator[list[SlurmJob]]:
    """Yield the jobs on these nodes one by one."""
    return ([job] for job in running if _is_on(job, nodes))


def _windows(cluster: ClusterState, running: Sequence[SlurmJob], nodes: int, clock: int) -> Iterator[list[SlurmJob]]:
    """Yield the jobs on these nodes whose ends are in one window, in order."""
    window: EndWindow | None = None
    group: list[SlurmJob] = []
    growth = cluster.configuration.scheduler.bf_window_linear or None
    for number, job in enumerate(running, 1):
        if not _is_on(job, nodes):
            continue
        window = window or EndWindow.of_first(job.limit_end + clock, growth)
        if not group:
            window.move_to(job.limit_end + clock)
        group.append(job)
        if number < len(running) and running[number].limit_end + clock <= window.until:
            continue
        yield group
        group = []
    if group:
        yield group


def _is_on(job: SlurmJob, nodes: int) -> bool:
    return job.allocation is not None and bool(job.allocation.nodes & nodes)

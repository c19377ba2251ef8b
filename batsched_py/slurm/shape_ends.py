"""Offers of nodes after the end of each running job, as far as they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.jobs import RequestShape, SlurmJob
from batsched_py.slurm.node_use import Offer
from batsched_py.slurm.offers import each_bit


class EndStates:
    """The free resources of nodes after the end of each running job."""

    def __init__(self, cluster: ClusterState, running: Sequence[SlurmJob]) -> None:
        self._use, self._running = cluster.use, running
        #: Node -> its free cores, memory and generic resources, and its number of jobs, after the ends seen so far.
        self._now: dict[int, tuple[int, int, tuple[int, ...], int]] = {}
        #: For each end, the states of its nodes.
        self._after: list[list[tuple[int, int, int, tuple[int, ...], int]]] = []

    def __len__(self) -> int:
        return len(self._running)

    def after(self, number: int) -> Sequence[tuple[int, int, int, tuple[int, ...], int]]:
        """Return node, cores, memory, generic resources and jobs of each node of the job that ends as this one."""
        while len(self._after) <= number:
            self._after.append(self._release(self._running[len(self._after)]))
        return self._after[number]

    def _release(self, job: SlurmJob) -> list[tuple[int, int, int, tuple[int, ...], int]]:
        use, found = self._use, []
        assert job.allocation is not None  # noqa: S101
        for share in job.allocation.shares:
            at = share.node
            known = self._now.get(at)
            if known is None:
                known = use.free_cores[at], use.free_memory[at], use.free_gres[at], len(use.users[at])
            cores, memory, gres, users = known
            if share.gres:
                gres = tuple(a + b for a, b in zip(gres, share.gres, strict=True))
            self._now[at] = state = (cores | share.cores, memory + share.memory, gres, users - 1)
            found.append((at, *state))
        return found

    def idle_nodes(self, number: int) -> int:
        """Return those nodes of the job that ends as this one that are idle then."""
        return sum(1 << at for at, _, _, _, users in self.after(number) if not users)


class ShapeEnds:
    """The offers to one shape of requests after the end of each running job."""

    def __init__(self, cluster: ClusterState, shape: RequestShape, states: EndStates) -> None:
        self._table, self._shape, self._states = cluster.selector.table, shape, states
        known = self._table.of(cluster.use, shape)
        self._first, self._nodes = known.offers.copy(), known.nodes
        self._latest: dict[int, int] = {}
        #: Changes: number of the end, node as a bit, its offer, and how many nodes and tasks more there are.
        self._changes: list[tuple[int, int, Offer, int, int]] = []
        #: Number of ends that are in the changes.
        self._seen = 0

    def _extend(self) -> bool:
        """Add the changes of the next end; return False if there is none."""
        if self._seen >= len(self._states):
            return False
        for at, cores, memory, gres, users in self._states.after(self._seen):
            offer = self._table.offer(self._shape, at, cores, memory, gres, is_idle=not users)
            if offer is None:
                continue
            before = self._latest.get(at)
            if before is None:
                first = self._first[at]
                before = first.tasks if first is not None else 0
            self._latest[at] = offer.tasks
            self._changes.append((self._seen + 1, 1 << at, offer, int(not before), offer.tasks - before))
        self._seen += 1
        return True

    def first_fit(self, job: SlurmJob, nodes: int) -> int | None:
        """Return the number of ends after which nodes and tasks suffice for a job; None if they never do."""
        here = nodes & self._nodes
        count, least, wanted = here.bit_count(), job.min_nodes, job.tasks
        is_counted, tasks = wanted > count, wanted
        if is_counted:
            tasks = sum([offer.tasks for at in each_bit(here) if (offer := self._first[at]) is not None])
        if count >= least and tasks >= wanted:
            return 0
        at = 0
        while True:
            if at >= len(self._changes):
                if not self._extend():
                    return None
                continue
            number, bit, _, more, tasks_more = self._changes[at]
            at += 1
            if bit & nodes:
                count += more
                if is_counted:
                    tasks += tasks_more
                if count >= least and tasks >= wanted:
                    return number

    def offers_after(self, number: int, nodes: int) -> list[Offer]:
        """Return the offers of these nodes after so many ends, in the order of nodes."""
        while self._seen < number:
            self._extend()
        first = self._first
        found = {at: offer for at in each_bit(nodes & self._nodes) if (offer := first[at]) is not None}
        for of, bit, offer, _, _ in self._changes:
            if of > number:
                break
            if bit & nodes:
                found[offer.node] = offer
        return [found[at] for at in sorted(found)]

"""Offers of nodes to requests: the most tasks that each node can run, kept up to date as jobs come and go.

Whether a job fits is asked far more often than nodes change. Requests of one shape (processors, memory and generic
resources of a task) get the same offers, so these are kept by shape, and only nodes that have changed since are checked
again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.jobs import RequestShape, SlurmJob
from batsched_py.slurm.node_use import NodeUse, Offer, ShapeOffers
from batsched_py.slurm.submission import BatchRequest

#: The largest number of shapes for which offers are kept.
_MOST_SHAPES: Final = 512
#: The largest number of changes of a use that are remembered.
_MOST_CHANGES: Final = 100_000
#: Byte -> the positions of its ones.
_ONES: Final = [[at for at in range(8) if byte >> at & 1] for byte in range(256)]


class OfferTable:
    """The offers of the nodes of one cluster."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._configuration = configuration
        self._shapes: dict[tuple[object, ...], RequestShape] = {}

    def shape(self, job: SlurmJob) -> RequestShape:
        """Return the shape of a job's request."""
        if job.shape is None:
            request = job.request
            wants_gres = bool(request.gres or request.gpus or request.gpus_per_task)
            memory, single = self.memory_per_cpu(job), wants_gres and job.tasks == 1
            exclusive = self._configuration.linear or request.exclusive == "node"
            key = (
                *(request.cpus_per_task, request.whole_cores, request.tasks_per_node, request.mem_per_node, memory),
                *(request.gres, request.gpus, request.gpus_per_task, single, exclusive),
            )
            if key not in self._shapes:
                self._shapes[key] = RequestShape(request, memory, single, exclusive, wants_gres)
            job.shape = self._shapes[key]
        return job.shape

    def memory_per_cpu(self, job: SlurmJob) -> int:
        """Return the megabytes that a job asks for with each processor."""
        if job.request.mem_per_node is not None:
            return 0
        return job.request.mem_per_cpu or 0

    def of(self, use: NodeUse, shape: RequestShape) -> ShapeOffers:
        """Return the offers to a shape; they are kept for as long as `use` is, and follow it."""
        if len(use.changed) > _MOST_CHANGES:
            use.forget()
        known = use.offers.get(shape)
        if known is None:
            if len(use.offers) >= _MOST_SHAPES:
                use.offers.clear()
            nodes = range(len(self._configuration.nodes))
            use.offers[shape] = known = ShapeOffers([None for _ in nodes], 0, len(use.changed))
            self._renew(use, shape, known, nodes)
        elif known.seen < len(use.changed):
            news, known.seen = set(use.changed[known.seen :]), len(use.changed)
            self._renew(use, shape, known, news)
        return known

    def _renew(self, use: NodeUse, shape: RequestShape, known: ShapeOffers, nodes: Sequence[int] | set[int]) -> None:
        gone = come = 0
        for at in nodes:
            found = self.offer(
                shape, at, use.free_cores[at], use.free_memory[at], use.free_gres[at], is_idle=not use.users[at]
            )
            known.offers[at] = found
            if found is None:
                gone |= 1 << at
            else:
                come |= 1 << at
        known.nodes = known.nodes & ~gone | come

    def offer(
        self, shape: RequestShape, at: int, cores: int, memory: int, gres: Sequence[int], *, is_idle: bool
    ) -> Offer | None:
        """Return what a node with these free resources offers; None if nothing."""
        node, request = self._configuration.nodes[at], shape.request
        if shape.is_exclusive and not is_idle:
            return None
        cpus = cores.bit_count() * (1 if request.whole_cores else node.threads)
        if self._configuration.cr_memory:
            if shape.memory_per_cpu:
                cpus = min(cpus, memory // shape.memory_per_cpu)
            if request.mem_per_node is not None and (request.mem_per_node or node.memory) > memory:
                cpus = 0
        tasks = cpus // request.cpus_per_task
        if request.tasks_per_node is not None:
            tasks = min(tasks, request.tasks_per_node)
        if shape.wants_gres:
            tasks = min(tasks, self._most_tasks(request, at, gres, tasks))
        if shape.is_single:
            tasks = min(tasks, 1)
        return Offer(at, tasks, node.weight, cpus) if tasks > 0 else None

    def _most_tasks(self, request: BatchRequest, at: int, gres: Sequence[int], tasks: int) -> int:
        kinds = self._configuration.nodes[at].gres
        for wanted in request.gres:
            free = sum(
                count
                for kind, count in zip(kinds, gres, strict=True)
                if kind.name == wanted.name and wanted.type in {"", kind.type}
            )
            if free < wanted.count:
                return 0
        if request.gpus_per_task or request.gpus:
            gpus = sum(count for kind, count in zip(kinds, gres, strict=True) if kind.name == "gpu")
            return min(tasks, gpus // request.gpus_per_task) if request.gpus_per_task else (tasks if gpus else 0)
        return tasks


def mask_of(positions: Iterable[int], size: int) -> int:
    """Return the mask of this many bits with ones at these positions; in one pass, whatever the size."""
    found = bytearray((size + 7) // 8)
    for at in positions:
        found[at >> 3] |= 1 << (at & 7)
    return int.from_bytes(found, "little")


def each_bit(mask: int) -> list[int]:
    """Return the positions of the ones of a mask, in ascending order."""
    found: list[int] = []
    if mask < 1 << 64:
        while mask:
            low = mask & -mask
            found.append(low.bit_length() - 1)
            mask ^= low
        return found
    for base, byte in enumerate(mask.to_bytes((mask.bit_length() + 7) // 8, "little")):
        if byte:
            found += [8 * base + at for at in _ONES[byte]]
    return found

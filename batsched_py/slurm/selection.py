"""Selection of the nodes, cores, memory and generic resources of a job: select/linear and select/cons_tres.

Nodes of the least weight are first. Among these, the block of consecutive nodes that suffices with the least left over
is taken, from its low end; if none suffices, the largest one and then others. With a topology, leaf switches take the
place of blocks; with CR_LLN, the node with most free processors is first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.features import FeatureChoice, feature_choices
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeShare, NodeUse


@dataclass(frozen=True, slots=True)
class _Offer:
    """A node that may be taken, with the most tasks that it can run."""

    node: int
    tasks: int
    weight: int
    free_cpus: int
    #: Generic resources of the kinds that are asked for, beyond those.
    spare_gres: int = 0


@dataclass(slots=True)
class _Need:
    """The remaining nodes and tasks of a job while nodes are taken."""

    nodes: int
    tasks: int
    most_nodes: int

    def take(self, offer: _Offer) -> int:
        """Take a node; return its number of tasks, such that each further node gets at least one."""
        taken = max(1, min(offer.tasks, self.tasks - max(0, self.nodes - 1)))
        self.nodes, self.tasks, self.most_nodes = self.nodes - 1, self.tasks - taken, self.most_nodes - 1
        return taken

    def is_met(self) -> bool:
        return self.nodes <= 0 and self.tasks <= 0

    def suits(self, offer: _Offer) -> bool:
        """May the node be taken: is it not the last one, or does it suffice?"""
        return self.most_nodes > 1 or offer.tasks >= self.tasks


class NodeSelector:
    """The selection of nodes for one cluster."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._configuration = configuration
        #: Choices by the text of a constraint.
        self._choices: dict[str, list[FeatureChoice]] = {}

    def choices(self, constraint: str) -> list[FeatureChoice]:
        """Return the ways to satisfy a constraint on features. Raise `ValueError` if it is wrong."""
        if constraint not in self._choices:
            self._choices[constraint] = feature_choices(constraint, self._configuration)
        return self._choices[constraint]

    def select(
        self, use: NodeUse, job: SlurmJob, nodes: int, most_switches: int | None = None
    ) -> NodeAllocation | None:
        """Return an allocation on some of these nodes (bits), or None if the job does not fit now."""
        for choice in self.choices(job.request.constraint):
            offers = [offer for at in _bits(nodes & choice.nodes) if (offer := self._offer(use, job, at)) is not None]
            if gpus := job.request.gpus:
                offers = [offer for offer in offers if self._free_gpus(use, offer.node) >= gpus] or offers
            if choice.groups:
                offers = self._grouped(offers, choice, job)
            taken = self._taken(offers, job, most_switches)
            if taken is not None:
                return self._allocation(use, job, taken)
        return None

    def _offer(self, use: NodeUse, job: SlurmJob, at: int) -> _Offer | None:
        node, request = self._configuration.nodes[at], job.request
        if (self._configuration.linear or request.exclusive == "node") and not use.is_idle(at):
            return None
        threads = 1 if request.whole_cores else node.threads
        cpus = use.free_cores[at].bit_count() * threads
        memory = self._memory_per_cpu(job)
        if self._configuration.cr_memory and memory:
            cpus = min(cpus, use.free_memory[at] // memory)
        if self._configuration.cr_memory and request.mem_per_node is not None:
            wanted = request.mem_per_node or node.memory
            cpus = cpus if wanted <= use.free_memory[at] else 0
        tasks = cpus // request.cpus_per_task
        if request.tasks_per_node is not None:
            tasks = min(tasks, request.tasks_per_node)
        if request.gres or request.gpus or request.gpus_per_task:
            tasks = min(tasks, self._most_tasks_by_gres(use, job, at, tasks), job.tasks)
        return _Offer(at, tasks, node.weight, cpus, self._spare_gres(use, job, at)) if tasks > 0 else None

    def suitable(self, job: SlurmJob, nodes: int) -> int:
        """Return those of the nodes that have the features that the job asks for."""
        allowed = 0
        for choice in self.choices(job.request.constraint):
            allowed |= choice.nodes
        return nodes & allowed

    def nodes_for_user(self, use: NodeUse, job: SlurmJob, nodes: int) -> int:
        """Return the nodes without those on which other users exclude the job's, or it excludes them."""
        alone = self._is_alone(job)
        for at in _bits(nodes):
            if (alone or use.lonely[at]) and any(user != job.request.user for user in use.users[at]):
                nodes &= ~(1 << at)
        return nodes

    def _is_alone(self, job: SlurmJob) -> bool:
        here = job.partition or job.partitions[0]
        return job.request.exclusive == "user" or here.exclusive_user

    def _memory_per_cpu(self, job: SlurmJob) -> int:
        if job.request.mem_per_node is not None:
            return 0
        return job.request.mem_per_cpu or self._configuration.def_mem_per_cpu or 0

    def _most_tasks_by_gres(self, use: NodeUse, job: SlurmJob, at: int, tasks: int) -> int:
        request, kinds = job.request, self._configuration.nodes[at].gres
        for wanted in request.gres:
            free = sum(
                count
                for kind, count in zip(kinds, use.free_gres[at], strict=True)
                if kind.name == wanted.name and wanted.type in {"", kind.type}
            )
            if free < wanted.count:
                return 0
        if request.gpus_per_task or request.gpus:
            gpus = self._free_gpus(use, at)
            return min(tasks, gpus // request.gpus_per_task) if request.gpus_per_task else (tasks if gpus else 0)
        return tasks

    def _spare_gres(self, use: NodeUse, job: SlurmJob, at: int) -> int:
        wanted = {one.name for one in job.request.gres}
        kinds = self._configuration.nodes[at].gres if wanted else ()
        return sum(count for kind, count in zip(kinds, use.free_gres[at], strict=False) if kind.name in wanted)

    def _free_gpus(self, use: NodeUse, at: int) -> int:
        kinds = self._configuration.nodes[at].gres
        return sum(count for kind, count in zip(kinds, use.free_gres[at], strict=True) if kind.name == "gpu")

    def _grouped(self, offers: Sequence[_Offer], choice: FeatureChoice, job: SlurmJob) -> list[_Offer]:
        """Return the offers of as many nodes of each group as the constraint wants."""
        each = -(-job.tasks // job.min_nodes)
        chosen: list[_Offer] = []
        for nodes, count in choice.groups:
            left = [offer for offer in offers if nodes >> offer.node & 1 and offer not in chosen]
            taken = self._consecutive(left, _Need(count, count * each, count))
            if taken is None:
                return []
            chosen += [offer for offer, _ in taken]
        if len(chosen) < job.min_nodes:
            return [*chosen, *(offer for offer in offers if offer not in chosen)]
        return chosen

    def _taken(self, offers: list[_Offer], job: SlurmJob, most_switches: int | None) -> list[tuple[_Offer, int]] | None:
        need = _Need(job.min_nodes, job.tasks, job.max_nodes)
        if len(offers) < need.nodes or sum(offer.tasks for offer in offers) < need.tasks:
            return None
        if need.most_nodes == 1:
            offers = [offer for offer in offers if offer.tasks >= need.tasks]
        if self._configuration.switches:
            return self._by_switches(offers, need, most_switches)
        if self._configuration.cr_lln:
            return _greedy(sorted(offers, key=lambda offer: (-offer.free_cpus, offer.node)), need)
        serial = job.tasks == 1 and self._configuration.scheduler.pack_serial_at_end
        if serial:
            return _greedy(sorted(offers, key=lambda offer: (offer.weight, -offer.node)), need)
        if (found := self._consecutive(offers, copy(need))) is not None:
            return found
        # Where the number of nodes is bounded, small nodes may be in the way.
        for most in sorted({offer.tasks for offer in offers})[:-1] if need.most_nodes < len(offers) else ():
            left = [offer for offer in offers if offer.tasks > most]
            if (found := self._consecutive(left, copy(need))) is not None:
                return found
        return None

    def _consecutive(self, offers: Sequence[_Offer], need: _Need) -> list[tuple[_Offer, int]] | None:
        return _best_fit(_blocks(offers), need, is_single=not self._configuration.linear)

    def _by_switches(self, offers: Sequence[_Offer], need: _Need, most: int | None) -> list[tuple[_Offer, int]] | None:
        leaves = [
            [offer for offer in offers if switch.nodes >> offer.node & 1] for switch in self._configuration.switches
        ]
        taken = _best_fit([leaf for leaf in leaves if leaf], need)
        if taken is None or most is None:
            return taken
        used = sum(any(switch.nodes >> offer.node & 1 for offer, _ in taken) for switch in self._configuration.switches)
        return taken if used <= most else None

    def _allocation(self, use: NodeUse, job: SlurmJob, taken: Sequence[tuple[_Offer, int]]) -> NodeAllocation | None:
        shares, gpus = [], job.request.gpus or 0
        for offer, tasks in sorted(taken, key=lambda pair: pair[0].node):
            share, used = self._share(use, job, offer.node, tasks, gpus)
            gpus -= used
            shares.append(share)
        if gpus > 0:
            return None
        nodes = sum(1 << share.node for share in shares)
        return NodeAllocation(nodes, tuple(shares), job.request.user, self._is_alone(job))

    def _share(self, use: NodeUse, job: SlurmJob, at: int, tasks: int, gpus: int) -> tuple[NodeShare, int]:
        node, request = self._configuration.nodes[at], job.request
        free = use.free_cores[at]
        if self._configuration.linear or request.exclusive == "node":
            cores = free
        else:
            threads = 1 if request.whole_cores else node.threads
            cores = _lowest(free, -(-tasks * request.cpus_per_task // threads))
        memory = 0
        if self._configuration.cr_memory:
            memory = self._memory_per_cpu(job) * min(cores.bit_count() * node.threads, tasks * request.cpus_per_task)
            if request.mem_per_node is not None:
                memory = request.mem_per_node or node.memory
        gres, used = list[int](0 for _ in node.gres), min(gpus, self._free_gpus(use, at)) if gpus else 0
        wanted = [(one.name, one.type, one.count) for one in request.gres]
        if request.gpus_per_task or used:
            wanted.append(("gpu", "", used or tasks * (request.gpus_per_task or 0)))
        for name, kind, count in wanted:
            for index, one in enumerate(node.gres):
                if one.name == name and kind in {"", one.type}:
                    part = min(count, use.free_gres[at][index] - gres[index])
                    gres[index] += part
                    count -= part  # noqa: PLW2901  # what is still wanted of this kind
        return NodeShare(at, cores, memory, tuple(gres), tasks), used


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _lowest(mask: int, count: int) -> int:
    """Return the lowest bits of a mask, as many as asked for."""
    taken = 0
    for at in _bits(mask):
        if count <= 0:
            break
        taken |= 1 << at
        count -= 1
    return taken


def _blocks(offers: Sequence[_Offer]) -> list[list[_Offer]]:
    """Return the blocks of consecutive nodes of the same weight."""
    blocks: list[list[_Offer]] = []
    for offer in offers:
        last = blocks[-1][-1] if blocks else None
        if last is not None and last.node + 1 == offer.node and last.weight == offer.weight:
            blocks[-1].append(offer)
        else:
            blocks.append([offer])
    return blocks


def _best_fit(blocks: list[list[_Offer]], need: _Need, is_single: bool = True) -> list[tuple[_Offer, int]] | None:
    taken: list[tuple[_Offer, int]] = []
    left = list(blocks)
    while left and not need.is_met() and need.most_nodes > 0:
        least = min(block[0].weight for block in left)
        equal = [block for block in left if block[0].weight == least]
        enough = [block for block in equal if _suffices(block, need)]
        if enough:
            best = min(enough, key=lambda block: (_total(block) - need.tasks, block[0].node))
            if is_single and need.nodes <= 1 and (single := [offer for offer in best if offer.tasks >= need.tasks]):
                offer = min(single, key=lambda offer: (offer.tasks, offer.spare_gres, offer.node))
                return [*taken, (offer, need.take(offer))]
        else:
            best = min(equal, key=lambda block: (-_total(block), block[0].node))
        left.remove(best)
        for offer in best:
            if need.is_met() or need.most_nodes <= 0:
                break
            if need.suits(offer):
                taken.append((offer, need.take(offer)))
    return taken if need.is_met() else None


def _greedy(offers: Sequence[_Offer], need: _Need) -> list[tuple[_Offer, int]] | None:
    taken: list[tuple[_Offer, int]] = []
    for offer in offers:
        if need.is_met() or need.most_nodes <= 0:
            break
        taken.append((offer, need.take(offer)))
    return taken if need.is_met() else None


def _suffices(block: Sequence[_Offer], need: _Need) -> bool:
    return len(block) >= need.nodes and _total(block) >= need.tasks


def _total(block: Sequence[_Offer]) -> int:
    return sum(offer.tasks for offer in block)

"""Selection of the nodes, cores, memory and generic resources of a job: select/linear and select/cons_tres.

Nodes of the least weight are first. Among these, the block of consecutive nodes that suffices with the least left over
is taken, from its low end; if none suffices, the largest one and then others. With a topology, leaf switches take the
place of blocks; with CR_LLN, the node with most free processors is first.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

from batsched_py.bits import bit_runs
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.features import FeatureChoice, feature_choices
from batsched_py.slurm.jobs import RequestShape, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, NodeShare, NodeUse, Offer, ShapeOffers
from batsched_py.slurm.offers import OfferTable, each_bit


@dataclass(slots=True)
class _Need:
    """The remaining nodes and tasks of a job while nodes are taken."""

    nodes: int
    tasks: int
    most_nodes: int

    def take(self, offer: Offer) -> int:
        """Take a node; return its number of tasks, such that each further node gets at least one."""
        taken = max(1, min(offer.tasks, self.tasks - max(0, self.nodes - 1)))
        self.nodes, self.tasks, self.most_nodes = self.nodes - 1, self.tasks - taken, self.most_nodes - 1
        return taken

    def is_met(self) -> bool:
        return self.nodes <= 0 and self.tasks <= 0

    def suits(self, offer: Offer) -> bool:
        """May the node be taken: is it not the last one, or does it suffice?"""
        return self.most_nodes > 1 or offer.tasks >= self.tasks


class NodeSelector:
    """The selection of nodes for one cluster."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._configuration = configuration
        self.table = OfferTable(configuration)
        #: Are all jobs on blocks of whole nodes?
        options = configuration.scheduler
        self._is_whole = configuration.linear and not (
            configuration.switches or configuration.cr_lln or options.pack_serial_at_end
        )
        self._idle = NodeUse(configuration)
        #: Tasks of each idle node by shape of requests; None if they differ.
        self._equal: dict[RequestShape, int | None] = {}
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
        taken = self.choose(use, job, nodes, most_switches)
        return None if taken is None else self._allocation(use, job, taken)

    def choose(
        self, use: NodeUse, job: SlurmJob, nodes: int, most_switches: int | None = None
    ) -> list[tuple[Offer, int]] | None:
        """Return nodes for a job, each with its number of tasks; None if it does not fit now."""
        known = self.table.of(use, self.table.shape(job))
        nodes &= known.nodes
        if nodes.bit_count() < job.min_nodes:
            return None
        for choice in self.choices(job.request.constraint):
            if self._is_whole and not choice.groups and not job.request.gpus:
                taken = self._choose_whole(known, nodes & choice.nodes, job)
            else:
                taken = self.choose_from(use, _listed(known, nodes & choice.nodes), choice, job, most_switches)
            if taken is not None:
                return taken
        return None

    def whole_nodes(self, known: ShapeOffers, nodes: int, job: SlurmJob) -> int:
        """Return the whole nodes, of these idle ones, that a job with a task or less for each gets; 0 if too few."""
        if self._is_whole and self._equal_tasks(job) is not None and job.tasks <= job.min_nodes:
            nodes &= known.nodes
            return lowest_runs(nodes, job.min_nodes) if nodes.bit_count() >= job.min_nodes else 0
        return sum([1 << offer.node for offer, _ in self._choose_whole(known, nodes, job) or ()])

    def _choose_whole(self, known: ShapeOffers, nodes: int, job: SlurmJob) -> list[tuple[Offer, int]] | None:
        """Return whole nodes for a job."""
        nodes &= known.nodes
        tasks = self._equal_tasks(job) if self._is_whole else None
        if tasks is None:
            return self._taken(_listed(known, nodes), job, None)
        return _best_runs(known.offers, nodes, _Need(job.min_nodes, job.tasks, job.max_nodes), tasks)

    def _equal_tasks(self, job: SlurmJob) -> int | None:
        """Return the number of tasks that each idle node can run, if all are equal and of one weight."""
        shape = self.table.shape(job)
        if shape not in self._equal:
            offers = self.table.of(self._idle, shape).offers
            kinds = {(offer.tasks, offer.weight) for offer in offers if offer is not None}
            self._equal[shape] = next(iter(kinds))[0] if len(kinds) == 1 else None
        return self._equal[shape]

    def choose_from(
        self, use: NodeUse, offers: list[Offer], choice: FeatureChoice, job: SlurmJob, most_switches: int | None = None
    ) -> list[tuple[Offer, int]] | None:
        """Return those of the offers, in the order of nodes, that one choice of features gets."""
        if gpus := job.request.gpus:
            offers = [offer for offer in offers if self._free_gpus(use, offer.node) >= gpus] or offers
        if choice.groups:
            offers = self._grouped(offers, choice, job)
        return self._taken(offers, job, most_switches)

    def suitable(self, job: SlurmJob, nodes: int) -> int:
        """Return those of the nodes that have the features that the job asks for."""
        allowed = 0
        for choice in self.choices(job.request.constraint):
            allowed |= choice.nodes
        return nodes & allowed

    def nodes_for_user(self, use: NodeUse, job: SlurmJob, nodes: int) -> int:
        """Return the nodes without those on which other users exclude the job's, or it excludes them."""
        closed = nodes & ~use.idle if self.is_alone(job) else nodes & use.lonely_nodes
        for at in each_bit(closed):
            if any(user != job.request.user for user in use.users[at]):
                nodes &= ~(1 << at)
        return nodes

    def is_alone(self, job: SlurmJob) -> bool:
        """Does a job exclude other users from its nodes?"""
        here = job.partition or job.partitions[0]
        return job.request.exclusive == "user" or here.exclusive_user

    def _free_gpus(self, use: NodeUse, at: int) -> int:
        kinds = self._configuration.nodes[at].gres
        return sum(count for kind, count in zip(kinds, use.free_gres[at], strict=True) if kind.name == "gpu")

    def _grouped(self, offers: Sequence[Offer], choice: FeatureChoice, job: SlurmJob) -> list[Offer]:
        """Return the offers of as many nodes of each group as the constraint wants."""
        each = -(-job.tasks // job.min_nodes)
        chosen: list[Offer] = []
        for nodes, count in choice.groups:
            left = [offer for offer in offers if nodes >> offer.node & 1 and offer not in chosen]
            taken = self._consecutive(left, _Need(count, count * each, count))
            if taken is None:
                return []
            chosen += [offer for offer, _ in taken]
        if len(chosen) < job.min_nodes:
            return [*chosen, *(offer for offer in offers if offer not in chosen)]
        return chosen

    def _taken(self, offers: list[Offer], job: SlurmJob, most_switches: int | None) -> list[tuple[Offer, int]] | None:
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

    def _consecutive(self, offers: Sequence[Offer], need: _Need) -> list[tuple[Offer, int]] | None:
        return _best_fit(_blocks(offers), need, is_single=not self._configuration.linear)

    def _by_switches(self, offers: Sequence[Offer], need: _Need, most: int | None) -> list[tuple[Offer, int]] | None:
        leaves = [
            [offer for offer in offers if switch.nodes >> offer.node & 1] for switch in self._configuration.switches
        ]
        taken = _best_fit([_Block(leaf, sum(offer.tasks for offer in leaf)) for leaf in leaves if leaf], need)
        if taken is None or most is None:
            return taken
        used = sum(any(switch.nodes >> offer.node & 1 for offer, _ in taken) for switch in self._configuration.switches)
        return taken if used <= most else None

    def _allocation(self, use: NodeUse, job: SlurmJob, taken: Sequence[tuple[Offer, int]]) -> NodeAllocation | None:
        shares, gpus = [], job.request.gpus or 0
        for offer, tasks in sorted(taken, key=lambda pair: pair[0].node):
            share, used = self._share(use, job, offer.node, tasks, gpus)
            gpus -= used
            shares.append(share)
        if gpus > 0:
            return None
        nodes = sum(1 << share.node for share in shares)
        return NodeAllocation(nodes, tuple(shares), job.request.user, self.is_alone(job))

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
            memory = self.table.memory_per_cpu(job) * min(
                cores.bit_count() * node.threads, tasks * request.cpus_per_task
            )
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


def _lowest(mask: int, count: int) -> int:
    """Return the lowest bits of a mask, as many as asked for."""
    if count >= mask.bit_count():
        return mask
    left = mask
    for _ in range(count):
        left &= left - 1
    return mask ^ left


def _listed(known: ShapeOffers, nodes: int) -> list[Offer]:
    """Return the offers of nodes, in their order."""
    every = known.offers
    return [offer for at in each_bit(nodes) if (offer := every[at]) is not None]


def _best_runs(offers: Sequence[Offer | None], nodes: int, need: _Need, tasks: int) -> list[tuple[Offer, int]] | None:
    """Return what `_best_fit` does for whole nodes that can all run the same number of tasks."""
    wanted = max(need.nodes, -(-need.tasks // tasks))
    if nodes.bit_count() < wanted or wanted > need.most_nodes:
        return None
    chosen = lowest_runs(nodes, wanted)
    return [(offer, need.take(offer)) for at in each_bit(chosen) if (offer := offers[at]) is not None]


def lowest_runs(nodes: int, count: int) -> int:
    """Return so many of the nodes: of the shortest block of consecutive ones that suffices, or of the longest first."""
    runs, chosen = [(high - low + 1, low) for low, high in bit_runs(nodes)], 0
    while count:
        enough = [run for run in runs if run[0] >= count]
        best = min(enough) if enough else min(runs, key=lambda run: (-run[0], run[1]))
        runs.remove(best)
        many = min(best[0], count)
        chosen |= (1 << many) - 1 << best[1]
        count -= many
    return chosen


@dataclass(slots=True, eq=False)
class _Block:
    """Offers of nodes of which a job takes as many as it can, with all tasks that they can run."""

    offers: list[Offer]
    tasks: int

    @property
    def node(self) -> int:
        return self.offers[0].node

    def suffices(self, need: _Need) -> bool:
        return len(self.offers) >= need.nodes and self.tasks >= need.tasks


def _blocks(offers: Sequence[Offer]) -> list[_Block]:
    """Return the blocks of consecutive nodes of the same weight."""
    blocks: list[_Block] = []
    node = weight = -1
    for offer in offers:
        if offer.node == node + 1 and offer.weight == weight:
            blocks[-1].offers.append(offer)
            blocks[-1].tasks += offer.tasks
        else:
            blocks.append(_Block([offer], offer.tasks))
        node, weight = offer.node, offer.weight
    return blocks


def _best_fit(blocks: list[_Block], need: _Need, is_single: bool = True) -> list[tuple[Offer, int]] | None:
    taken: list[tuple[Offer, int]] = []
    left = list(blocks)
    while left and not need.is_met() and need.most_nodes > 0:
        least = min(block.offers[0].weight for block in left)
        equal = [block for block in left if block.offers[0].weight == least]
        enough = [block for block in equal if block.suffices(need)]
        if enough:
            best = min(enough, key=lambda block: (block.tasks - need.tasks, block.node))
            fitting = [offer for offer in best.offers if offer.tasks >= need.tasks] if need.nodes <= 1 else []
            if is_single and fitting:
                offer = min(fitting, key=lambda offer: (offer.tasks, offer.node))
                return [*taken, (offer, need.take(offer))]
        else:
            best = min(equal, key=lambda block: (-block.tasks, block.node))
        left.remove(best)
        for offer in best.offers:
            if need.is_met() or need.most_nodes <= 0:
                break
            if need.suits(offer):
                taken.append((offer, need.take(offer)))
    return taken if need.is_met() else None


def _greedy(offers: Sequence[Offer], need: _Need) -> list[tuple[Offer, int]] | None:
    taken: list[tuple[Offer, int]] = []
    for offer in offers:
        if need.is_met() or need.most_nodes <= 0:
            break
        taken.append((offer, need.take(offer)))
    return taken if need.is_met() else None

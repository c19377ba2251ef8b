"""Use of the nodes by running jobs: free cores, memory and generic resources of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from batsched_py.slurm.configuration import SlurmConfiguration, SlurmNode


@dataclass(frozen=True, slots=True)
class NodeShare:
    """A part of one node: cores as bits, megabytes, and the counts of its generic resources in the node's order."""

    node: int
    cores: int
    memory: int = 0
    gres: tuple[int, ...] = ()
    tasks: int = 0


@dataclass(frozen=True, slots=True)
class NodeAllocation:
    """The nodes of a job as bits, with its share of each, and its user and whether the nodes are its user's alone."""

    nodes: int
    shares: tuple[NodeShare, ...]
    user: str = ""
    is_users_alone: bool = False

    def cpus(self, nodes: Sequence[SlurmNode]) -> int:
        """Return the number of processors, hardware threads of the cores, on all of these nodes of the cluster."""
        return sum(share.cores.bit_count() * nodes[share.node].threads for share in self.shares)

    def without(self, other: NodeAllocation) -> NodeAllocation:
        """Return the part that another allocation does not use; memory and generic resources stay."""
        taken = {share.node: share.cores for share in other.shares}
        shares = tuple(replace(share, cores=share.cores & ~taken.get(share.node, 0)) for share in self.shares)
        return replace(self, shares=shares)


@dataclass(frozen=True, slots=True)
class Offer:
    """A node that may be taken, with the most tasks that it can run."""

    node: int
    tasks: int
    weight: int
    free_cpus: int


@dataclass(slots=True)
class ShapeOffers:
    """The offers of all nodes to requests of one shape: by node, None for none; and the nodes with one as bits."""

    offers: list[Offer | None]
    nodes: int
    #: Number of changes of the use that are taken into account.
    seen: int


class NodeUse:
    """The free part of each node; the mutators are `take` and `release`."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        nodes = configuration.nodes
        #: Free cores of each node as bits, megabytes, and counts of generic resources.
        self.free_cores = [(1 << node.cores) - 1 for node in nodes]
        self.free_memory = [node.memory for node in nodes]
        self.free_gres = [tuple(one.count for one in node.gres) for node in nodes]
        #: Users with jobs on each node, one entry for each job; and jobs that want no other users there.
        self.users: list[tuple[str, ...]] = [() for _ in nodes]
        self.lonely: list[int] = [0 for _ in nodes]
        #: Nodes without jobs, and nodes with jobs that want no other users there, as bits.
        self.idle, self.lonely_nodes = configuration.all_nodes, 0
        #: Nodes that have changed, in order: offers to requests follow it.
        self.changed: list[int] = []
        #: Offers by shape of requests, which `OfferTable` keeps.
        self.offers: dict[object, ShapeOffers] = {}

    def copy(self) -> NodeUse:
        """Return an independent copy."""
        made = NodeUse.__new__(NodeUse)
        made.free_cores, made.free_memory = self.free_cores.copy(), self.free_memory.copy()
        made.free_gres, made.users, made.lonely = self.free_gres.copy(), self.users.copy(), self.lonely.copy()
        made.idle, made.lonely_nodes, made.changed = self.idle, self.lonely_nodes, []
        made.offers = {}
        return made

    def take(self, allocation: NodeAllocation) -> None:
        """Mark the resources of an allocation as used."""
        for share in allocation.shares:
            at = share.node
            assert not share.cores & ~self.free_cores[at], f"cores {share.cores:b} of node {at} are not free"  # noqa: S101
            self.free_cores[at] &= ~share.cores
            self.free_memory[at] -= share.memory
            if share.gres:
                self.free_gres[at] = tuple(a - b for a, b in zip(self.free_gres[at], share.gres, strict=True))
            self.users[at] += (allocation.user,)
            self._note(at, allocation.is_users_alone)

    def release(self, allocation: NodeAllocation) -> None:
        """Mark the resources of an allocation as free."""
        for share in allocation.shares:
            at = share.node
            assert not share.cores & self.free_cores[at], f"cores {share.cores:b} of node {at} are free"  # noqa: S101
            self.free_cores[at] |= share.cores
            self.free_memory[at] += share.memory
            if share.gres:
                self.free_gres[at] = tuple(a + b for a, b in zip(self.free_gres[at], share.gres, strict=True))
            users = list(self.users[at])
            users.remove(allocation.user)
            self.users[at] = tuple(users)
            self._note(at, -allocation.is_users_alone)

    def forget(self) -> None:
        """Forget the offers, and the changes before now."""
        self.changed.clear()
        self.offers.clear()

    def _note(self, at: int, lonely: int) -> None:
        """Note that a node has changed, and so many jobs on it that want no other users."""
        bit = 1 << at
        self.idle = self.idle & ~bit if self.users[at] else self.idle | bit
        if lonely:
            self.lonely[at] += lonely
            self.lonely_nodes = self.lonely_nodes | bit if self.lonely[at] else self.lonely_nodes & ~bit
        self.changed.append(at)

    def is_idle(self, node: int) -> bool:
        """Is no job on the node?"""
        return not self.users[node]

"""Progress of a deployment: resources that can be requested, and the pending dependencies of others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush

from batsched_py.experiments.model import Compute, PlannedResource

# Incremental topological order (Kahn 1962): each resource stores its pending dependencies, and each event (created,
# address known) has the list of resources that wait for it. An event is used once and removed, so a deployment costs
# O(resources + dependencies), however many resources become ready one by one.
#
# The sequential order of BonFIRE needs no second algorithm: each resource then also waits for the one before it. This
# wait is not a dependency, and `give_up` must distinguish them: with a resource, its dependants are left out, and those
# that only follow it are released.
#
# Between two calls `_due` has the positions of resources that may be requested, as a heap, so that ties follow the
# order of the plan; `_waits` contains those that were not left out.


class DeploymentProgress:
    """The progress within a deployment order; ties follow the order.

    Args:
        order: resources, each after its dependencies.
        sequential: whether to request one resource after the other, and wait for the address of each compute, as
            BonFIRE does (M10, M11); otherwise all resources whose dependencies exist.

    Attributes:
        needed: names of computes whose addresses must be known.
    """

    def __init__(self, order: Sequence[PlannedResource], *, sequential: bool) -> None:
        self._order = order
        self._positions = {one.name: position for position, one in enumerate(order)}
        self.needed = frozenset(name for one in order for name in one.addresses)
        if sequential:
            self.needed |= {one.name for one in order if isinstance(one.resource, Compute)}
        #: Name -> its pending dependencies: names to be created, and names whose address must be known.
        self._waits: dict[str, set[tuple[str, bool]]] = {}
        self._followers: dict[tuple[str, bool], list[str]] = {}
        before: list[tuple[str, bool]] = []
        for one in order:
            waits = {(name, False) for name in one.after} | {(name, True) for name in one.addresses}
            if sequential:
                waits.update(before)
                before = [(one.name, False), *([(one.name, True)] if isinstance(one.resource, Compute) else [])]
            self._waits[one.name] = waits
            for what in sorted(waits):
                self._followers.setdefault(what, []).append(one.name)
        self._due = [position for position, one in enumerate(order) if not self._waits[one.name]]
        #: Pending items: (name, False) for a creation, (name, True) for an address.
        self._left = {(one.name, False) for one in order} | {(name, True) for name in self.needed}

    @property
    def complete(self) -> bool:
        """True if everything is created, and every needed address is known."""
        return not self._left

    def take(self) -> PlannedResource | None:
        """Return the next resource to request; None if all others wait."""
        return self._order[heappop(self._due)] if self._due else None

    def created(self, name: str) -> None:
        """Record that a resource has been created."""
        self._fulfil((name, False))

    def addressed(self, name: str) -> None:
        """Record that the address of a compute is known."""
        self._fulfil((name, True))

    def give_up(self, name: str) -> list[str]:
        """Leave a resource out; return all that depend on it or its address, which are also left out."""
        lost = {name: None}
        queue = deque([name])
        while queue:
            for needing in self._needing(queue.popleft()):
                if needing not in lost and needing in self._waits:  # it may have been left out because of another
                    lost[needing] = None
                    queue.append(needing)
        for one in lost:
            self._waits.pop(one, None)
        for one in lost:
            self._fulfil((one, False))
            self._fulfil((one, True))
        return list(lost)[1:]

    def _needing(self, name: str) -> list[str]:
        """Return the resources that wait for a resource or its address as a dependency, in order."""
        waiting = {*self._followers.get((name, False), ()), *self._followers.get((name, True), ())}
        positions = sorted(self._positions[one] for one in waiting)
        return [
            one.name for one in map(self._order.__getitem__, positions) if name in one.after or name in one.addresses
        ]

    def _fulfil(self, what: tuple[str, bool]) -> None:
        self._left.discard(what)
        for follower in self._followers.pop(what, ()):
            waits = self._waits.get(follower)
            if waits is not None:
                waits.discard(what)
                if not waits:
                    heappush(self._due, self._positions[follower])

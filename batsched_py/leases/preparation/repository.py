"""Repository: the one host from which images are transferred, one transfer at a time (H46, H48, H49)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from operator import attrgetter

from batsched_py.leases.lease import Lease, LeaseReservation, Phase
from batsched_py.results.lease_rows import ReservationUse

#: A transfer to move, and its new start.
Move = tuple["DiskTransfer", float]


class DiskTransfer(LeaseReservation):
    """A transfer of one image, for the lease that requested it and for those that share it.

    Attributes:
        image: the name of the image.
        deadline: the latest end; None if its lease waits for it.
        riders: lease id -> the lease, and its nodes (node -> host).
    """

    __slots__ = ("deadline", "image", "riders")

    def __init__(
        self, lease: Lease, image: str, span: tuple[float, float], nodes: Mapping[int, int], deadline: float | None
    ) -> None:
        super().__init__(lease, ReservationUse.TRANSFER, *span, nodes=nodes, shares=lease.presence(set(nodes.values())))
        self.image, self.deadline = image, deadline
        self.riders: dict[int, tuple[Lease, dict[int, int]]] = {lease.id: (lease, dict(nodes))}

    def join(self, lease: Lease, nodes: Mapping[int, int]) -> None:
        """Add a lease that shares the transfer."""
        self.riders[lease.id] = lease, dict(nodes)

    def leave(self, lease: Lease) -> None:
        """Remove a lease; if it owned the transfer, the next one that shares it becomes the owner."""
        del self.riders[lease.id]
        if lease is self.lease and self.riders:
            self.lease, self.nodes = next(iter(self.riders.values()))

    @property
    def due(self) -> float:
        """The latest end that suits all leases; infinity if none has a planned start."""
        starts = [lease.runs[-1].start for lease, _ in self.riders.values() if lease.runs]
        return min([math.inf if self.deadline is None else self.deadline, *starts])

    @property
    def hosts(self) -> set[int]:
        """The target hosts."""
        return {host for _, nodes in self.riders.values() for host in nodes.values()}


class Repository:
    """The timetable of transfers that are not over; no two of them overlap."""

    def __init__(self) -> None:
        #: Transfers in order of time.
        self.transfers: list[DiskTransfer] = []

    def first_hole(self, seconds: float, now: float, without: Sequence[DiskTransfer] = ()) -> float:
        """Return the start of the first hole of this length from now on, ignoring the transfers in `without`."""
        start = now
        for transfer in self.transfers:
            if transfer in without:
                continue
            if start + seconds <= transfer.start:
                break
            start = max(start, transfer.end)
        return start

    def add(self, transfer: DiskTransfer) -> None:
        """Add a transfer to the timetable."""
        self.transfers.append(transfer)
        self.transfers.sort(key=attrgetter("start"))

    def remove(self, transfer: DiskTransfer) -> None:
        """Remove a transfer that is over or cancelled."""
        self.transfers.remove(transfer)

    def place(self, seconds: float, deadline: float, now: float) -> tuple[float, Sequence[Move]] | None:
        """Return the latest start of a new transfer that ends by its deadline, and moves of others that it requires.

        If there is no hole, all transfers with deadlines that have not begun are placed again together with the new
        one, each as late as possible, the latest deadline first, respecting the leases that share them. None if one of
        them would be late.
        """
        start = _last_gap([(one.start, one.end) for one in self.transfers], seconds, deadline)
        if start >= now:
            return start, ()
        movable = [one for one in self.transfers if one.deadline is not None and one.phase is Phase.PLANNED]
        taken: list[tuple[float, float]] = [(one.start, one.end) for one in self.transfers if one not in movable]
        asked: list[tuple[float, float, DiskTransfer | None]] = [(deadline, seconds, None)]
        asked += [(one.due, one.end - one.start, one) for one in movable]
        placed: dict[DiskTransfer | None, float] = {}
        for due, length, transfer in sorted(asked, key=lambda one: -one[0]):
            start = _last_gap(taken, length, due)
            if start < now:
                return None
            taken.append((start, start + length))
            placed[transfer] = start
        own = placed.pop(None)
        return own, [(one, at) for one, at in placed.items() if one is not None and at != one.start]


def _last_gap(taken: Sequence[tuple[float, float]], seconds: float, deadline: float) -> float:
    """Return the latest start of a transfer that ends by its deadline and overlaps none of the given intervals."""
    end = deadline
    for start, until in sorted(taken, reverse=True):
        if end - seconds >= until:
            break
        end = min(end, start)
    return end - seconds

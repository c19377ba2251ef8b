"""Preparation by transfers of disk images from a repository, with shared transfers and caches (H46 to H52)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from batsched_py.leases.lease import Lease, LeaseReservation, LeaseRun, Phase
from batsched_py.leases.points import Point, near_points
from batsched_py.leases.preparation.images import Disks
from batsched_py.leases.preparation.repository import DiskTransfer, Repository
from batsched_py.leases.preparation.unmanaged import Unmanaged
from batsched_py.leases.suspension import transfer_time
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.results.lease_rows import LeaseState


@dataclass(frozen=True, slots=True)
class TransferSettings:
    """Settings of image transfers.

    Attributes:
        bandwidth: the bandwidth of the repository in Mb/s.
        mechanism: "unicast" for one transfer per node, one after the other; "multicast" for one per lease.
        share: True if leases join transfers of the same image that have not begun.
        forced_time: seconds of one transfer, regardless of the size; None to compute them.
        cache: the size of each host's image cache in MB; infinity for no limit, None for no cache.
    """

    bandwidth: float = 100.0
    mechanism: Literal["unicast", "multicast"] = "unicast"
    share: bool = True
    forced_time: float | None = None
    cache: float | None = None


class ImageTransfer(Unmanaged):
    """Preparation by transfers of disk images from a repository."""

    at_once = False

    def __init__(self, settings: TransferSettings, hosts: int, move: Callable[[DiskTransfer, float], None]) -> None:
        """Begin with empty disks.

        Args:
            settings: the settings of transfers.
            hosts: the number of hosts.
            move: moves a planned transfer to another start.
        """
        super().__init__(Disks(settings.cache))
        self._settings, self._hosts, self._move = settings, hosts, move
        self.repository = Repository()

    def points(self, lease: Lease, now: float) -> Sequence[Point]:
        """Return the times at which hosts could be ready: now, after a shared or after a new transfer (H46 to H51)."""
        if lease.software is None:
            return [(now, None)]
        seconds = self._seconds(lease, lease.size)
        hole = self.repository.first_hole(seconds, now, without=self._unshared(lease))
        ready = dict.fromkeys(range(self._hosts), hole + seconds)
        for host in self.disks.holding(lease.software.name):
            ready[host] = now
        for transfer in self._shareable(lease, now):
            for host in range(self._hosts) if self._settings.mechanism == "multicast" else transfer.hosts:
                ready[host] = min(ready[host], transfer.end)
        return near_points([(time, host) for host, time in ready.items()])

    def prepare(self, lease: Lease, run: LeaseRun, now: float) -> Sequence[LeaseReservation] | None:
        """Return the transfer that a run needs besides cached images and shared transfers; None if it would be late."""
        if lease.software is None:
            return ()
        image = lease.software.name
        there = self.disks.holding(image)
        missing = {node: host for node, host in run.nodes.items() if host not in there}
        shared, new = None, list[LeaseReservation]()
        if missing and lease.kind is not LeaseKind.ADVANCE:
            shared, missing = self._join(lease, missing, run, now)
        if missing:
            transfer = self._new_transfer(lease, missing, now)
            if transfer is None:
                return None
            self.repository.add(transfer)
            new.append(transfer)
        if shared is not None:
            lease.transfers.append(shared)
        for node, host in run.nodes.items():
            if host in there:
                self.disks.use(host, image, lease, run.final_end)
                self.disks.copy(host, lease, node, lease.software.size)
        return new

    def seconds(self, lease: Lease) -> float:
        """Return the duration of a lease's transfers in seconds, without caches or sharing."""
        return 0.0 if lease.software is None else self._seconds(lease, lease.size)

    def ready(self, lease: Lease) -> bool:
        """Return True if all transfers of a lease are over."""
        return all(transfer.phase is Phase.OVER for transfer in lease.transfers)

    def movable(self, lease: Lease) -> bool:
        """Return True if the lease needs no image."""
        return lease.software is None

    def in_time(self, lease: Lease, run: LeaseRun, now: float) -> bool:
        """Return True if the image can be on all hosts of this run by its start."""
        if lease.software is None:
            return True
        missing = set(run.nodes.values()) - self.disks.holding(lease.software.name)
        nodes = [node for node, host in run.nodes.items() if host in missing]
        return not nodes or self.repository.place(self._seconds(lease, len(nodes)), run.start, now) is not None

    def cancel(self, lease: Lease, now: float) -> Sequence[LeaseReservation]:
        """Leave unfinished transfers and drop files; return the transfers that no lease needs any more."""
        dropped = list[LeaseReservation]()
        for transfer in lease.transfers:
            if isinstance(transfer, DiskTransfer) and transfer.phase is not Phase.OVER:
                transfer.leave(lease)
                if not transfer.riders:
                    dropped.append(transfer)
                    self.repository.remove(transfer)
        lease.transfers = [one for one in lease.transfers if one.phase is Phase.OVER and one.end <= now]
        self.disks.forget(lease)
        return dropped

    def begin(self, transfer: LeaseReservation, now: float) -> None:
        """Handle the begin of a transfer: its scheduled leases are now being prepared."""
        assert isinstance(transfer, DiskTransfer)  # noqa: S101  # there is no other
        for lease, _ in transfer.riders.values():
            if lease.state is LeaseState.SCHEDULED:
                lease.change(LeaseState.PREPARING, now)

    def finish(self, transfer: LeaseReservation, now: float) -> None:
        """Handle the end of a transfer: store the images, and mark prepared leases as ready."""
        assert isinstance(transfer, DiskTransfer)  # noqa: S101  # there is no other
        self.repository.remove(transfer)
        for lease, nodes in transfer.riders.values():
            assert lease.software is not None  # noqa: S101  # it waits for an image
            for node, host in nodes.items():
                self.disks.keep(host, transfer.image, lease.software.size, now)
                self.disks.use(host, transfer.image, lease, lease.runs[-1].final_end)
                self.disks.copy(host, lease, node, lease.software.size)
            if lease.state is LeaseState.PREPARING and self.ready(lease):
                lease.change(LeaseState.READY, now)

    def _shareable(self, lease: Lease, now: float) -> list[DiskTransfer]:
        """Return the planned transfers of a lease's image that it may share, in order of time."""
        if not self._settings.share or lease.software is None or lease.kind is LeaseKind.ADVANCE:
            return []
        transfers = self.repository.transfers
        image = lease.software.name
        planned = [one for one in transfers if one.image == image and one.phase is Phase.PLANNED and one.end > now]
        return [one for one in planned if one not in self._unshared(lease)]

    def _unshared(self, lease: Lease) -> list[DiskTransfer]:
        """Return the planned transfers of this lease alone, which are dropped when it is replanned."""
        planned = [one for one in lease.transfers if isinstance(one, DiskTransfer) and one.phase is Phase.PLANNED]
        return [one for one in planned if list(one.riders) == [lease.id]]

    def _join(
        self, lease: Lease, missing: dict[int, int], run: LeaseRun, now: float
    ) -> tuple[DiskTransfer | None, dict[int, int]]:
        """Join a transfer that ends earlier than a new one would; return it, and the nodes that it does not serve."""
        seconds = self._seconds(lease, lease.size)
        own = self.repository.first_hole(seconds, now) + seconds
        for transfer in self._shareable(lease, now):
            if transfer.end < own and transfer.end <= run.start:
                any_host = self._settings.mechanism == "multicast"
                nodes = {node: host for node, host in missing.items() if any_host or host in transfer.hosts}
                if nodes:
                    transfer.join(lease, nodes)
                    return transfer, {node: host for node, host in missing.items() if node not in nodes}
        return None, missing

    def _new_transfer(self, lease: Lease, nodes: dict[int, int], now: float) -> DiskTransfer | None:
        assert lease.software is not None  # noqa: S101  # it needs an image
        seconds = self._seconds(lease, len(nodes))
        if lease.kind is not LeaseKind.ADVANCE:
            # The run was planned as if all nodes needed the image, with this hole.
            start = self.repository.first_hole(self._seconds(lease, lease.size), now)
            return DiskTransfer(lease, lease.software.name, (start, start + seconds), nodes, None)
        assert lease.start is not None  # noqa: S101  # it is an advance reservation
        placed = self.repository.place(seconds, lease.start, now)
        if placed is None:
            return None
        start, moves = placed
        for other, time in moves:
            self._move(other, time)
        if moves:
            self.repository.transfers.sort(key=lambda one: one.start)
        return DiskTransfer(lease, lease.software.name, (start, start + seconds), nodes, lease.start)

    def _seconds(self, lease: Lease, nodes: int) -> float:
        """Return the seconds to transfer the image of a lease to so many nodes."""
        assert lease.software is not None  # noqa: S101  # it needs an image
        settings = self._settings
        one = transfer_time(lease.software.size, settings.bandwidth)
        if settings.forced_time is not None:
            one = settings.forced_time
        return one * nodes if settings.mechanism == "unicast" else one

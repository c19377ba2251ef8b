"""Waiting leases in order, with a quick test of which of them may start now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from batsched_py.bits import bits_of
from batsched_py.leases.capacity import Amounts
from batsched_py.leases.lease import Lease
from batsched_py.leases.mapping import RoomNeed

# On a loaded site most waiting leases cannot start, and all are tried at each instant. A question to the planner takes
# 20 us, with a thousand of them more than all else of an instant. So it is only asked for those that pass a quick test,
# and that is not made for each lease.
#
# Leases that need so many of all hosts are tested together, by their number of hosts. A lease that needs certain hosts,
# since they have its memory, is blocked while any of them has no room: it is filed under one that had none when it was
# tested last, and tested again when that has room (as the watched literals of SAT solvers). So an instant takes time in
# proportion to the leases filed under hosts with room, which are few while there is a queue.
#
# What a lease needs stays the same while it waits: its demand never changes, and a suspended one comes here when the
# hosts that have its memory are known.

#: To find the place of one lease costs less than a hundredth of a walk in Python along the line.
_FEW: Final = 32


class _DemandedRoom:
    """Waiting leases with one demand.

    Attributes:
        anywhere: hosts, and how many of them must have room -> leases.
        watched: host -> leases that need it and others; it had no room when they were tested last.
    """

    __slots__ = ("anywhere", "watched")

    def __init__(self) -> None:
        self.anywhere: dict[tuple[int, int], dict[Lease, None]] = {}
        self.watched: dict[int, dict[Lease, int]] = {}

    def put(self, lease: Lease, hosts: int, least: int) -> None:
        """Add a lease that needs `least` of some hosts."""
        if 0 < hosts.bit_count() == least:
            self._watch(lease, hosts, hosts)
        else:
            self.anywhere.setdefault((hosts, least), {})[lease] = None

    def remove(self, lease: Lease, hosts: int, least: int) -> None:
        """Remove a lease that needs `least` of some hosts."""
        if 0 < hosts.bit_count() == least:
            self._leave(lease, next(host for host, leases in self.watched.items() if lease in leases))
            return
        leases = self.anywhere[hosts, least]
        del leases[lease]
        if not leases:
            del self.anywhere[hosts, least]

    def promising(self, free: int) -> Iterator[Lease]:
        """Yield the leases for which enough of the hosts with room are there."""
        for (hosts, least), leases in self.anywhere.items():
            if (hosts & free).bit_count() >= least:
                yield from leases
        for host in [host for host in self.watched if free >> host & 1]:
            for lease, hosts in list(self.watched[host].items()):
                if blocked := hosts & ~free:
                    self._leave(lease, host)
                    self._watch(lease, hosts, blocked)
                else:
                    yield lease

    def _watch(self, lease: Lease, hosts: int, blocked: int) -> None:
        host = (blocked & -blocked).bit_length() - 1
        self.watched.setdefault(host, {})[lease] = hosts

    def _leave(self, lease: Lease, host: int) -> None:
        leases = self.watched[host]
        del leases[lease]
        if not leases:
            del self.watched[host]


class WaitingLine:
    """Waiting leases in an order that the caller determines.

    Args:
        need: returns what a lease needs to start at once; None if no quick test is possible.

    Attributes:
        leases: the leases; changed by the methods only.
    """

    def __init__(self, need: Callable[[Lease], RoomNeed | None]) -> None:
        self._need_of = need
        self.leases: list[Lease] = []
        #: Waiting lease -> what it needs; None without a quick test.
        self._needs: dict[Lease, RoomNeed | None] = {}
        #: Demand -> the waiting leases with it that have a quick test.
        self._rooms: dict[Amounts, _DemandedRoom] = {}
        #: The waiting leases without a quick test.
        self._untested: dict[Lease, None] = {}

    def insert(self, place: int, lease: Lease) -> None:
        """Insert a lease before the one at a place."""
        self.leases.insert(place, lease)
        need = self._needs[lease] = self._need_of(lease)
        if need is None:
            self._untested[lease] = None
        else:
            self._rooms.setdefault(need.demand, _DemandedRoom()).put(lease, need.hosts, need.least)

    def remove(self, lease: Lease) -> bool:
        """Remove a lease; return False if it does not wait."""
        if lease not in self._needs:
            return False
        self.remove_at(self.leases.index(lease))
        return True

    def remove_at(self, place: int) -> None:
        """Remove the lease at a place."""
        lease = self.leases.pop(place)
        need = self._needs.pop(lease)
        if need is None:
            del self._untested[lease]
            return
        room = self._rooms[need.demand]
        room.remove(lease, need.hosts, need.least)
        if not room.anywhere and not room.watched:
            del self._rooms[need.demand]

    def promising(self, begin: int, room: Callable[[Amounts], int]) -> list[int]:
        """Return the places, from one on, of the leases that may start, in order.

        Args:
            begin: the first place.
            room: returns the hosts, as bits, with room for a demand now.
        """
        found = dict(self._untested)
        for demand, leases in self._rooms.items():
            found.update(dict.fromkeys(leases.promising(room(demand))))
        if _FEW * len(found) < len(self.leases):
            places = sorted(map(self.leases.index, found))
        else:
            places = [place for place, lease in enumerate(self.leases) if lease in found]
        return [place for place in places if place >= begin]

    def check(self) -> None:
        """Assert that what is kept of each lease is still true."""
        assert self._needs == {lease: self._need_of(lease) for lease in self.leases}  # noqa: S101
        filed = [(demand, lease, each) for demand, room in self._rooms.items() for lease, each in _filed(room)]
        needs = [(need.demand, lease, need) for lease, need in self._needs.items() if need is not None]
        assert sorted((lease.id, demand) for demand, lease, _ in filed) == sorted(  # noqa: S101
            (lease.id, demand) for demand, lease, _ in needs
        )
        for _, lease, hosts in filed:
            need = self._needs[lease]
            assert need is not None  # noqa: S101
            assert hosts == hosts & need.hosts  # noqa: S101


def _filed(room: _DemandedRoom) -> Iterator[tuple[Lease, int]]:
    """Yield each lease with the hosts under which it is filed."""
    for (hosts, _), leases in room.anywhere.items():
        for lease in leases:
            yield lease, hosts
    for host, watching in room.watched.items():
        for lease in watching:
            yield lease, bits_of([host])

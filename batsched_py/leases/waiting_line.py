"""Waiting leases in order, each with a quick test of whether it may start now."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from batsched_py.leases.capacity import Amounts
from batsched_py.leases.lease import Lease
from batsched_py.leases.mapping import RoomNeed

# On a loaded site most waiting leases cannot start, and all are tried at each instant. A question to the planner takes
# 20 us, with a thousand of them more than all else of an instant. So what a lease needs is kept as two numbers, and one
# expression compares them with the hosts that have room, at some 0.1 us for each lease. It stays the same while a lease
# waits: its demand never changes, and a suspended one comes here when the hosts that have its memory are known.


class _DemandedRoom:
    """Hosts with room for a demand, and the number of waiting leases with this demand."""

    __slots__ = ("demand", "free", "leases")

    def __init__(self, demand: Amounts) -> None:
        self.demand, self.leases, self.free = demand, 0, 0


class _WaitingNeed(NamedTuple):
    """The need of a waiting lease: `least` of these hosts must have room."""

    room: _DemandedRoom
    hosts: int
    least: int


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
        #: The needs of `leases`, in the same order.
        self._needs: list[_WaitingNeed | None] = []
        #: Demand of a waiting lease with a quick test -> the hosts with room.
        self._rooms: dict[Amounts, _DemandedRoom] = {}

    def insert(self, place: int, lease: Lease) -> None:
        """Insert a lease before the one at a place."""
        self.leases.insert(place, lease)
        found = self._need_of(lease)
        if found is None:
            self._needs.insert(place, None)
            return
        demand, hosts, least = found
        room = self._rooms.setdefault(demand, _DemandedRoom(demand))
        room.leases += 1
        self._needs.insert(place, _WaitingNeed(room, hosts, least))

    def remove(self, lease: Lease) -> bool:
        """Remove a lease; return False if it does not wait."""
        if lease not in self.leases:
            return False
        self.remove_at(self.leases.index(lease))
        return True

    def remove_at(self, place: int) -> None:
        """Remove the lease at a place."""
        del self.leases[place]
        need = self._needs.pop(place)
        if need is not None:
            need.room.leases -= 1
            if not need.room.leases:
                del self._rooms[need.room.demand]

    def promising(self, begin: int, room: Callable[[Amounts], int]) -> list[int]:
        """Return the places, from one on, of the leases that may start.

        Args:
            begin: the first place.
            room: returns the hosts, as bits, with room for a demand now.
        """
        for one in self._rooms.values():
            one.free = room(one.demand)
        return [
            place
            for place, need in enumerate(self._needs[begin:], begin)
            if need is None or (need[0].free & need[1]).bit_count() >= need[2]
        ]

    def check(self) -> None:
        """Assert that what is kept of each lease is still true."""
        needs = [None if need is None else RoomNeed(need.room.demand, need.hosts, need.least) for need in self._needs]
        assert needs == list(map(self._need_of, self.leases))  # noqa: S101
        demands = [need.demand for need in needs if need is not None]
        assert {room.demand: room.leases for room in self._rooms.values()} == {  # noqa: S101
            demand: demands.count(demand) for demand in demands
        }

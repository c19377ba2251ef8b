"""Promises of a start: specific hosts, rooms on hosts, a number of hosts, or a number of hosts from an instant on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias, TypeVar

from msgspec import Struct

from batsched_py.bits import bits_of
from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand

#: A choice of hosts: (at least `size` free hosts, size) -> `size` of them; None if none are acceptable.
Choose: TypeAlias = Callable[[HostSet, int], HostSet | None]


class Slot(Struct, frozen=True, gc=False):
    """Hosts during the half-open interval [start, end), in seconds."""

    start: float
    end: float
    hosts: HostSet


class Claim(Struct, frozen=True, gc=False):
    """A number of arbitrary hosts during the half-open interval [start, end), in seconds."""

    start: float
    end: float
    size: int
    #: For the interface of a Slot: any hosts.
    hosts: ClassVar[None] = None


class RoomSlot(Struct, frozen=True):
    """Places of tasks on hosts during the half-open interval [start, end), in seconds."""

    start: float
    end: float
    places: Places
    demand: JobDemand

    @property
    def hosts(self) -> HostSet:
        """The hosts of all tasks."""
        return HostSet(bits_of(place.host for place in self.places))


#: The promises that can be reserved in the availability.
Promise: TypeAlias = Slot | Claim | RoomSlot
#: Specific hosts, or rooms on hosts.
Specific: TypeAlias = Slot | RoomSlot
#: One of them.
Reserved = TypeVar("Reserved", Slot, Claim, Specific)


class Shadow(Struct, frozen=True, gc=False):
    """A number of arbitrary hosts from `start` on; `spare` more than requested will be free then."""

    start: float
    spare: int
    #: For the interface of a Slot: any hosts.
    hosts: ClassVar[None] = None

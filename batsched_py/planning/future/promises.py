"""Promises of a start: of these very hosts, of a number of them, or of a number from an instant on."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeAlias, TypeVar

from msgspec import Struct

from batsched_py.hostset import HostSet

#: A choice of hosts: of these free ones, at least as many as asked for, that many; None: none of them will do.
Choose: TypeAlias = Callable[[HostSet, int], HostSet | None]


class Slot(Struct, frozen=True, gc=False):
    """Hosts during the half-open time [start, end), in seconds."""

    start: float
    end: float
    hosts: HostSet


class Claim(Struct, frozen=True, gc=False):
    """A number of hosts, whichever, during the half-open time [start, end), in seconds."""

    start: float
    end: float
    size: int
    #: As of a Slot: any will do.
    hosts: ClassVar[None] = None


#: The promises that can be reserved.
Promise: TypeAlias = Slot | Claim
#: One of them.
Reserved = TypeVar("Reserved", Slot, Claim)


class Shadow(Struct, frozen=True, gc=False):
    """A number of hosts, whichever, from `start` on; `spare` more than asked will be free then."""

    start: float
    spare: int
    #: As of a Slot: any will do.
    hosts: ClassVar[None] = None

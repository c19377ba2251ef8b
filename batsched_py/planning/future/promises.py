"""What may be promised: these hosts, or a number of them, and from when on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from batsched_py.bits import lowest, size_of
from batsched_py.hostset import HostSet

#: How hosts are picked: of these free ones, at least as many as asked for, that many; None: none of them will do.
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


#: What may be reserved.
Promise: TypeAlias = Slot | Claim


class Shadow(Struct, frozen=True, gc=False):
    """A number of hosts, whichever, from `start` on; `spare` more than asked will be free then."""

    start: float
    spare: int


def pick_hosts(free: int, size: int, choose: Choose | None) -> HostSet | None:
    """So many of these bits, as they are chosen; None if they are too few or will not do."""
    if choose is None:
        bits = lowest(free, size)
        return None if bits is None else HostSet(bits)
    return choose(HostSet(free), size) if size_of(free) >= size else None


def on_bits(choose: Choose | None) -> Callable[[int, int], int | None] | None:
    """The same choice among bits."""
    if choose is None:
        return None

    def pick(free: int, size: int) -> int | None:
        hosts = choose(HostSet(free), size)
        return None if hosts is None else hosts.bits

    return pick

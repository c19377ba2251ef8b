"""How long free hosts stay free, as promises allow: who may start now and break none."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TypeAlias

from batsched_py.bits import LARGE, lowest, size_of, sized
from batsched_py.hostset import HostSet
from batsched_py.planning.future.promises import Choose

#: (number of hosts, instant): so many are free from now until then; instants ascend, numbers descend.
Limits: TypeAlias = list[tuple[int, float]]


class Gaps(ABC):
    """What is free now, and until when. Work that is started takes of it; nothing is given back.

    Promises make it fall at their starts only. So a few steps say all, and a question walks those before its end.
    """

    __slots__ = ("free", "left")

    #: Bits of the hosts that are free now, and how many these are.
    free: int
    left: int

    @abstractmethod
    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """Hosts that are free now and, by the promises, until `end`, of `among` only; the lowest if nobody chooses.

        None: there are too few, or none of those there are will do.
        """

    @abstractmethod
    def take(self, hosts: HostSet, end: float) -> None:
        """Work starts on these hosts, as `find` gave them, until `end`."""

    @abstractmethod
    def limits(self) -> Limits:
        """Who may start, by size: a job of at most so many hosts until then."""

    def limit(self, size: int) -> float:
        """By when a job of this size must end."""
        return max((time for room, time in self.limits() if size <= room), default=-math.inf)

    def _pick(self, free: int, size: int, choose: Choose | None) -> HostSet | None:
        if choose is not None:
            return choose(HostSet(free), size) if size_of(free) >= size else None
        bits = lowest(free, size)
        return None if bits is None else HostSet(bits)


class CountGaps(Gaps):
    """Promises are numbers of hosts: any host will do for whoever ends in time or leaves enough others."""

    __slots__ = ("_falls",)

    def __init__(self, free: int, falls: list[tuple[float, int]]) -> None:
        """`falls` begin now, and are this object's from here on."""
        self.free, self.left = free, size_of(free)
        #: (instant, how many hosts nobody is promised from then on, at least); instants ascend.
        self._falls = falls

    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """As in Gaps; walks the steps before `end`."""
        for time, room in self._falls:
            if time >= end:
                break
            if room < size:
                return None
        return self._pick(self.free if among is None else self.free & among.bits, size, choose)

    def take(self, hosts: HostSet, end: float) -> None:
        """As in Gaps."""
        size = size_of(hosts.bits)
        self.left -= size
        self.free ^= hosts.bits
        if self.free >= LARGE:
            sized(self.free, self.left)
        for position, (time, room) in enumerate(self._falls):
            if time >= end:
                break
            self._falls[position] = time, room - size

    def limits(self) -> Limits:
        """As in Gaps."""
        least, limits = self.left, []
        for time, room in self._falls:
            if room < least:
                limits.append((least, time))
                least = room
        limits.append((least, math.inf))
        return limits


class HostGaps(Gaps):
    """Promises are these very hosts: only who ends in time may use them."""

    __slots__ = ("_falls",)

    def __init__(self, free: int, falls: list[tuple[float, HostSet]]) -> None:
        """`falls` begin now."""
        self.free, self.left = free, size_of(free)
        #: (instant, the hosts that stay free until after it); instants ascend.
        self._falls = falls

    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """As in Gaps; walks the steps before `end`."""
        free = self.free
        for time, hosts in self._falls:
            if time >= end:
                break
            free = hosts.bits
        return self._pick(free & self.free if among is None else free & self.free & among.bits, size, choose)

    def take(self, hosts: HostSet, end: float) -> None:  # noqa: ARG002  (what is not free now is not free until later)
        """As in Gaps."""
        self.free ^= hosts.bits
        self.left -= size_of(hosts.bits)

    def limits(self) -> Limits:
        """As in Gaps."""
        limits: Limits = []
        before = self.free
        for time, hosts in self._falls:
            if hosts.bits != before:
                limits.append(((before & self.free).bit_count(), time))
            before = hosts.bits
        limits.append(((before & self.free).bit_count(), math.inf))
        return limits

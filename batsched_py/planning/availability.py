"""Which hosts will be free when: the one truth about the future."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator

from msgspec import Struct

from batsched_py.hostset import HostSet, lowest


class Slot(Struct, frozen=True):
    """Hosts during the half-open time [start, end), in seconds."""

    start: float
    end: float
    hosts: HostSet


class Shadow(Struct, frozen=True):
    """A number of hosts, whichever, from `start` on; `spare` more than asked will be free then."""

    start: float
    spare: int


class Changes:
    """Host bits by the instant at which they change; instants ascend."""

    __slots__ = ("bits", "times")

    def __init__(self) -> None:
        #: Instants with at least one host, ascending.
        self.times: list[float] = []
        #: Instant -> bits; exactly the instants of `times`.
        self.bits: dict[float, int] = {}

    def add(self, time: float, hosts: int) -> None:
        """These hosts change at this instant too."""
        if time in self.bits:
            self.bits[time] |= hosts
        else:
            self.bits[time] = hosts
            insort(self.times, time)

    def remove(self, time: float, hosts: int) -> None:
        """These hosts do not change at this instant after all."""
        left = self.bits.get(time, 0) & ~hosts
        if left:
            self.bits[time] = left
        elif time in self.bits:
            del self.bits[time]
            del self.times[bisect_left(self.times, time)]

    def take(self, time: float) -> int:
        """Forget the instant; the bits that change at it, none if it is not here."""
        hosts = self.bits.get(time, 0)
        self.remove(time, hosts)
        return hosts

    def between(self, start: float, end: float) -> int:
        """Bits that change in the open interval (start, end)."""
        hosts = 0
        for time in self.times[bisect_right(self.times, start) : bisect_left(self.times, end)]:
            hosts |= self.bits[time]
        return hosts


class Availability:
    """The free hosts as a step function of time, kept as changes and never rebuilt.

    What is free at `now` is fact; what comes later is prediction: work ends at its walltime, reservations begin and
    end. Work that is past its predicted end still holds its hosts; they are expected the instant after `now`. Hosts
    in `down` (asleep, switching, failed) are never free, now or later.

    A change costs a binary search and an insertion; a question walks the changes until it is answered.
    """

    __slots__ = ("_ends", "_starts", "_stops", "busy", "down", "hosts", "now", "reserved")

    def __init__(self, now: float, hosts: int, down: int = 0) -> None:
        """All of the bits `hosts` are without work at `now`."""
        self.now = now
        #: Bits of all hosts.
        self.hosts = hosts
        #: Bits that no question may return.
        self.down = down
        #: Bits of hosts that work holds at `now`.
        self.busy = 0
        #: Bits of hosts whose reservation has begun and not ended at `now`.
        self.reserved = 0
        #: Predicted ends of the work that holds `busy`; those up to `now` are overdue.
        self._ends = Changes()
        #: Starts of reservations, later than `now`.
        self._starts = Changes()
        #: Ends of reservations, later than `now`.
        self._stops = Changes()

    @property
    def free(self) -> int:
        """Bits of hosts that are free at `now`."""
        return self.hosts & ~(self.busy | self.reserved | self.down)

    def advance(self, now: float) -> None:
        """Time has come to `now`: reservations begin and end."""
        self.now = now
        starts, stops = self._starts, self._stops
        while stops.times and (time := min(stops.times[:1] + starts.times[:1])) <= now:
            self.reserved = self.reserved & ~stops.take(time) | starts.take(time)

    def occupy(self, hosts: int, until: float) -> None:
        """Work takes these hosts from now, presumably until then (infinite: no one knows)."""
        self.busy |= hosts
        if until < math.inf:
            self._ends.add(until, hosts)

    def vacate(self, hosts: int, until: float) -> None:
        """The work that was to hold these hosts until then has ended now."""
        self.busy &= ~hosts
        if until < math.inf:
            self._ends.remove(until, hosts)

    def reserve(self, slot: Slot) -> None:
        """Keep the slot's hosts from everyone else; they must be free then, as `earliest` and `slot_at` promise."""
        if slot.start <= self.now:
            self.reserved |= slot.hosts.bits
        else:
            self._starts.add(slot.start, slot.hosts.bits)
        self._stops.add(slot.end, slot.hosts.bits)

    def release(self, slot: Slot) -> None:
        """Take a reservation back; one that has ended by itself is gone already."""
        if slot.end <= self.now:
            return
        if slot.start <= self.now:
            self.reserved &= ~slot.hosts.bits
        else:
            self._starts.remove(slot.start, slot.hosts.bits)
        self._stops.remove(slot.end, slot.hosts.bits)

    def free_during(self, start: float, end: float) -> HostSet:
        """Hosts free without interruption in [start, end), `start` at or after now."""
        free = self.free if start <= self.now else self._free_at(start)
        return HostSet(free & ~self._starts.between(start, end))

    def slot_at(self, start: float, size: int, duration: float) -> Slot | None:
        """The `size` lowest hosts that are free in [start, start + duration), or None if there are fewer."""
        hosts = self.free_during(start, start + duration).first(size)
        return None if hosts is None else Slot(start, start + duration, hosts)

    def earliest(self, size: int, duration: float) -> Slot | None:
        """The first slot of `size` hosts for `duration` seconds, lowest hosts; None if there will never be one."""
        for time, free in self._steps():
            if free.bit_count() < size:
                continue
            hosts = lowest(free & ~self._starts.between(time, time + duration), size)
            if hosts is not None:
                return Slot(time, time + duration, HostSet(hosts))
        return None

    def shadow(self, size: int) -> Shadow | None:
        """When `size` hosts, whichever, will be free, and how many more; None if never.

        EASY's "shadow time" and "extra nodes" (Lifka 1995; Mu'alem and Feitelson 2001): a promise on a count of hosts.
        """
        spare = self.free.bit_count() - size
        if spare >= 0:
            return Shadow(self.now, spare)
        for time, free in self._steps():
            spare = free.bit_count() - size
            if spare >= 0:
                return Shadow(time, spare)
        return None

    def steps(self) -> Iterator[tuple[float, HostSet]]:
        """(instant, hosts free from then on), from now, instants ascending."""
        return ((time, HostSet(free)) for time, free in self._steps())

    def _steps(self) -> Iterator[tuple[float, int]]:
        yield self.now, self.free
        hosts, busy, reserved = self.hosts & ~self.down, self.busy, self.reserved
        ends, starts, stops = self._ends.bits, self._starts.bits, self._stops.bits
        times = self._ends.times
        overdue = bisect_right(times, self.now)
        if overdue:
            for time in times[:overdue]:
                busy &= ~ends[time]
            yield math.nextafter(self.now, math.inf), hosts & ~(busy | reserved)
            times = times[overdue:]
        if not stops:
            for time in times:
                busy &= ~ends[time]
                yield time, hosts & ~busy
            return
        for time in sorted({*times, *starts, *stops}):
            busy &= ~ends.get(time, 0)
            reserved = reserved & ~stops.get(time, 0) | starts.get(time, 0)
            yield time, hosts & ~(busy | reserved)

    def _free_at(self, start: float) -> int:
        free = self.free
        for time, bits in self._steps():
            if time > start:
                break
            free = bits
        return free

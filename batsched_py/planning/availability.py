"""Which hosts will be free when: the one truth about the future."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from msgspec import Struct

from batsched_py.hostset import HostSet, lowest
from batsched_py.planning.slices import Slices

#: How hosts are picked: of these free ones, at least as many as asked for, that many; None: none of them will do.
Choose: TypeAlias = Callable[[HostSet, int], HostSet | None]


#: Starts of reservations up to which questions walk the changes; beyond that it pays to keep the slices.
FEW: Final = 2


class Slot(Struct, frozen=True):
    """Hosts during the half-open time [start, end), in seconds."""

    start: float
    end: float
    hosts: HostSet


class Claim(Struct, frozen=True):
    """A number of hosts, whichever, during the half-open time [start, end), in seconds."""

    start: float
    end: float
    size: int


#: What may be reserved.
Promise: TypeAlias = Slot | Claim


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

    def forget(self, hosts: int) -> None:
        """These hosts do not change, whenever they were to; walks all instants."""
        for time in [time for time in self.times if self.bits[time] & hosts]:
            self.remove(time, hosts)

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


class Freed(Struct, frozen=True):
    """Hosts that were taken during [start, end) and are so no more; of claims only their number is known."""

    start: float
    end: float
    bits: int
    count: int

    @classmethod
    def of(cls, promise: Promise) -> Freed:
        """What was promised."""
        if isinstance(promise, Claim):
            return cls(promise.start, promise.end, 0, promise.size)
        return cls(promise.start, promise.end, promise.hosts.bits, len(promise.hosts))

    @classmethod
    def between(cls, before: Promise, after: Promise) -> Freed:
        """What is free because the same work was promised an earlier time, or other hosts."""
        freed = cls.of(before)
        same = isinstance(after, Claim) or after.hosts.bits == freed.bits
        return cls(max(freed.start, after.end), freed.end, freed.bits, freed.count) if same else freed


class Deltas:
    """By how much a number changes at which instant; instants ascend."""

    __slots__ = ("by", "times")

    def __init__(self) -> None:
        #: Instants with a change, ascending.
        self.times: list[float] = []
        #: Instant -> by how much, never 0; exactly the instants of `times`.
        self.by: dict[float, int] = {}

    def add(self, time: float, number: int) -> None:
        """At this instant it changes by that much more."""
        if time not in self.by:
            self.by[time] = number
            insort(self.times, time)
        elif self.by[time] + number:
            self.by[time] += number
        else:
            self.take(time)

    def take(self, time: float) -> int:
        """Forget the instant, which is here; by how much the number changes at it."""
        del self.times[bisect_left(self.times, time)]
        return self.by.pop(time)


class Availability:
    """The free hosts as a step function of time, kept as changes and never rebuilt.

    What is free at `now` is fact; what comes later is prediction: work ends at its walltime, reservations begin and
    end. Work that is past its predicted end still holds its hosts; they are expected the instant after `now`. Hosts
    in `down` (asleep, switching, failed) are never free, unless somebody expects them back.

    A change costs a binary search and an insertion; a question walks the changes until it is answered.
    """

    __slots__ = (
        *("_claimed", "_claims", "_down", "_ends", "_predicted", "_returns", "_slices", "_starts", "_stops"),
        *("_late", "_tangled", "freed"),
        *("busy", "hosts", "now", "reserved"),
    )

    def __init__(self, now: float, hosts: int, down: int = 0) -> None:
        """All of the bits `hosts` are without work at `now`."""
        self.now = now
        #: Bits of all hosts.
        self.hosts = hosts
        self._down = down
        #: Bits of hosts that work holds at `now`.
        self.busy = 0
        #: Bits of hosts whose reservation has begun and not ended at `now`.
        self.reserved = 0
        #: Predicted ends of the work that holds `busy`; those up to `now` are overdue.
        self._ends = Changes()
        #: Bits of busy hosts whose predicted end is not the one that was told when the work began.
        self._predicted = 0
        #: When hosts that are down are expected back; those up to `now` are overdue.
        self._returns = Changes()
        #: Starts of reservations, later than `now`.
        self._starts = Changes()
        #: Ends of reservations, later than `now`.
        self._stops = Changes()
        #: How many hosts are claimed at `now`, whichever; how that will change.
        self._claimed = 0
        self._claims = Deltas()
        #: The same future cut into slices, while there are many reservations; None: make it when it is needed.
        self._slices: Slices | None = None
        #: True if they were made while something was late: true until the next message, or until that is told.
        self._late = False
        #: Bits of hosts that, somewhere in the slices, are taken twice: what happens to them makes the slices anew.
        self._tangled = 0
        #: What work gave back before its time, for whoever compresses promises; None if more than that was freed, or
        #: nobody asked to be told.
        self.freed: list[Freed] | None = None

    @property
    def free(self) -> int:
        """Bits of hosts that are free at `now`."""
        return self.hosts & ~(self.busy | self.reserved | self._down)

    @property
    def down(self) -> int:
        """Bits of hosts that can take no work now, for a reason other than work."""
        return self._down

    @down.setter
    def down(self, hosts: int) -> None:
        if self._returns.times:
            self._returns.forget(self._down & ~hosts)
        self._down = hosts
        self._slices = self.freed = None

    def advance(self, now: float) -> None:
        """Time has come to `now`: reservations begin and end."""
        self.now = now
        starts, stops = self._starts, self._stops
        while starts.times or stops.times:
            time = min(starts.times[:1] + stops.times[:1])
            if time > now:
                break
            self.reserved = self.reserved & ~stops.take(time) | starts.take(time)
        claims = self._claims
        while claims.times and claims.times[0] <= now:
            self._claimed += claims.take(claims.times[0])
        if self._slices is not None:
            if self._late or not (starts.times or stops.times or claims.times):
                self._slices = None
            else:
                self._slices.advance(now)

    def occupy(self, hosts: int, until: float) -> None:
        """Work takes these hosts from now, presumably until then (infinite: no one knows)."""
        self.busy |= hosts
        if until < math.inf:
            self._ends.add(until, hosts)
        if self._slices is not None:
            self._take(self.now, until, hosts, hosts.bit_count())

    def vacate(self, hosts: int, until: float) -> None:
        """The work that was to hold these hosts until then has ended now."""
        self.busy &= ~hosts
        if hosts & self._predicted:
            self._predicted &= ~hosts
            self._ends.forget(hosts)
            self._slices = self.freed = None
        elif until < math.inf:
            self._ends.remove(until, hosts)
        if self.freed is not None:  # what was late was expected the instant after now
            end = max(until, math.nextafter(self.now, math.inf))
            self.freed.append(Freed(self.now, end, hosts, hosts.bit_count()))
        if until <= self.now:
            self._slices = None if self._late else self._slices
        elif self._slices is not None:
            self._give(self.now, until, hosts, hosts.bit_count())

    def predict(self, hosts: HostSet, end: float) -> None:
        """The work that holds these hosts is expected to end then, not as was thought before; infinite: never.

        Walks the running work once. Hosts without work are left out.
        """
        bits = hosts.bits & self.busy
        self._ends.forget(bits)
        self._predicted |= bits
        self._slices = self.freed = None
        if bits and end < math.inf:
            self._ends.add(end, bits)

    def expect(self, hosts: HostSet, time: float) -> None:
        """These hosts, which are down, will be back at `time` (infinite: never, as is thought without this).

        Questions about later count them, and so does a promise. What was expected of a host is forgotten when it is
        back; one that is late is expected the instant after `now`. Hosts that are not down are left out.
        """
        bits = hosts.bits & self._down
        self._returns.forget(bits)
        self._slices = self.freed = None
        if bits and time < math.inf:
            self._returns.add(time, bits)

    def end_told_by(self, time: float) -> bool:
        """True if some work is late, or expected to end exactly then: its end will be told, no call is needed.

        The same goes for hosts that are expected back exactly then, or are late and so expected the instant after now.
        """
        ends, returns = self._ends, self._returns
        if time in ends.bits or time in returns.bits or (ends.times and ends.times[0] <= self.now):
            return True
        return bool(returns.times) and returns.times[0] <= self.now and time <= math.nextafter(self.now, math.inf)

    def reserve(self, promise: Promise) -> None:
        """Keep these hosts, or as many, from everyone else; they must be free then, as the questions promise."""
        if isinstance(promise, Claim):
            self._claim(promise, promise.size)
            return
        bits = promise.hosts.bits
        if promise.start <= self.now:
            self.reserved |= bits
        else:
            self._starts.add(promise.start, bits)
        if promise.end < math.inf:
            self._stops.add(promise.end, bits)
        if self._slices is not None:
            self._take(max(promise.start, self.now), promise.end, bits, bits.bit_count())

    def release(self, promise: Promise) -> None:
        """Take a reservation back; one that has ended by itself is gone already."""
        if self.freed is not None and promise.end > self.now:
            self.freed.append(Freed.of(promise))
        self.redeem(promise)

    def redeem(self, promise: Promise) -> None:
        """As `release`, if the work that it was for begins now: nobody else profits from it."""
        if promise.end <= self.now:
            return
        if isinstance(promise, Claim):
            self._claim(promise, -promise.size)
            return
        bits = promise.hosts.bits
        if promise.start <= self.now:
            self.reserved &= ~bits
        else:
            self._starts.remove(promise.start, bits)
        if promise.end < math.inf:
            self._stops.remove(promise.end, bits)
        if self._slices is not None:
            self._give(max(promise.start, self.now), promise.end, bits, bits.bit_count())

    def _claim(self, claim: Claim, size: int) -> None:
        if claim.start <= self.now:
            self._claimed += size
        else:
            self._claims.add(claim.start, size)
        if claim.end < math.inf:
            self._claims.add(claim.end, -size)
        if self._slices is not None:
            self._give(max(claim.start, self.now), claim.end, 0, -size)

    def _take(self, start: float, end: float, hosts: int, count: int) -> None:
        """In the slices, which are there."""
        if self._slices is not None and not self._slices.take(start, end, hosts, count):
            self._slices = None

    def _give(self, start: float, end: float, hosts: int, count: int) -> None:
        """In the slices, which are there."""
        if hosts & self._tangled:
            self._slices = None
        elif self._slices is not None:
            self._slices.give(start, end, hosts, count)

    @property
    def slices(self) -> Slices:
        """For the parts of planning: the future cut into slices, made if there are none that are true now."""
        ends, returns = self._ends.times, self._returns.times
        late = bool((ends and ends[0] <= self.now) or (returns and returns[0] <= self.now))
        if self._slices is None or late != self._late:
            self._late, self._tangled = late, self._taken_twice()
            self._slices = Slices(self._rooms())
        return self._slices

    def _taken_twice(self) -> int:
        """Bits of hosts that are taken for two reasons at one time, somewhere from now on."""
        busy, promised = self.busy, self.reserved
        twice = busy & promised
        ends, position = self._ends, 0
        for time in self._starts.times:
            while position < len(ends.times) and ends.times[position] <= time:
                busy &= ~ends.bits[ends.times[position]]
                position += 1
            twice |= self._starts.bits[time] & busy
            promised |= self._starts.bits[time]
        return twice | self._down & (self.busy | promised)

    def free_during(self, start: float, end: float) -> HostSet:
        """Hosts free without interruption in [start, end), `start` at or after now."""
        free = self.free if start <= self.now else self._free_at(start)
        return HostSet(free & ~self._starts.between(start, end))

    def slot_at(
        self,
        start: float,
        size: int,
        duration: float,
        among: HostSet | None = None,
        choose: Choose | None = None,
    ) -> Slot | None:
        """The slot of `size` hosts in [start, start + duration), `start` at or after now; None if they are too few.

        `among` are the hosts that may be taken, all if None; `choose` picks them, the lowest if None.
        """
        free = self.free_during(start, start + duration).bits
        hosts = _pick(free if among is None else free & among.bits, size, choose)
        return None if hosts is None else Slot(start, start + duration, hosts)

    def earliest(
        self, size: int, duration: float, among: HostSet | None = None, choose: Choose | None = None
    ) -> Slot | None:
        """The first slot of `size` hosts for `duration` seconds; None if there will never be one.

        `among` and `choose` as for `slot_at`; where `choose` finds nothing, later starts are tried.
        """
        eligible = self.hosts if among is None else among.bits
        if len(self._starts.times) > FEW:
            found = self.slices.earliest(size, duration, self.now, eligible, _on_bits(choose))
            return None if found is None else Slot(found[0], found[0] + duration, HostSet(found[1]))
        for time, free in self._steps():
            if (free & eligible).bit_count() < size:
                continue
            hosts = _pick(free & eligible & ~self._starts.between(time, time + duration), size, choose)
            if hosts is not None:
                return Slot(time, time + duration, hosts)
        return None

    def earliest_count(self, size: int, duration: float) -> Claim | None:
        """The first time at which `size` hosts, whichever, are free for `duration` seconds; None if never.

        Free are those that are neither reserved nor claimed.
        """
        start = self.slices.earliest_count(size, duration, self.now)
        return None if start is None else Claim(start, start + duration, size)

    def improve(self, promise: Promise, duration: float, begin: float, choose: Choose | None = None) -> Promise:
        """Make a reservation that is still to come anew, at its earliest start; the reservation as it is now.

        It is never later than before. `duration` is its own, and no start before `begin` is looked at. What it leaves
        is for the caller to tell others: it is not in `freed`.
        """
        slices, start, end = self.slices, promise.start, promise.end
        if isinstance(promise, Claim):
            size = promise.size
            found = slices.again_count((start, end, size), duration, begin)
            if found == start:
                return promise
            claim = Claim(found, found + duration, size)
            self._claims.add(start, -size)
            if end < math.inf:
                self._claims.add(end, size)
            self._slices = None
            self._claim(claim, size)
            self._slices = slices
            slices.move((start, end, 0, size), (found, claim.end, 0, size))
            return claim
        bits = promise.hosts.bits
        if bits & self._tangled:
            return promise
        found, chosen = slices.again((start, end, bits), duration, begin, self.hosts, _on_bits(choose))
        if found == start and chosen == bits:
            return promise
        slot = Slot(found, found + duration, HostSet(chosen))
        self._slices = None
        self.redeem(promise)
        self.reserve(slot)
        count = bits.bit_count()
        self._slices = slices if slices.move((start, end, bits, count), (found, slot.end, chosen, count)) else None
        return slot

    def count_falls(self) -> list[tuple[float, int]]:
        """(instant, how many hosts, whichever, are free and unclaimed from now until after it).

        From now; the numbers descend, and instants at which nothing falls are left out.
        """
        falls: list[tuple[float, int]] = []
        least = math.inf
        for time, _, room in self._rooms():
            if room < least:
                least = room
                falls.append((time, room))
        return falls

    def host_falls(self) -> list[tuple[float, HostSet]]:
        """(instant, the hosts that are free from now until after it), as `count_falls`."""
        free = self.free
        falls = [(self.now, HostSet(free))]
        for time in self._starts.times:
            left = free & ~self._starts.bits[time]
            if left != free:
                falls.append((time, HostSet(left)))
                free = left
        return falls

    def shadow(self, size: int) -> Shadow | None:
        """When `size` hosts, whichever, will be free, and how many more; None if never.

        EASY's "shadow time" and "extra nodes" (Lifka 1995; Mu'alem and Feitelson 2001): a promise on a count of hosts.
        """
        free = self.free
        spare = free.bit_count() - size
        if spare >= 0:
            return Shadow(self.now, spare)
        if not self._only_ends:
            return next(
                (
                    Shadow(time, bits.bit_count() - size)
                    for time, bits in self._later_steps()
                    if bits.bit_count() >= size
                ),
                None,
            )
        ends, up = self._ends, ~self._down
        for time in ends.times:
            free |= ends.bits[time] & up
            spare = free.bit_count() - size
            if spare >= 0:
                return Shadow(time, spare)
        return None

    @property
    def _only_ends(self) -> bool:
        """Nothing is late, and all that is expected is that work ends."""
        times = self._ends.times
        others = self._stops.times or self._starts.times or self._returns.times
        return not (others or (times and times[0] <= self.now))

    def steps(self) -> Iterator[tuple[float, HostSet]]:
        """(instant, hosts free from then on), from now, instants ascending."""
        return ((time, HostSet(free)) for time, free in self._steps())

    def _steps(self) -> Iterator[tuple[float, int]]:
        yield self.now, self.free
        if not self._only_ends:
            yield from self._later_steps()
            return
        free = self.free
        for time in self._ends.times:  # nothing is reserved: hosts only become free
            free |= self._ends.bits[time]
            yield time, free & ~self._down

    def _rooms(self) -> Iterator[tuple[float, int, int]]:
        """(instant, bits of free hosts, how many are free and unclaimed from then on), from now, instants ascending."""
        claims = self._claims
        free, claimed, position = 0, self._claimed, 0
        for time, bits in self._steps():
            while position < len(claims.times) and claims.times[position] < time:
                claimed += claims.by[claims.times[position]]
                yield claims.times[position], free, free.bit_count() - claimed
                position += 1
            if position < len(claims.times) and claims.times[position] == time:
                claimed += claims.by[time]
                position += 1
            free = bits
            yield time, free, free.bit_count() - claimed
        for time in claims.times[position:]:
            claimed += claims.by[time]
            yield time, free, free.bit_count() - claimed

    def _later_steps(self) -> Iterator[tuple[float, int]]:
        """As `_steps`, after now, whatever there is."""
        busy, reserved, down = self.busy, self.reserved, self._down
        ends, returns, starts, stops = self._ends.bits, self._returns.bits, self._starts.bits, self._stops.bits
        times = {*ends, *returns, *starts, *stops}
        overdue = [time for time in times if time <= self.now]
        for time in overdue:
            busy &= ~ends.get(time, 0)
            down &= ~returns.get(time, 0)
        if overdue:
            times.difference_update(overdue)
            times.add(math.nextafter(self.now, math.inf))
        for time in sorted(times):
            busy &= ~ends.get(time, 0)
            down &= ~returns.get(time, 0)
            reserved = reserved & ~stops.get(time, 0) | starts.get(time, 0)
            yield time, self.hosts & ~(busy | reserved | down)

    def _free_at(self, start: float) -> int:
        free = self.free
        for time, bits in self._steps():
            if time > start:
                break
            free = bits
        return free


def _pick(free: int, size: int, choose: Choose | None) -> HostSet | None:
    if choose is None:
        bits = lowest(free, size)
        return None if bits is None else HostSet(bits)
    return choose(HostSet(free), size) if free.bit_count() >= size else None


def _on_bits(choose: Choose | None) -> Callable[[int, int], int | None] | None:
    if choose is None:
        return None

    def pick(free: int, size: int) -> int | None:
        hosts = choose(HostSet(free), size)
        return None if hosts is None else hosts.bits

    return pick

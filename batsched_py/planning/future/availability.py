"""Which hosts will be free when: the one truth about the future."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from batsched_py.bits import SMALL, size_of, sized, without
from batsched_py.hostset import HostSet
from batsched_py.planning.future.changes import Changes, Deltas, overlap
from batsched_py.planning.future.copies import Copies
from batsched_py.planning.future.host_slices import HostSlices
from batsched_py.planning.future.promises import Choose, Claim, Promise, Shadow, Slot, on_bits, pick_hosts
from batsched_py.planning.future.slices import CountSlices

#: Starts of reservations up to which questions walk the changes; beyond that it pays to keep the slices.
FEW: Final = 2


class Availability:
    """The free hosts as a step function of time, kept as changes and never rebuilt.

    What is free at `now` is fact; what comes later is prediction: work ends at its walltime, reservations begin and
    end. Work that is past its predicted end still holds its hosts; they are expected the instant after `now`. Hosts
    in `down` (asleep, switching, failed) are never free, unless somebody expects them back.

    A change costs a binary search and an insertion; a question walks the changes until it is answered.
    """

    __slots__ = (
        *("_claims", "_copies", "_down", "_ends", "_free", "_large", "_predicted", "_returns", "_shared", "_starts"),
        "_stops",
        *("busy", "hosts", "now", "reserved", "steady"),
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
        self._ends = Changes(hosts)
        #: Bits of busy hosts whose predicted end is not the one that was told when the work began.
        self._predicted = 0
        #: When hosts that are down are expected back; those up to `now` are overdue.
        self._returns = Changes()
        #: Starts of reservations, later than `now`.
        self._starts = Changes()
        #: Ends of reservations, later than `now`.
        self._stops = Changes()
        #: How many hosts are claimed, whichever.
        self._claims = Deltas()
        #: The same future cut into slices, while there are many reservations; None: made when it is needed.
        self._copies: Copies | None = None
        #: Bits of hosts that are free; None if they must be found anew.
        self._free: int | None = None
        #: Sets are so large that counting them takes time.
        self._large = hosts.bit_length() > SMALL
        #: True once work has been on hosts that had work.
        self._shared = False
        #: True if, since somebody set it, nothing has happened but that work began and ended and promises were made
        #: and given back: what is reserved can still be had.
        self.steady = False

    @property
    def free(self) -> int:
        """Bits of hosts that are free at `now`."""
        if self._free is None:
            self._free = without(self.hosts, self.busy | self.reserved | self._down)
        return self._free

    @property
    def room(self) -> int:
        """How many hosts are free at `now`."""
        return size_of(self.free)

    @property
    def down(self) -> int:
        """Bits of hosts that can take no work now, for a reason other than work."""
        return self._down

    @down.setter
    def down(self, hosts: int) -> None:
        if self._returns.times:
            self._returns.forget(self._down & ~hosts)
        self._down, self._free = hosts, None
        self._copies, self.steady = None, False

    def advance(self, now: float) -> None:
        """Time has come to `now`: reservations begin and end."""
        self.now = now
        starts, stops = self._starts, self._stops
        while starts.times or stops.times:
            time = min(starts.times[:1] + stops.times[:1])
            if time > now:
                break
            self.reserved = self.reserved & ~stops.take(time) | starts.take(time)
            self._free = None
        if self._copies is not None:
            if self._copies.late or not (starts.times or stops.times or self._claims):
                self._copies = None
            else:
                self._copies.advance(now)

    def occupy(self, hosts: int, until: float) -> None:
        """Work takes these hosts from now, presumably until then (infinite: no one knows)."""
        if self._copies is not None:
            self._copies.take(self.now, until, hosts, plain=self._is_plain(hosts) and not hosts & self.busy)
        if hosts & self.busy:
            self._shared = True
        self.busy |= hosts
        free = self._free
        if free is not None:
            taken = free & hosts
            self._free = left = free ^ taken
            if self._large and taken == hosts:
                sized(left, size_of(free) - size_of(hosts))
        if until < math.inf:
            self._ends.add(until, hosts)

    def vacate(self, hosts: int, until: float) -> None:
        """The work that was to hold these hosts until then has ended now."""
        self.busy ^= self.busy & hosts if self._shared else hosts
        free = self._free
        if free is not None:
            if not self._large or self.reserved or self._down or self._shared:
                self._free = None
            else:
                self._free = free | hosts
                sized(self._free, size_of(free) + size_of(hosts))
        if hosts & self._predicted:
            self._predicted &= ~hosts
            self._ends.forget(hosts)
            self._copies, self.steady = None, False
        elif until < math.inf:
            self._ends.remove(until, hosts)
        if self._copies is not None:
            if until > self.now:
                self._copies.give(self.now, until, hosts, plain=self._is_plain(hosts))
            elif self._copies.late:
                self._copies = None

    def _is_plain(self, hosts: int) -> bool:
        """Nothing but work takes these hosts."""
        return not (self._starts.times or self._stops.times or self.reserved or hosts & self._down)

    def predict(self, hosts: HostSet, end: float) -> None:
        """The work that holds these hosts is expected to end then, not as was thought before; infinite: never.

        Walks the running work once. Hosts without work are left out.
        """
        bits = hosts.bits & self.busy
        self._ends.forget(bits)
        self._predicted |= bits
        self._copies, self.steady = None, False
        if bits and end < math.inf:
            self._ends.add(end, bits)

    def expect(self, hosts: HostSet, time: float) -> None:
        """These hosts, which are down, will be back at `time` (infinite: never, as is thought without this).

        Questions about later count them, and so does a promise. What was expected of a host is forgotten when it is
        back; one that is late is expected the instant after `now`. Hosts that are not down are left out.
        """
        bits = hosts.bits & self._down
        self._returns.forget(bits)
        self._copies, self.steady = None, False
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
        self._keep(promise)
        if self._copies is not None:
            self._copies.take(max(promise.start, self.now), promise.end, promise.hosts.bits, plain=False)

    def release(self, promise: Promise) -> None:
        """Take a reservation back; one that has ended by itself is gone already."""
        if promise.end <= self.now:
            return
        if isinstance(promise, Claim):
            self._claim(promise, -promise.size)
            return
        self._keep_no_more(promise)
        if self._copies is not None:
            self._copies.give(max(promise.start, self.now), promise.end, promise.hosts.bits, plain=False)

    def _keep(self, slot: Slot) -> None:
        if slot.start <= self.now:
            self.reserved, self._free = self.reserved | slot.hosts.bits, None
        else:
            self._starts.add(slot.start, slot.hosts.bits)
        if slot.end < math.inf:
            self._stops.add(slot.end, slot.hosts.bits)

    def _keep_no_more(self, slot: Slot) -> None:
        if slot.start <= self.now:
            self.reserved, self._free = self.reserved & ~slot.hosts.bits, None
        else:
            self._starts.remove(slot.start, slot.hosts.bits)
        if slot.end < math.inf:
            self._stops.remove(slot.end, slot.hosts.bits)

    def _claim(self, claim: Claim, count: int) -> None:
        self._claims.add(claim.start, count)
        self._claims.add(claim.end, -count)
        if self._copies is not None:
            self._copies.claim(max(claim.start, self.now), claim.end, count)

    def move_claim(self, before: Claim, after: Claim) -> None:
        """What is claimed, and still to come, is claimed then instead, not later; as many hosts."""
        claims, size = self._claims, before.size
        claims.add(before.start, -size)
        claims.add(before.end, size)
        claims.add(after.start, size)
        claims.add(after.end, -size)
        if self._copies is not None and self._copies.by_number is not None:
            self._copies.by_number.move(size, (before.start, before.end), (after.start, after.end))

    def move_slot(self, before: Slot, after: Slot) -> None:
        """What is reserved, and still to come, is reserved then instead, not later; as many hosts."""
        self._keep_no_more(before)
        self._keep(after)
        if self._copies is not None:
            was, now = (before.start, before.end, before.hosts.bits), (after.start, after.end, after.hosts.bits)
            self._copies.move(was, now)

    def _true_copies(self) -> Copies:
        ends, returns = self._ends.times, self._returns.times
        late = bool((ends and ends[0] <= self.now) or (returns and returns[0] <= self.now))
        if self._copies is None or late != self._copies.late:
            self._copies = Copies(late=late, tangled=self._tangled())
        return self._copies

    def _tangled(self) -> int:
        """Bits of hosts that are taken for two reasons at one time, somewhere from now on."""
        twice = overlap(self.busy, self._ends, self.reserved, self._starts)
        return twice | self._down & (self.busy | self.reserved | self._starts.all())

    @property
    def by_host(self) -> HostSlices:
        """For the parts of planning: which hosts are free, cut into slices."""
        copies = self._true_copies()
        if copies.by_host is None:
            copies.tangled = self._tangled()
            copies.by_host = HostSlices(self._steps())
        return copies.by_host

    @property
    def by_number(self) -> CountSlices:
        """For the parts of planning: how many hosts are free and unclaimed, cut into slices."""
        copies = self._true_copies()
        if copies.by_number is None:
            copies.tangled = self._tangled()
            copies.by_number = CountSlices(self._rooms())
        return copies.by_number

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
        hosts = pick_hosts(free if among is None else free & among.bits, size, choose)
        return None if hosts is None else Slot(start, start + duration, hosts)

    def earliest(
        self, size: int, duration: float, among: HostSet | None = None, choose: Choose | None = None
    ) -> Slot | None:
        """The first slot of `size` hosts for `duration` seconds; None if there will never be one.

        `among` and `choose` as for `slot_at`; where `choose` finds nothing, later starts are tried.
        """
        eligible = self.hosts if among is None else among.bits
        if len(self._starts.times) > FEW:
            found = self.by_host.earliest(size, duration, eligible, on_bits(choose))
            return None if found is None else Slot(found[0], found[0] + duration, HostSet(found[1]))
        for time, free in self._steps():
            if (free & eligible).bit_count() < size:
                continue
            hosts = pick_hosts(free & eligible & ~self._starts.between(time, time + duration), size, choose)
            if hosts is not None:
                return Slot(time, time + duration, hosts)
        return None

    def earliest_count(self, size: int, duration: float) -> Claim | None:
        """The first time at which `size` hosts, whichever, are free for `duration` seconds; None if never.

        Free are those that are neither reserved nor claimed.
        """
        start = self.by_number.earliest(size, duration)
        return None if start is None else Claim(start, start + duration, size)

    def count_falls(self) -> list[tuple[float, int]]:
        """(instant, how many hosts, whichever, are free and unclaimed from now until after it).

        From now; the numbers descend, and instants at which nothing falls are left out.
        """
        falls: list[tuple[float, int]] = []
        least = math.inf
        for time, room in self._rooms():
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
        spare = size_of(free) - size
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
        ends = self._ends
        if not (self._down or self._shared or self.reserved):  # hosts of one end are none of another's: count
            sizes = ends.sizes
            for time in ends.times:
                spare += sizes[time]
                if spare >= 0:
                    return Shadow(time, spare)
            return None
        up = ~self._down
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

    def _rooms(self) -> Iterator[tuple[float, int]]:
        """(instant, how many hosts are free and unclaimed from then on), from now, instants ascending."""
        return self._claims.left_of(((time, free.bit_count()) for time, free in self._steps()), self.now)

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

"""The calendar of known future changes: ends of work, returns of failed hosts, bookings of hosts, claims.

Changes are kept by their instants, and a query walks these instants. All other data about the future is derived from it
and can be dropped at any time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Final

from batsched_py.bits import counter
from batsched_py.planning.future.float_bisect import bisect_left, bisect_right
from batsched_py.planning.future.promises import Claim

# The four tables of changes are separate because the same host may appear in several of them: work ends, a booking
# begins, a failed host returns. A host is free when it is neither busy, booked nor down, which `steps` computes from
# the three sets of now by walking all instants in order.
#
# Between two calls `times` ascends and has exactly the keys of `bits` and `sizes`, and no entry is empty. Bookings are
# later than `now`: the availability takes those that are due (`Changes.take`). Ends and returns may be overdue, since
# only Batsim can say that they happened; all of them are expected together, at the next floating-point number after
# `now`.
#
# A table rebuilt from the running jobs at each message would cost O(running jobs) even if nothing is asked (ADR 4).
# Here a change costs a binary search and an insertion, O(log n) and a short move of memory. A question costs O(instants
# up to its answer). `sizes` repeats what `bits` says because EASY adds numbers at each completion, and counting the
# ones of a large set takes microseconds. Claims are found by identity: two jobs of one size may be promised the same
# time, and equal claims must not be one entry. Four sums by instant, as kept before ADR 38, were changed at each move;
# the sums are now computed when a slot table is made.
#
# `taken_twice` finds the hosts for which a slot table would be wrong: one host that both work and a booking hold, say a
# reservation over jobs that are to be stopped for it. Releasing one of the two would mark it as free.


class Changes:
    """Host bits by the instant at which they change; instants ascend."""

    __slots__ = ("_size_of", "bits", "sizes", "times")

    def __init__(self, all_hosts: int = 0) -> None:
        """Begin empty; `all_hosts` are the bits of all hosts, by which the faster way of counting is chosen."""
        self._size_of = counter(all_hosts)
        #: Instants with at least one host, ascending.
        self.times: list[float] = []
        #: Instant -> bits; exactly the instants of `times`.
        self.bits: dict[float, int] = {}
        #: Instant -> number of hosts, as `bits`.
        self.sizes: dict[float, int] = {}

    def add(self, time: float, hosts: int) -> None:
        """Add a change of these hosts at this instant."""
        if time in self.bits:
            self.bits[time] |= hosts
        else:
            self.bits[time] = hosts
            self.times.insert(bisect_right(self.times, time, 0, len(self.times)), time)
        self.sizes[time] = self._size_of(self.bits[time])

    def remove(self, time: float, hosts: int) -> None:
        """Remove the change of these hosts at this instant."""
        left = self.bits.get(time, 0)
        left = 0 if left == hosts else left ^ (left & hosts)
        if left:
            self.bits[time] = left
            self.sizes[time] = self._size_of(left)
        elif time in self.bits:
            del self.bits[time], self.sizes[time]
            del self.times[bisect_left(self.times, time, 0, len(self.times))]

    def forget(self, hosts: int) -> None:
        """Remove all changes of these hosts; walks all instants."""
        for time in [time for time in self.times if self.bits[time] & hosts]:
            self.remove(time, hosts)

    def take(self, time: float) -> int:
        """Remove an instant; return the bits that change at it, 0 if there is no change."""
        hosts = self.bits.get(time, 0)
        self.remove(time, hosts)
        return hosts

    def between(self, start: float, end: float) -> int:
        """Return the bits that change in the open interval (start, end)."""
        count = len(self.times)
        times = self.times[bisect_right(self.times, start, 0, count) : bisect_left(self.times, end, 0, count)]
        return reduce(or_, map(self.bits.__getitem__, times), 0) if times else 0

    def all(self) -> int:
        """Return the bits that change at any time."""
        return reduce(or_, self.bits.values(), 0)


class Claims:
    """Claims on numbers of arbitrary hosts. They are identified as objects, because two of them may be equal."""

    __slots__ = ("_claims",)

    def __init__(self) -> None:
        #: Identity -> claim; claims that are over may still be included.
        self._claims: dict[int, Claim] = {}

    def __bool__(self) -> bool:
        return bool(self._claims)

    def add(self, claim: Claim) -> None:
        """Add a new claim."""
        self._claims[id(claim)] = claim

    def remove(self, claim: Claim) -> None:
        """Remove a claim that is not over."""
        del self._claims[id(claim)]

    def left_of(self, steps: Iterable[tuple[float, int]], now: float) -> Iterator[tuple[float, int]]:
        """Subtract the claims from a number over time: yield (instant, difference from then on), from now, ascending.

        `steps` are (instant, number) from then on, the first is `now`.
        """
        taken, changes = self._after(now)
        number, position = 0, 0
        for time, following in steps:
            while position < len(changes) and changes[position][0] < time:
                taken += changes[position][1]
                yield changes[position][0], number - taken
                position += 1
            if position < len(changes) and changes[position][0] == time:
                taken += changes[position][1]
                position += 1
            number = following
            yield time, number - taken
        for time, change in changes[position:]:
            taken += change
            yield time, number - taken

    def _after(self, now: float) -> tuple[int, list[tuple[float, int]]]:
        """Return the number claimed at `now`, and (instant, change of the number) after it, instants ascending.

        Removes the claims that are over.
        """
        taken = 0
        changes: dict[float, int] = {}
        for claim in [claim for claim in self._claims.values() if claim.end <= now]:
            self.remove(claim)
        for claim in self._claims.values():
            if claim.start <= now:
                taken += claim.size
            else:
                changes[claim.start] = changes.get(claim.start, 0) + claim.size
            changes[claim.end] = changes.get(claim.end, 0) - claim.size
        return taken, sorted((time, change) for time, change in changes.items() if change)


class Calendar:
    """The expected changes, by instant. It does not have the current state, which is an argument of its queries."""

    __slots__ = ("claims", "ends", "returns", "starts", "stops")

    def __init__(self, hosts: int) -> None:
        """Begin empty; `hosts` are the bits of all hosts."""
        #: Predicted ends of work; ends up to now are overdue.
        self.ends: Final = Changes(hosts)
        #: Expected returns of hosts that are down; returns up to now are overdue.
        self.returns: Final = Changes()
        #: Starts of bookings of hosts, later than now.
        self.starts: Final = Changes()
        #: Ends of bookings of hosts, later than now.
        self.stops: Final = Changes()
        #: The claims on numbers of hosts.
        self.claims: Final = Claims()

    def only_ends(self, now: float) -> bool:
        """Return whether nothing is late, and ends of work are the only expected changes."""
        times = self.ends.times
        return not (self.stops.times or self.starts.times or self.returns.times or (times and times[0] <= now))

    def late(self, now: float) -> bool:
        """Return whether some work should have ended or some host should have returned by now."""
        ends, returns = self.ends.times, self.returns.times
        return bool((ends and ends[0] <= now) or (returns and returns[0] <= now))

    def announces(self, time: float, now: float) -> bool:
        """Return whether some work is late, or an end of work or a return of hosts is expected exactly at `time`."""
        ends, returns = self.ends, self.returns
        if time in ends.bits or time in returns.bits or (ends.times and ends.times[0] <= now):
            return True
        return bool(returns.times) and returns.times[0] <= now and time <= math.nextafter(now, math.inf)

    def steps(self, now: float, hosts: int, busy: int, kept: int, down: int) -> Iterator[tuple[float, int]]:
        """Yield (instant, bits of the hosts that are free from then on), after now, instants ascending.

        Of all `hosts`, some are `busy`, `kept` by a booking or `down` now. Overdue changes are expected the instant
        after `now`.
        """
        ends, returns, starts, stops = self.ends.bits, self.returns.bits, self.starts.bits, self.stops.bits
        times = {*ends, *returns, *starts, *stops}
        overdue = [time for time in times if time <= now]
        for time in overdue:
            busy &= ~ends.get(time, 0)
            down &= ~returns.get(time, 0)
        if overdue:
            times.difference_update(overdue)
            times.add(math.nextafter(now, math.inf))
        for time in sorted(times):
            busy &= ~ends.get(time, 0)
            down &= ~returns.get(time, 0)
            kept = kept & ~stops.get(time, 0) | starts.get(time, 0)
            yield time, hosts & ~(busy | kept | down)

    def taken_twice(self, busy: int, kept: int, down: int) -> int:
        """Return the bits of hosts that are taken for two reasons at the same time, at any time from now on."""
        twice, taken, position = busy & kept, busy, 0
        ends, starts = self.ends, self.starts
        for time in starts.times:
            while position < len(ends.times) and ends.times[position] <= time:
                taken &= ~ends.bits[ends.times[position]]
                position += 1
            twice |= starts.bits[time] & taken
        return twice | down & (busy | kept | starts.all())

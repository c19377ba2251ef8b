"""The slot table: the future divided into time slots, by hosts and by counts, to search many promises fast.

It is a cache. `Availability` builds it at the first query that needs it, updates it with reservations and plain work,
and drops it at any other change. The calendar has the original data.

The free amount of a slot is a number of hosts (`CountSlots`) or a set of hosts (`HostSlots`). Another kind of amount,
such as shares of hosts, needs another class.
"""

from __future__ import annotations

from batsched_py.planning.future.count_slots import CountSlots
from batsched_py.planning.future.host_slots import HostSlots
from batsched_py.planning.future.promises import Claim, Slot

# Between two calls both kinds of slots agree with the calendar from `now` on, or are None. Each change is either
# *plain* and written through, or drops what it may have made wrong. Counts are dropped at each change that is not
# plain, because a number does not show how many of the hosts were free in fact; sets show it (`HostSlots.take`).
# Dropping is always correct, so each doubtful case ends in None.
#
# Two cases need a field each. Work that is late is expected the instant after every `now`, so the table would have to
# move an end with each message; a table made while something is late is used for one message only. Hosts that are held
# for two reasons (`tangled`) would become free when the first of them ends.
#
# ADR 26 has what was tried: dropping the table at each end of work is simpler by a hundred lines and 18 to 24 % slower,
# because making it anew costs as much as compressing all promises.


class SlotTable:
    """The slots by host and by count; each is None until it is needed, and when it is outdated.

    Two kinds of changes are not applied: those of late work (`late`), whose hosts are expected the instant after each
    `now`; and releases of hosts that are taken for two reasons at the same time (`tangled`).
    """

    __slots__ = ("by_count", "by_host", "late", "tangled")

    def __init__(self, *, late: bool) -> None:
        self.by_host: HostSlots | None = None
        self.by_count: CountSlots | None = None
        #: True if the table was built while something was late: it is valid until the next message, or until the late
        #: end arrives.
        self.late = late
        #: Bits of hosts that, somewhere in the slots, are taken twice.
        self.tangled = 0

    def advance(self, now: float) -> None:
        """Drop the slots that are over at `now`."""
        if self.by_host is not None:
            self.by_host.advance(now)
        if self.by_count is not None:
            self.by_count.advance(now)

    def take(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """Take these hosts in [start, end); `plain` if all of them were free during all of it."""
        if self.by_host is not None and not self.by_host.take(start, end, hosts):
            self.by_host = None
        self._give_counts(start, end, -hosts.bit_count(), plain=plain)

    def give(self, start: float, end: float, hosts: int, *, plain: bool) -> None:
        """Free these hosts in [start, end); `plain` if nothing else takes any of them then."""
        if hosts & self.tangled:
            self.by_host = self.by_count = None
        if self.by_host is not None:
            self.by_host.give(start, end, hosts)
        self._give_counts(start, end, hosts.bit_count(), plain=plain)

    def book(self, promise: Slot | Claim, now: float, *, reserved: bool) -> None:
        """Take the hosts of a promise, or free them, from `now` on."""
        start = max(promise.start, now)
        if not isinstance(promise, Claim):
            (self.take if reserved else self.give)(start, promise.end, promise.hosts.bits, plain=False)
        elif self.by_count is not None:
            self.by_count.give(start, promise.end, -promise.size if reserved else promise.size)

    def move(self, before: Slot, after: Slot) -> bool:
        """Move a reservation from `before` to `after`, which does not begin later.

        Return False if the slots by host are outdated.
        """
        self.by_count = None
        if before.hosts.bits & self.tangled or (self.by_host is not None and not self.by_host.move(before, after)):
            self.by_host = None
        return self.by_host is not None

    def _give_counts(self, start: float, end: float, count: int, *, plain: bool) -> None:
        if not plain:
            self.by_count = None
        elif self.by_count is not None:
            self.by_count.give(start, end, count)

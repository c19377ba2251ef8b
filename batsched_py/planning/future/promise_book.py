"""The promise book: promises of waiting jobs in the order of service, and the gaps between them.

A promise is here and, if it reserves hosts, in the availability; nowhere else. Each kind of promise has its own book:

* `CountBook`: a number of hosts during an interval (`Claim`), the textbook's promise (in `reserving_books`);
* `HostBook`: specific hosts during an interval (`Slot`; there, too);
* `RoomBook`: parts of hosts during an interval (`RoomSlot`; in `room_book`);
* `ShadowBook`: one number of hosts from an instant on (`Shadow`), EASY's. Because there is only one, nothing is
  reserved and nothing compressed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from batsched_py.bits import LARGE, size_of, sized
from batsched_py.hostset import HostSet, pick_hosts
from batsched_py.model.job import Job
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Choose, Claim, Shadow, Slot, Specific

# Between two calls `_gaps` is None or true. An entry without a promise keeps its place in the order: its job may be
# promised a start when hosts return.
#
# An entry repeats the size of its job and the start of its promise, because a compression reads both of each candidate
# several times and an attribute of a record costs compiled code ten times what it costs the interpreter (ADR 39).
# `renew` is therefore the only way to change a promise.
#
# `since`, `until` and `near` are a small summary of all that was freed since the entry was last searched. A list of
# intervals would be exact, but would grow with each change in a long queue; two ranges only make a search look at some
# slots too many. Values that mean "no search" are those at which each comparison fails by itself: infinity for the
# lower bounds, minus infinity for the upper one.

#: (number of hosts, instant): these are free from now until then; instants ascend, numbers descend.
Limits: TypeAlias = list[tuple[int, float]]


class Gaps(ABC):
    """The hosts that are free now, and the times until which promises leave them free.

    Starts take hosts; none are returned.

    The number decreases only at starts of promises, so there are few steps, and a query walks those before its end.
    """

    __slots__ = ("free", "left")

    #: Bits of the hosts that are free now, and their number.
    free: int
    left: int

    @abstractmethod
    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """Return hosts of `among` (None for all) that are free now and, by the promises, until `end`.

        `choose` selects them (None for the lowest). None if there are too few, or `choose` finds none.
        """

    @abstractmethod
    def take(self, hosts: HostSet, end: float) -> None:
        """Record a start on these hosts, which `find` returned, until `end`."""

    @abstractmethod
    def limits(self, among: int | None = None) -> Limits:
        """Return the limits on jobs that may start on these hosts (None for all): numbers of hosts and their ends."""


class CountGaps(Gaps):
    """Gaps between promises of numbers of hosts: a job fits on any hosts if it ends in time or leaves enough others."""

    __slots__ = ("_falls",)

    def __init__(self, free: int, falls: list[tuple[float, int]]) -> None:
        """Take ownership of the `falls`, which begin now or later."""
        self.free, self.left = free, size_of(free)
        #: (instant, minimum number of hosts without promises from then on); instants ascend.
        self._falls = falls

    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """Find as in Gaps; walks the steps before `end`."""
        for time, room in self._falls:
            if time >= end:
                break
            if room < size:
                return None
        return pick_hosts(self.free, size, choose, among)

    def take(self, hosts: HostSet, end: float) -> None:
        """Take the hosts, and as many of the later ones."""
        size = size_of(hosts.bits)
        self.left -= size
        self.free ^= hosts.bits
        if self.free >= LARGE:
            sized(self.free, self.left)
        for position, (time, room) in enumerate(self._falls):
            if time >= end:
                break
            self._falls[position] = time, room - size

    def limits(self, among: int | None = None) -> Limits:
        """Return a limit for each instant at which fewer hosts are left."""
        limits: Limits = []
        least = self.left if among is None else (self.free & among).bit_count()
        for time, room in self._falls:
            if room < least:
                limits.append((least, time))
                least = room
        limits.append((least, math.inf))
        return limits


class HostGaps(Gaps):
    """Gaps between promises of specific hosts: only a job that ends in time may use them."""

    __slots__ = ("_falls",)

    def __init__(self, free: int, falls: list[tuple[float, HostSet]]) -> None:
        """Keep the `falls`, which begin now."""
        self.free, self.left = free, size_of(free)
        #: (instant, hosts that remain free until after it); instants ascend.
        self._falls = falls

    def find(self, size: int, end: float, choose: Choose | None = None, among: HostSet | None = None) -> HostSet | None:
        """Find as in Gaps; walks the steps before `end`."""
        free = self.free
        for time, hosts in self._falls:
            if time >= end:
                break
            free = hosts.bits
        return pick_hosts(free & self.free, size, choose, among)

    def take(self, hosts: HostSet, end: float) -> None:  # noqa: ARG002  (what is not free now is not free until later)
        """Take the hosts."""
        self.free ^= hosts.bits
        self.left -= size_of(hosts.bits)

    def limits(self, among: int | None = None) -> Limits:
        """Return a limit for each instant at which other hosts are left."""
        limits: Limits = []
        before = self.free
        free = before if among is None else before & among
        for time, hosts in self._falls:
            if hosts.bits != before:
                limits.append(((before & free).bit_count(), time))
            before = hosts.bits
        limits.append(((before & free).bit_count(), math.inf))
        return limits


Kind = TypeVar("Kind", Slot, Claim, Shadow, Specific)


class Entry(Generic[Kind]):
    """A waiting job and its promise; None if no start can be predicted. Lower numbers are served first.

    Its size and its promised start (infinity without one) are duplicated here because they are read often. An earlier
    start is to be searched if `near` is finite: in windows that begin at `since` or later and before `until`, and in
    those that begin at `near` or later.
    """

    __slots__ = ("duration", "job", "near", "number", "promise", "since", "size", "start", "until")

    def __init__(self, job: Job, promise: Kind | None, duration: float = math.inf, number: int = 0) -> None:
        self.job = job
        self.size = job.size
        self.promise: Kind | None = promise
        self.start = math.inf if promise is None else promise.start
        self.duration = duration
        self.number = number
        self.since = self.near = math.inf
        self.until = -math.inf

    def renew(self, promise: Kind) -> None:
        """Replace the promise by a better one."""
        self.promise = promise
        self.start = promise.start

    def search_between(self, since: float, until: float) -> None:
        """Extend the search to windows that begin in [since, until)."""
        self.since = min(self.since, since)
        self.until = max(self.until, until)
        self.near = min(self.near, self.start)


class PromiseBook(ABC, Generic[Kind]):
    """Promises of one kind, in the order of service."""

    __slots__ = ("_availability", "_duration", "_gaps", "entries")

    def __init__(self, availability: Callable[[], Availability], duration: Callable[[Job], float]) -> None:
        """Begin without promises.

        Args:
            availability: called when the future is needed.
            duration: returns the expected run time of a job in seconds.
        """
        self._availability, self._duration = availability, duration
        #: Job id -> its entry, in the order of service.
        self.entries: dict[str, Entry[Kind]] = {}
        #: The gaps between the promises; None if they must be recomputed.
        self._gaps: Gaps | None = None

    @abstractmethod
    def earliest(self, job: Job, among: HostSet | None = None, choose: Choose | None = None) -> Kind | None:
        """Return a promise with the first start that breaks no other promise; None if there is none.

        For a promise of specific hosts, these are from `among` (None for all), selected by `choose` (None for the
        lowest).
        """

    @abstractmethod
    def _find_gaps(self) -> Gaps:
        """Compute the hosts that are free now, and until when."""

    def keep(self, job: Job, promise: Kind | None) -> None:
        """Add a promise; the job is served after those that have one."""
        self._gaps = None
        self.entries[job.id] = Entry(job, promise)

    def withdraw(self, entry: Entry[Kind]) -> None:
        """Withdraw a promise, which releases its hosts."""
        self._gaps = None
        del self.entries[entry.job.id]

    def withdraw_all(self) -> None:
        """Withdraw all promises; waiting jobs are served again."""
        self._gaps = None
        self.entries.clear()

    def gaps(self) -> Gaps:
        """Return the hosts that are free now and, by the promises, until when. Starts must be taken from them."""
        if self._gaps is None:
            self._gaps = self._find_gaps()
        return self._gaps

    def forget_gaps(self) -> None:
        """Recompute the gaps when they are needed next: work has begun or ended."""
        self._gaps = None


class ShadowBook(PromiseBook[Shadow]):
    """One promise of a number of hosts without a reservation: backfilled jobs leave it enough hosts.

    It is recomputed instead of compressed, and its start needs no call: it coincides with an end of work.
    """

    __slots__ = ()

    def earliest(self, job: Job, among: HostSet | None = None, choose: Choose | None = None) -> Shadow:  # noqa: ARG002
        """Return the only promise; its start is infinity if there is none."""
        return self._availability().shadow(job.size) or Shadow(math.inf, 0)

    def _find_gaps(self) -> Gaps:
        promises = [entry.promise for entry in self.entries.values() if entry.promise]
        return CountGaps(self._availability().free, [(promise.start, promise.spare) for promise in promises])

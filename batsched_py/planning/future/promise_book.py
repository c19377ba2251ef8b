"""The promise book: promises of waiting jobs in the order of service, and the gaps between them.

A promise is here and, if it reserves hosts, in the availability; nowhere else. Each kind of promise has its own book:

* `CountBook`: a number of hosts during an interval (`Claim`), the textbook's promise;
* `HostBook`: specific hosts during an interval (`Slot`);
* `ShadowBook`: one number of hosts from an instant on (`Shadow`), EASY's. Because there is only one, nothing is
  reserved and nothing compressed.

Promises of shares of hosts will be a fourth kind, with their own slots (see `slot_table`).

When hosts are released, promises are *compressed*: each in turn is released and reserved again at its earliest start,
which is never later. Because most promises do not change, nothing is released to find that start: slots before the
promise's start are searched as they are, and from its start on its own hosts count as free. Promises of numbers of
hosts are searched only if they may start earlier (see `candidates`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Generic, TypeAlias

from batsched_py.bits import LARGE, size_of, sized
from batsched_py.hostset import HostSet, pick_hosts
from batsched_py.model.job import Job
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.candidates import Candidates
from batsched_py.planning.future.entries import Entry, Kind
from batsched_py.planning.future.promises import Choose, Claim, Reserved, Shadow, Slot
from batsched_py.planning.future.ranking import Ranking

# Between two calls each promise of a `ReservingBook` is reserved in the availability exactly as long as its entry is in
# `entries`, `_starts` has the entries with a promise, and `_gaps` is None or true. An entry without a promise keeps its
# place in the order: its job may be promised a start when hosts return.
#
# Compressing gives what releasing and reserving each promise in turn gives, which is the rule of conservative
# backfilling (Mu'alem and Feitelson 2001) and of batsched. At its turn a promise still has its own place, so it cannot
# move to later. That needs a book that `stands`: if hosts failed or predictions changed, some promise may be
# impossible, and the loop makes each anew. A property test compares whole lives of a queue with the naive rule, start
# by start and host set by host set.
#
# Searching only promises that freed hosts may help was tried twice. For exact results with each size on its own it cost
# more than to search for all, 26.7 s instead of 15 s (10 000 jobs, 128 hosts, load 1.3; ADR 20). With classes of sizes
# and some false positives it takes 0.63 of the time (ADR 38), but for numbers of hosts only: a promise of these very
# hosts may also get other hosts at its old start.
#
# To compress n claims costs n comparisons and a search for each candidate, O(slots) at worst. When all promises are
# withdrawn the slot table is dropped first, because making it anew costs less than releasing one promise after the
# other: `order=sjf` executes 14 % fewer instructions in all with ADR 26.

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


class ReservingBook(PromiseBook[Reserved]):
    """Promises that are reserved in the availability as long as they are in the book.

    A change costs two binary searches and an insertion in addition to the cost in the availability.
    """

    __slots__ = ("_numbers", "_seen_disruptions", "_starts")

    def __init__(self, availability: Callable[[], Availability], duration: Callable[[Job], float]) -> None:
        """Begin as a PromiseBook."""
        super().__init__(availability, duration)
        self._numbers = 0
        #: Entries with a promise, by its start.
        self._starts: Ranking[Entry[Reserved]] = Ranking()
        #: The availability's disruptions when the promises were last renewed.
        self._seen_disruptions = -1

    @property
    def first_start(self) -> float:
        """The first promised start; infinity if there is none."""
        starts = self._starts.numbers
        return starts[0] if starts else math.inf

    def starting(self, now: float) -> list[tuple[Entry[Reserved], Reserved]]:
        """Return the entries that are promised a start by now, with their promises, in the order of service."""
        entries = sorted(self._starts.within(-math.inf, now), key=lambda entry: entry.number)
        return [(entry, entry.promise) for entry in entries if entry.promise is not None]

    def keep(self, job: Job, promise: Reserved | None) -> None:
        """Add a promise, and reserve it."""
        self._gaps = None
        self._numbers += 1
        entry = self.entries[job.id] = Entry(job, promise, self._duration(job), self._numbers)
        if promise is not None:
            self._availability().reserve(promise)
            self._enter(entry, promise)

    def withdraw(self, entry: Entry[Reserved]) -> None:
        """Withdraw a promise, and release it."""
        self._gaps = None
        del self.entries[entry.job.id]
        if entry.promise is not None:
            self._availability().release(entry.promise)
            self._leave(entry, entry.promise)

    def _enter(self, entry: Entry[Reserved], promise: Reserved) -> None:
        self._starts.add(promise.start, entry)

    def _leave(self, entry: Entry[Reserved], promise: Reserved) -> None:
        self._starts.remove(promise.start, entry)

    def withdraw_all(self) -> None:
        """Withdraw all promises, and release them."""
        if len(self.entries) > 1:
            self._availability().drop_slots()  # rebuilding them is cheaper than releasing one promise after the other
        for entry in list(self.entries.values()):
            self.withdraw(entry)
        self._gaps = None

    @property
    def stands(self) -> bool:
        """True if each job has a promise that can still be kept, according to the availability."""
        same = self._seen_disruptions == self._availability().disruptions
        return same and len(self._starts.items) == len(self.entries)

    def note_renewal(self) -> None:
        """Record that all promises can be kept with the current availability."""
        self._seen_disruptions = self._availability().disruptions

    @abstractmethod
    def compress(self, choose: Choose | None = None) -> Iterator[tuple[Job, Reserved]]:
        """Move each promise in turn to its earliest start; yield those that have improved.

        Only for a book that `stands`.
        """


class CountBook(ReservingBook[Claim]):
    """Promises of numbers of arbitrary hosts."""

    __slots__ = ("_candidates",)

    def __init__(self, availability: Callable[[], Availability], duration: Callable[[Job], float]) -> None:
        """Begin as a PromiseBook."""
        super().__init__(availability, duration)
        self._candidates = Candidates()
        self._starts = self._candidates.starts

    def earliest(self, job: Job, among: HostSet | None = None, choose: Choose | None = None) -> Claim | None:  # noqa: ARG002
        """Return the first claim that breaks no promise."""
        return self._availability().earliest_count(job.size, self._duration(job))

    def _enter(self, entry: Entry[Claim], promise: Claim) -> None:
        self._candidates.enter(entry, promise)

    def _leave(self, entry: Entry[Claim], promise: Claim) -> None:
        self._candidates.leave(entry, promise)

    def compress(self, choose: Choose | None = None) -> Iterator[tuple[Job, Claim]]:  # noqa: ARG002
        """Compress as a ReservingBook; searches only the promises that may start earlier."""
        future, candidates, starts = self._availability(), self._candidates, self._starts
        now, slots, never = future.now, future.slots_by_count, math.inf
        candidates.look(slots)
        for entry in self.entries.values():
            # What moves below frees hosts for all others: later entries see it in this pass, earlier ones in the next.
            # So the notes of an entry are taken out before it is searched, not at the end of the pass.
            near = entry.near
            if near == never:
                continue
            since, until = entry.since, entry.until
            entry.since = entry.near = never
            entry.until = -never
            promise, start, size = entry.promise, entry.start, entry.size
            if promise is None or start < now:  # it is due, and its hosts are late
                continue
            sooner = slots.sooner(start, size, entry.duration, since=since, until=until, near=near)
            if sooner == never:
                continue
            end, sooner_end = promise.end, sooner + entry.duration
            better = Claim(sooner, sooner_end, size)
            freed = slots.move(size, start, end, sooner, sooner_end)
            future.move_claim(promise, better)
            entry.renew(better)
            starts.remove(start, entry)
            starts.add(sooner, entry)
            if freed < end:  # both ends may be the same instant, rounded
                candidates.note(slots, freed, end, size)
            yield entry.job, better

    def _find_gaps(self) -> Gaps:
        future = self._availability()
        return CountGaps(future.free, future.count_falls())


class HostBook(ReservingBook[Slot]):
    """Promises of specific hosts."""

    __slots__ = ("_sorted",)

    def __init__(self, availability: Callable[[], Availability], duration: Callable[[Job], float]) -> None:
        """Begin as a PromiseBook."""
        super().__init__(availability, duration)
        #: Number of the last entry when the entries were last sorted.
        self._sorted = 0

    def sort(self, key: Callable[[Job], tuple[float, str]], *, anew: bool) -> None:
        """Serve the entries in the order of their keys; with `anew`, keys may have changed since the last time."""
        if self._numbers == self._sorted and not anew:
            return
        entries = sorted(self.entries.values(), key=lambda entry: key(entry.job))
        self.entries.clear()
        for entry in entries:
            self._numbers += 1
            entry.number = self._numbers
            self.entries[entry.job.id] = entry
        self._sorted = self._numbers

    def earliest(self, job: Job, among: HostSet | None = None, choose: Choose | None = None) -> Slot | None:
        """Return the first slot that breaks no promise."""
        return self._availability().earliest(job.size, self._duration(job), among, choose)

    def compress(self, choose: Choose | None = None) -> Iterator[tuple[Job, Slot]]:
        """Compress as a ReservingBook; searches only up to the latest release since the last compression."""
        future = self._availability()
        now, slots = future.now, future.slots_by_host
        # Hosts freed before this pass concern all entries. Those that the pass frees count at once for later entries,
        # and stay noted for the next pass, in which earlier ones see them.
        limit, slots.freed_until = slots.freed_until, -math.inf
        for entry in self.entries.values():
            promise = entry.promise
            if promise is None or promise.start < now:  # it is due, and its hosts are late
                continue
            better = slots.sooner(promise, entry.duration, limit, choose)
            if better is not None:
                true = future.move(promise, better)
                if better.start != promise.start:
                    self._starts.remove(promise.start, entry)
                    self._starts.add(better.start, entry)
                entry.renew(better)
                if not true:  # new slots count as freed everywhere, so that nothing is missed
                    slots = future.slots_by_host
                yield entry.job, better

    def _find_gaps(self) -> Gaps:
        future = self._availability()
        return HostGaps(future.free, future.host_falls())


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

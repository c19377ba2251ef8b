"""Books whose promises are reserved in the availability, and compressed when hosts are released.

To compress the promises of a book, each in turn is released and reserved again at its earliest start, which is never
later. Because most promises do not change, nothing is released to find that start: slots before the promise's start are
searched as they are, and from its start on its own hosts count as free. Promises of numbers of hosts are searched only
if they may start earlier (see `candidates`).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.candidates import Candidates
from batsched_py.planning.future.promise_book import CountGaps, Entry, Gaps, HostGaps, PromiseBook
from batsched_py.planning.future.promises import Choose, Claim, Reserved, Slot
from batsched_py.planning.future.ranking import Ranking

# Between two calls each promise is reserved in the availability exactly as long as its entry is in `entries`, and
# `_starts` has the entries with a promise.
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

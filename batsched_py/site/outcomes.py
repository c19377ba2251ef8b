"""Outcomes of requests to a site that change something: carried out, or ignored for a reason."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from batsched_py.leases.drains import DRAINS
from batsched_py.model.external_event import MACHINE_EVENTS
from batsched_py.scheduling.queue_requests import CANCEL_JOB, QUEUE_REQUESTS, IgnoredRequest
from batsched_py.site.job_ids import job_id
from batsched_py.site.journal import JournalEntry
from batsched_py.timelines.additions import ADD_ENTRY, RESUME

# A request is checked against a snapshot, written to disk, and carried out at the next decision. Before that decision
# the simulation may start or end the lease in question, and the request has no effect. So callers who change something
# are answered after the decision. It is repeated after a restart, and with it what was ignored.

#: The kinds of requests that change timelines, and of all requests whose outcomes are kept.
_TIMELINES: Final = frozenset({RESUME, ADD_ENTRY})
_CHANGES: Final = QUEUE_REQUESTS | MACHINE_EVENTS | DRAINS | {CANCEL_JOB} | _TIMELINES


class ChangeOutcomes:
    """The outcomes of the requests of a site; `take` and `decide` are called by the simulation's thread.

    Args:
        entries: number of a request -> the request; it only grows.

    Attributes:
        ignored: number of a request that had no effect -> the rule that it violated.
    """

    def __init__(self, entries: Mapping[int, JournalEntry]) -> None:
        self._entries = entries
        self.ignored: dict[int, str] = {}
        self._lock = threading.Lock()
        #: The number of requests that the simulation has taken; changes among them that are not decided yet.
        self._taken = 0
        self._undecided: dict[int, JournalEntry] = {}
        #: Number of a change -> what is called once it is decided, or once no decision can follow.
        self._waiting: dict[int, Callable[[], object]] = {}
        self._over = False

    def take(self, many: int) -> None:
        """Note that the next message has so many more requests."""
        with self._lock:
            for number in range(self._taken + 1, self._taken + many + 1):
                if (entry := self._entries[number]).kind in _CHANGES:
                    self._undecided[number] = entry
            self._taken += many

    @property
    def taken(self) -> int:
        """The number of requests that the simulation has taken."""
        return self._taken

    def skip(self, ignored: Mapping[int, str]) -> None:
        """Note that all requests that were taken are decided, and that some were ignored for a reason."""
        with self._lock:
            self._undecided.clear()
            self.ignored.update(ignored)

    def rewind(self) -> None:
        """Note that the simulation begins anew, and has taken no requests. No caller may wait for a change yet."""
        with self._lock:
            self._taken = 0
            self._undecided.clear()
            self.ignored.clear()

    def decide(self, ignored: Iterable[IgnoredRequest], postponed: Iterable[object]) -> None:
        """Note the decision on a message, with the requests that it ignored, and the jobs whose changes must wait."""
        if not self._undecided:
            return
        with self._lock:
            for one in ignored:
                number = self._number(one)
                if number is not None:
                    self.ignored[number] = one.why
                    self._finish(number)
            waits = set(postponed)
            for number, entry in list(self._undecided.items()):
                if entry.target is None or job_id(entry.target) not in waits:
                    self._finish(number)

    def settle(self) -> None:
        """Note that no message follows from what was taken: changes of hosts that need none are done."""
        self.decide((), (job_id(one.target) for one in self._undecided.values() if one.target is not None))

    def is_decided(self, number: int) -> bool:
        """Return whether the simulation has decided on a change."""
        with self._lock:
            return self._is_decided(number)

    def expect(self, number: int, call: Callable[[], object]) -> None:
        """Call `call`, perhaps in another thread, once a change is decided, or once no decision can follow."""
        with self._lock:
            if not (self._over or self._is_decided(number)):
                self._waiting[number] = call
                return
        call()

    def forget(self, number: int) -> None:
        """Call nothing for a change any more."""
        with self._lock:
            self._waiting.pop(number, None)

    def end(self) -> None:
        """Note that no decision can follow."""
        with self._lock:
            self._over, waiting, self._waiting = True, self._waiting, {}
        for call in waiting.values():
            call()

    def _is_decided(self, number: int) -> bool:
        return number <= self._taken and number not in self._undecided

    def _number(self, ignored: IgnoredRequest) -> int | None:
        """Return the number of the first undecided request that was ignored; None if it is no request of the site."""
        for number, entry in self._undecided.items():
            if entry.kind == ignored.kind and _subject(entry) == ignored.subject:
                return number
        return None

    def _finish(self, number: int) -> None:
        del self._undecided[number]
        if (call := self._waiting.pop(number, None)) is not None:
            call()


def _subject(entry: JournalEntry) -> object:
    """Return what a request changes, as an IgnoredRequest names it; None for hosts, whose changes are not ignored."""
    if entry.kind in _TIMELINES:
        return "" if entry.target is None else str(entry.target)
    return None if entry.target is None else job_id(entry.target)

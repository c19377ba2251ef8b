"""The inbox of a site: the queue of requests to the simulation, each with the instant at which it takes effect."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import SiteError
from batsched_py.model.external_event import ExternalEvent
from batsched_py.protocol.events import NO_MORE_EXTERNAL_EVENT
from batsched_py.scheduling.queue_requests import QUEUE_REQUESTS
from batsched_py.simulator.time.live_loop import LiveBatch
from batsched_py.site.batches import batches_of
from batsched_py.site.journal import CLOSE, Journal, JournalEntry
from batsched_py.site.outcomes import ChangeOutcomes
from batsched_py.site.pacing import PacedClock
from batsched_py.site.request_kinds import EVENT_KINDS

__all__ = ["CLOSE", "EVENT_KINDS", "FAILED", "UNKEPT", "Asked", "Inbox", "SiteStoppedError"]

# One lock decides two things together: the instant of a request, and how far the simulation may go. So the simulation
# is never past an instant at which a request may still come, and the same requests at the same instants give the same
# run (ADR 30). Between two changes `_reached` is not after the instant of any request to come, `_batches` ascends, and
# all that is in it is on disk.
#
# The lock is held while a batch is written: a request that is accepted later gets a later number and instant, in the
# journal, too. It is not held while the simulation decides, while snapshots are made (`look`), or while the time is
# read, which any page does.
#
# After a restart the batches are those of the journal, and nothing new is accepted until the simulation has reached the
# recorded time (`_left`). That time is recorded ahead by two seconds of the wall clock: a site that was killed must not
# show a time before one that it has shown.
#
# With a calling Batsim a message's time is already fixed when a request comes, so that a request gets a later instant
# than the one reached, by the resolution of Batsim's times. A waiting thread counts changes instead of trusting a
# notification, since one may come between its look and its wait.

#: Wall-clock seconds between two records of the time in the journal, and by which the record is ahead.
_HEARTBEAT: Final = 0.5
_AHEAD: Final = 2.0
#: The smallest difference between two times in messages, in seconds.
_RESOLUTION: Final = 1e-6
#: Terms of leases that are kept in memory.
_KEPT_TERMS: Final = ("start", "deadline", "constraint")
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

#: Messages to callers of a site whose files cannot be written, and of one that has failed for another reason.
UNKEPT: Final = "the site cannot keep requests: its log says why"
FAILED: Final = "the site has ended: its log says why"


class SiteStoppedError(Exception):
    """The site is stopping: the run ends at its current instant."""


class Asked(Struct, frozen=True):
    """A checked request, to be accepted.

    Attributes:
        kind: one of the EVENT_KINDS, the type of the external event that it becomes; or CLOSE.
        members: returns the members of the event, given the number of the request.
        user, group: the caller.
        target: the number of the request that it refers to; None if it refers to none.
    """

    kind: str
    members: Callable[[int], Mapping[str, Any]]
    user: str = ""
    group: str = ""
    target: int | None = None

    def __post_init__(self) -> None:
        """Check the kind; ValueError."""
        if self.kind not in EVENT_KINDS and self.kind != CLOSE:
            raise ValueError(f"{self.kind} is not among the kinds of requests")


class Inbox:
    """The live events of a site's simulation; requests may come from any thread.

    After a restart, it first replays the journal as fast as possible, up to the time that the site had reached.

    Args:
        journal: the journal of the site.
        clock: must be paused; it is started after the replay.
        look: `look(idle)` is called by the simulation's thread between two instants, and with True before it waits; it
            returns the seconds until it wants to be called again.
        see: is called by the simulation's thread after the replay, before the inbox is ready; it makes the current
            state visible, before any caller can read an earlier one.

    Attributes:
        entries: number of a request -> the request, without its members (they may be large), except for the start, the
            deadline, the constraint and the machines of a lease, who holds one, its priority, and for hosts that go
            out of service or return.
        outcomes: what has become of requests that change something.
    """

    def __init__(
        self, journal: Journal, clock: PacedClock, look: Callable[[bool], float], see: Callable[[], None]
    ) -> None:
        self._journal, self._clock, self._look, self._see = journal, clock, look, see
        self._changed = threading.Condition()  # with a lock that its holder may take again
        #: The number of changes so far: requests, changes of the clock, stops.
        self._changes = 0
        entries = list(journal.read())
        self._batches = deque(batches_of(entries))
        self._number = entries[-1].number if entries else 0
        self._batch = entries[-1].batch if entries else 0
        #: The time up to which the journal is replayed; None after the replay.
        self._left: float | None = max(journal.time, entries[-1].time if entries else 0.0)
        #: The instant that the simulation has reached, or will reach with the accepted requests.
        self._reached = 0.0
        #: The time recorded in the journal.
        self._kept = journal.time
        #: The reason why no more requests are accepted; "" while the site runs.
        self._closed = ""
        #: The error of a failed write to the journal, which ends the site.
        self._failure: SiteError | None = None
        self.entries = {entry.number: _light(entry) for entry in entries}
        self.outcomes = ChangeOutcomes(self.entries)
        #: Is called when the simulation waits for the first time, before it has taken any request.
        self.at_begin: Callable[[], None] | None = None
        #: The wall-clock time of the last record of the time.
        self._noted = -math.inf
        #: True if the peer (Batsim) is the caller: a request then joins its first message of a later time.
        self._called = False
        #: True once a request has closed the site.
        self._last = bool(entries) and entries[-1].kind == CLOSE

    @property
    def requests(self) -> int:
        """The number of requests, without the one that closes the site."""
        return len(self.entries) - self._last

    def bytes_of(self, user: str) -> int:
        """Return the size of a user's requests in the journal, in bytes."""
        return self._journal.bytes.get(user, 0)

    def hash_of(self, number: int) -> str:
        """Return the hash of a request in the journal and of all before it; "" if there is none."""
        with self._changed:
            return self._journal.hash_of(number)

    def play_until(self, time: float) -> None:
        """Extend the replay up to this time at least; call it before the simulation begins."""
        if self._left is not None:
            self._left = max(self._left, time)

    @property
    def closed(self) -> str:
        """The reason why no more requests are accepted, without internal details; "" while the site runs."""
        return self._closed or ("the site was closed" if self._last else "")

    @property
    def ready(self) -> bool:
        """True from the end of the replay until the site is closed or stops: it accepts requests."""
        return self._left is None and not self._closed and not self._last

    @property
    def starting(self) -> bool:
        """True during the replay, while snapshots show the past."""
        return self._left is not None and not self._closed

    @property
    def now(self) -> float:
        """The simulated time, in seconds."""
        return self._clock.read(self._reached)  # without the lock, which is held while the disk writes

    def moment(self) -> tuple[int, float]:
        """Return the number of the latest request, and the time: the same requests lead to the state of this time.

        SiteError if no requests are accepted.
        """
        with self._changed:
            if not self.ready:
                raise SiteError(self.closed or "the site is starting")
            return self._number, self._instant()

    def accept(self, requests: Iterable[Asked]) -> list[JournalEntry]:
        """Write requests to disk, to take effect now in one message; SiteError if they cannot be accepted."""
        with self._changed:
            if not self.ready:
                raise SiteError(self.closed or "the site is starting")
            at, accepted = self._instant(), time.time()
            batch = self._batch + 1
            entries = [
                JournalEntry(
                    number, batch, at, accepted, one.kind, one.target, one.user, one.group, one.members(number)
                )
                for number, one in enumerate(requests, self._number + 1)
            ]
            if not entries:
                return []
            try:
                self._journal.append(entries)
            except SiteError as error:
                raise self.give_up(error) from error
            self._number, self._batch, self._reached = entries[-1].number, batch, at
            self.entries.update((entry.number, _light(entry)) for entry in entries)
            self._batches.extend(batches_of(entries))
            self._last = entries[-1].kind == CLOSE
            self._announce()
        return entries

    def _instant(self) -> float:
        """Return the instant at which a request that arrives now takes effect."""
        at = max(self._reached, round(self._clock.read(self._reached), 6))
        return max(at, round(self._reached + _RESOLUTION, 6)) if self._called else at

    def control(self, change: Callable[[PacedClock, float], None]) -> None:
        """Change the clock: call `change` with the clock and the instant that the simulation has reached."""
        with self._changed:
            change(self._clock, self._reached)
            self._announce()

    def stop(self, why: str = "the site is stopping") -> None:
        """Accept no more requests; the simulation ends when it next checks the inbox."""
        with self._changed:
            self._closed = self._closed or why
            self._announce()

    def give_up(self, error: SiteError) -> SiteError:
        """End the site with an error, because a file cannot be written; return the error for callers."""
        with self._changed:
            self._failure, self._closed = self._failure or error, UNKEPT
            self._announce()
        return SiteError(UNKEPT)  # callers must not see the paths of files

    def begin(self) -> None:
        """Note that the simulation waits for the first time; see LiveEvents."""
        if self.at_begin is not None:
            self.at_begin()

    def skip(self, requests: int, ignored: Mapping[int, str]) -> None:
        """Go on as if the simulation had taken so many requests, of which some were ignored for a reason.

        ValueError if a batch is split.
        """
        with self._changed:
            while self._batches and self.outcomes.taken < requests:
                self._taken(self._batches.popleft())
            if self.outcomes.taken != requests:
                raise ValueError(f"{requests} requests are not whole batches")
            self.outcomes.skip(ignored)

    def rewind(self) -> None:
        """Replay the whole journal from its beginning, during the replay. SiteError."""
        with self._changed:
            self._batches = deque(batches_of(list(self._journal.read())))
            self.outcomes.rewind()

    def wait(self, now: float, due: float | None) -> LiveBatch | None:
        """Wait for and return the next batch before `due`; None when `due` has come. See LiveEvents."""
        self.outcomes.settle()
        if not self.starting:  # callers do not see the past
            self._look(False)
        while not self._closed:
            with self._changed:
                if self._batches and (due is None or self._batches[0].time < due):
                    return self._taken(self._batches.popleft())
                if self._left is not None:
                    if due is not None and (self._batches or due <= self._left):
                        return None
                    self._go_live(now)
                seconds = _HEARTBEAT if due is None else self._clock.seconds_until(due)
                if due is not None and seconds <= 0:
                    self._reached = due
                    self._note(due)
                    return None
                self._note(self._clock.read(self._reached))
                changes = self._changes
            self._rest(seconds, changes)
        self.check_open()
        raise AssertionError  # it is closed

    def _rest(self, seconds: float, changes: int) -> None:
        """Wait for `seconds`, or until the count of changes differs; call `look` first, without the lock."""
        seconds = min(seconds, _HEARTBEAT, self._look(True))
        with self._changed:
            if self._changes == changes:
                self._changed.wait(seconds)

    def _announce(self) -> None:
        """Wake the simulation's thread; the caller holds the lock."""
        self._changes += 1
        self._changed.notify_all()

    def leave(self) -> None:
        """Record the time actually reached, from which a site that was stopped, not killed, continues exactly."""
        with self._changed:
            if self._left is None:
                self._journal.keep_time(self._clock.read(self._reached))

    def check_open(self) -> None:
        """Raise SiteStoppedError if the site is stopping, SiteError if a request could not be written."""
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise SiteStoppedError(self._closed)

    def meet(self, now: float, *, idle: bool) -> list[ExternalEvent]:
        """Wait until it is time for a message of a calling peer (Batsim), and return the events that join it.

        Args:
            now: the time of the message.
            idle: True if only periodic calls remain: then, at an infinite pace, wait for a request.
        """
        self._called = True
        while not self._closed:
            with self._changed:
                if self._left is not None:
                    if now <= self._left:
                        break
                    self._go_live(self._left)
                waits = idle and math.isinf(self._clock.pace) and not self._batches
                seconds = math.inf if waits else self._clock.seconds_until(now)
                if seconds <= 0:
                    break
                self._note(self._clock.read(self._reached))
                changes = self._changes
            self._rest(seconds, changes)
        self.check_open()
        if not self.starting:
            self._look(False)
        return self._events(now)

    def _events(self, now: float) -> list[ExternalEvent]:
        """Return the events that join the message of this instant."""
        with self._changed:
            self._reached = max(self._reached, now)
            self._note(self._reached)
            events = list[ExternalEvent]()
            while self._batches and self._batches[0].time <= now:
                batch = self._taken(self._batches.popleft())
                events += batch.events
                if batch.last:
                    events.append(ExternalEvent(now, NO_MORE_EXTERNAL_EVENT))
            return events

    def _taken(self, batch: LiveBatch) -> LiveBatch:
        """Return a batch that the next message has."""
        self.outcomes.take(len(batch.events) + batch.last)
        return batch

    def _go_live(self, now: float) -> None:
        assert self._left is not None  # noqa: S101  # checked by the callers
        self._see()
        self._reached, self._left = max(now, self._left), None
        self._clock.start(self._reached)

    def _note(self, reached: float) -> None:
        """Record a time slightly ahead, so that a restarted site never continues before a time that was visible."""
        if reached <= self._kept:
            return
        ahead = 0.0 if self._clock.paused else self._clock.pace * _AHEAD
        if math.isinf(ahead):  # no wall-clock pace: limit how often the time is written
            wall, ahead = time.monotonic(), 0.0
            if wall < self._noted + _HEARTBEAT:
                return
            self._noted = wall
        self._kept = reached + ahead
        self._journal.keep_time(self._kept)


def _light(entry: JournalEntry) -> JournalEntry:
    if "resources" in entry.members:  # of hosts
        return entry
    if entry.kind in QUEUE_REQUESTS:
        return replace(
            entry, members={name: entry.members[name] for name in ("by", "priority") if name in entry.members}
        )
    job = entry.members.get("job")
    if not isinstance(job, Mapping):
        return replace(entry, members=_NOTHING)
    kept, terms = {"res": job["res"]}, job.get("lease")
    if isinstance(terms, Mapping):
        kept["lease"] = {name: terms[name] for name in _KEPT_TERMS if name in terms}
    return replace(entry, members=kept)

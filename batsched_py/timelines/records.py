"""Records of entries, and orders to the caller."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct, field

from batsched_py.timelines.entries import ScheduleEntry

Outcome = Literal["pending", "running", "done", "killed", "not run", "refused"]


class Span(Struct):
    """One run of an entry, in wall time; `end` is None while it runs, `exit` until it has ended by itself."""

    begin: float
    end: float | None = None
    exit: int | None = None


class EntryRecord(Struct):
    """The record of an entry.

    Attributes:
        entry: the entry.
        spans: its runs; more than one after a reboot.
        time: its schedule time while the VM is configured, else the experiment time of its begin; None if it has not
            begun.
        late: seconds by which it began after it was due, and known (F34).
        moved_by: pauses and breaks that moved it (F33).
        outcome: its state or outcome.
        reason: reason why it was not run, was refused or killed, or a note about its end.
        known: wall time at which it became known; -infinity for the beginning.
        due: experiment time at which it would have begun, for one that its lease left no time for.
    """

    entry: ScheduleEntry
    spans: list[Span] = field(default_factory=list)
    time: float | None = None
    late: float = 0.0
    moved_by: tuple[str, ...] = ()
    outcome: Outcome = "pending"
    reason: str = ""
    known: float = -math.inf
    due: float | None = None

    def begin(self, now: float) -> None:
        """Record its begin."""
        self.spans.append(Span(now))
        self.outcome = "running"

    def put_off(self, now: float, *, counts: bool) -> None:
        """Record that it begins only now; `counts` if its experiment time moves with it."""
        waited = now - self.spans[-1].begin
        self.spans[-1].begin = now
        if len(self.spans) == 1:
            self.late += waited
            if counts and self.time is not None and not self.entry.configures:
                self.time += waited

    def end(self, now: float, outcome: Outcome = "done", reason: str = "", code: int | None = None) -> None:
        """Record the end of its current run."""
        self.spans[-1].end, self.spans[-1].exit = now, code
        self.outcome, self.reason = outcome, reason


class EntryOrder(Struct, frozen=True):
    """An order about an entry of a VM."""

    vm: str
    entry: ScheduleEntry


class Begin(EntryOrder, frozen=True):
    """An order to begin an entry; for programs and drops, `ended` is expected. `number` counts its runs, from 0."""

    number: int


class Kill(EntryOrder, frozen=True):
    """An order to kill an entry that runs."""


class Reboot(Struct, frozen=True):
    """An order to reboot a VM, which is back at the wall time `until`."""

    vm: str
    until: float


Order = Begin | Kill | Reboot

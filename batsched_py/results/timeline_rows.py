"""Rows of the tables of timelines: the outcomes of entries and VMs."""

from __future__ import annotations

from typing import Final, NamedTuple

REBOOT: Final = "reboot"
LOAD: Final = "load"
#: Kinds of rows: the members by which entries are known, reboots, and files that are loaded before the first entry.
KINDS: Final = ("run", "drop", "transfer", "pause", "break", "resume", REBOOT, LOAD)


class EntryRow(NamedTuple):
    """A run of an entry, a reboot, or an entry that was not run; times in seconds.

    Attributes:
        vm: name of the VM.
        entry: name of the entry; None for a reboot, and files that are loaded.
        kind: run, drop, transfer, pause, break, resume, reboot or load.
        scheduled: schedule time; None at -infinity, and for a reboot or files that are loaded.
        time: experiment time of its begin, the schedule time while the VM is configured.
        begin: wall time.
        end: wall time.
        late: seconds after it was due.
        moved_by: pauses and breaks that moved it, with blanks between them.
        outcome: its outcome at the end.
        exit: its exit code.
        reason: reason why it was not run or was killed.
    """

    vm: str
    entry: str | None
    kind: str
    scheduled: float | None
    time: float | None
    begin: float | None
    end: float | None
    late: float | None
    moved_by: str | None
    outcome: str
    exit: int | None
    reason: str | None


class VmRow(NamedTuple):
    """A VM at the end; times are wall times in seconds.

    Attributes:
        vm: its name.
        state: its state.
        hosts: those of its lease, by number.
        launched: begin of its lease.
        configured: arrival at the global barrier.
        start: begin of experiment time.
        end: end of its lease, or its loss.
        reason: reason of its failure.
        late_max: maximum delay of its entries in seconds (F34).
        late_p99: 99th percentile of the delays of its entries in seconds.
    """

    vm: str
    state: str
    hosts: str | None
    launched: float | None
    configured: float | None
    start: float | None
    end: float | None
    reason: str | None
    late_max: float | None
    late_p99: float | None

"""Tables of a run of timelines: the outcomes of entries and VMs (F33, F34)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.timelines.entries import Drop, Entry, Hold, Program, Resume
from batsched_py.timelines.parsing import ENTRY_MEMBERS
from batsched_py.timelines.records import EntryRecord
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.vm import TimelineVm

#: Kinds of rows: the members by which entries are known, reboots, and files that are loaded before the first entry.
ENTRY_KINDS: Final = tuple(ENTRY_MEMBERS)
REBOOT: Final = "reboot"
LOAD: Final = "load"


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


def timeline_tables(run: TimelineRun, hosts: Mapping[str, HostSet]) -> list[Table]:
    """Return the tables `timeline`, of entries, and `timeline_vms`; `hosts` are those of VMs that were launched."""
    return [
        Table("timeline", EntryRow._fields, [row for vm in run.vms.values() for row in entry_rows(vm)]),
        Table("timeline_vms", VmRow._fields, [_vm_row(run, vm, hosts) for vm in run.vms.values()]),
    ]


def _vm_row(run: TimelineRun, vm: TimelineVm, hosts: Mapping[str, HostSet]) -> VmRow:
    place = str(hosts[vm.name]) if vm.name in hosts else None
    late = sorted(record.late for record in vm.records.values() if record.spans)
    return VmRow(
        vm.name,
        vm.state.value,
        place,
        vm.launched,
        vm.configured,
        run.start,
        _finite(vm.end),
        vm.failure or None,
        late[-1] if late else None,
        late[math.ceil(0.99 * len(late)) - 1] if late else None,
    )


def entry_rows(vm: TimelineVm) -> Iterator[EntryRow]:
    """Iterate over the rows of a VM's entries, those that have begun first."""
    rows = [row for record in vm.records.values() for row in _rows_of(vm, record)]
    besides = [(REBOOT, *span) for span in vm.reboots] + ([(LOAD, *vm.loading)] if vm.loading else [])
    rows += [
        EntryRow(vm.name, None, kind, None, None, begin, end, None, None, "done", None, None)
        for kind, begin, end in besides
    ]
    yield from sorted(rows, key=lambda row: (math.inf if row.begin is None else row.begin, row.entry is not None))


def _rows_of(vm: TimelineVm, record: EntryRecord) -> Iterator[EntryRow]:
    entry = record.entry
    base = EntryRow(
        vm.name,
        entry.name,
        entry_kind(entry),
        _finite(entry.at),
        _finite(record.time),
        None,
        None,
        record.late if record.spans else None,
        " ".join(record.moved_by) or None,
        record.outcome,
        None,
        record.reason or None,
    )
    if not record.spans:
        yield base
    for span in record.spans:
        yield base._replace(begin=span.begin, end=_finite(span.end), exit=span.exit)


def entry_kind(entry: Entry) -> str:
    """Return the kind of an entry, which is the name of its member."""
    action = entry.action
    if isinstance(action, Hold):
        return "break" if action.is_break else "pause"
    if isinstance(action, Program):
        return "run"
    return "drop" if isinstance(action, Drop) else "resume" if isinstance(action, Resume) else "transfer"


def _finite(time: float | None) -> float | None:
    return time if time is not None and math.isfinite(time) else None

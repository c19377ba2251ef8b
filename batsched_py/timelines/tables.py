"""Tables of a run of timelines: the outcomes of entries and VMs (F33, F34)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.results.timeline_rows import LOAD, REBOOT, EntryRow, VmRow
from batsched_py.timelines.entries import Drop, PauseEntry, Program, Resume, ScheduleEntry
from batsched_py.timelines.records import EntryRecord
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.vm import TimelineVm


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
    spans = [(REBOOT, *span) for span in vm.reboots] + ([(LOAD, *vm.loading)] if vm.loading else [])
    rows += [
        EntryRow(vm.name, None, kind, None, None, begin, end, None, None, "done", None, None)
        for kind, begin, end in spans
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


def entry_kind(entry: ScheduleEntry) -> str:
    """Return the kind of an entry, which is the name of its member."""
    action = entry.action
    if isinstance(action, PauseEntry):
        return "break" if action.is_break else "pause"
    if isinstance(action, Program):
        return "run"
    return "drop" if isinstance(action, Drop) else "resume" if isinstance(action, Resume) else "transfer"


def _finite(time: float | None) -> float | None:
    return time if time is not None and math.isfinite(time) else None

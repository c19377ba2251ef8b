"""A run of timelines as table rows in chronological order, and as JSON."""

from __future__ import annotations

import math
from typing import Any, Final

from msgspec import Struct

from batsched_py.text.wording import NOTHING, seconds
from batsched_py.timelines.entries import Drop, PauseEntry, Program, Resume, ScheduleEntry, Transfer
from batsched_py.timelines.records import EntryRecord
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.vm import TimelineVm

#: Headings of the rows.
HEADINGS: Final = ("wall time", "experiment", "VM", "what", "scheduled", "lasts", "notes")


#: The sort key of the global barrier among the keys of simultaneous entries.
_BARRIER: Final = (0.0, -1, 0)


class ListingRow(Struct, frozen=True):
    """A row of the table, with times as text."""

    wall: str
    experiment: str
    vm: str
    what: str
    scheduled: str
    lasts: str
    notes: str


def basic_json(run: TimelineRun) -> dict[str, dict[str, float | None]]:
    """Return the experiment time of each entry, by VM and name; None for an entry that has not begun."""
    return {
        name: {record.entry.name: record.time for record in vm.records.values() if _is_named(record.entry)}
        for name, vm in run.vms.items()
    }


def full_json(run: TimelineRun, notes: list[str]) -> dict[str, Any]:
    """Return all data of the run, with the given notes."""
    return {
        "launch": run.launched,
        "start": run.start,
        "vms": {
            name: {
                "state": vm.state.value,
                "configured": vm.configured,
                "entries": [_entry_json(vm, record) for record in vm.records.values() if _is_named(record.entry)],
            }
            for name, vm in run.vms.items()
        },
        "notes": notes,
    }


def _is_named(entry: ScheduleEntry) -> bool:
    return isinstance(entry.action, Program | Drop | Transfer)


def _entry_json(vm: TimelineVm, record: EntryRecord) -> dict[str, Any]:
    return {
        "name": record.entry.name,
        "at": record.entry.at,
        "begins": record.spans[0].begin if record.spans else None,
        "ends": record.spans[-1].end if record.spans else None,
        "time": record.time,
        "held_by": list(moved_by(vm, record)),
        "outcome": outcome(vm, record),
        "late": record.late,
    }


def moved_by(vm: TimelineVm, record: EntryRecord) -> tuple[str, ...]:
    """Return the names of the pauses and breaks that moved an entry, or hold it now."""
    if record.outcome != "pending":
        return record.moved_by
    return vm.clock.moved_by + ((vm.held.name,) if vm.held is not None else ())


def outcome(vm: TimelineVm, record: EntryRecord) -> str:
    """Return the outcome of an entry in one or two words."""
    if record.outcome == "pending":
        return "held" if vm.held is not None else "not begun"
    return record.outcome


def rows(run: TimelineRun) -> list[ListingRow]:
    """Return the rows of the run, ordered by wall time; entries that never begin are at the end."""
    found: list[tuple[float, int, tuple[float, int, int], ListingRow]] = []
    for number, vm in enumerate(run.vms.values()):
        for record in vm.records.values():
            if not record.spans:
                found.append((math.inf, number, record.entry.key, _row(run, vm, record, None)))
            for index, span in enumerate(record.spans):
                found.append((span.begin, number, record.entry.key, _row(run, vm, record, index)))
        loading = [("load files", *vm.loading)] if vm.loading else []
        for what, begin, until in [*loading, *(("reboot", *span) for span in vm.reboots)]:
            row = ListingRow(seconds(begin), NOTHING, vm.name, what, "", _lasts(until - begin), "")
            found.append((begin, number, _BARRIER, row))
        if vm.configured is not None:
            row = ListingRow(seconds(vm.configured), _experiment(run, vm.configured), vm.name, "configured", "", "", "")
            found.append((vm.configured, number, _BARRIER, row))
    if run.start is not None:
        found.append((run.start, -1, _BARRIER, ListingRow(seconds(run.start), "0", "", "start", "", "", "")))
    return [row for *_, row in sorted(found, key=lambda one: one[:3])]


def _row(run: TimelineRun, vm: TimelineVm, record: EntryRecord, index: int | None) -> ListingRow:
    entry, span = record.entry, None if index is None else record.spans[index]
    scheduled = "-inf" if entry.at == -math.inf else seconds(entry.at)
    if span is None:
        return ListingRow(NOTHING, NOTHING, vm.name, entry.name, scheduled, "", _notes(vm, record))
    lasts = (
        ""
        if isinstance(entry.action, Resume | Transfer)
        else NOTHING
        if span.end is None
        else _lasts(span.end - span.begin)
    )
    time = (
        NOTHING if entry.configures else _experiment(run, span.begin) if record.time is None else seconds(record.time)
    )
    return ListingRow(seconds(span.begin), time, vm.name, entry.name, scheduled, lasts, _notes(vm, record, span.exit))


def _notes(vm: TimelineVm, record: EntryRecord, code: int | None = None) -> str:
    notes = [f"exit {code}"] if code else []
    if record.outcome in ("killed", "not run", "refused", "pending"):
        notes.append(outcome(vm, record) + (f": {record.reason}" if record.reason else ""))
    elif record.reason:
        notes.append(record.reason)
    moved = moved_by(vm, record)
    if moved and not isinstance(record.entry.action, PauseEntry):
        notes.append(f"moved by {', '.join(moved)}")
    if isinstance(record.entry.action, Transfer) and record.entry.action.interval is not None and record.spans:
        notes.append(f"again every {seconds(record.entry.action.interval)} s")
    if record.late:
        notes.append(f"{seconds(record.late)} s late")
    return "; ".join(notes)


def _experiment(run: TimelineRun, wall: float) -> str:
    return NOTHING if run.start is None else seconds(wall - run.start)


def _lasts(duration: float) -> str:
    return seconds(duration) if duration else "0"

"""Tables of the current state of a run of timelines (F18, F32)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.results.timeline_rows import EntryRow
from batsched_py.timelines.entries import Entry
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.tables import entry_rows


class RunRow(NamedTuple):
    """The experiment; times are wall times in seconds.

    Attributes:
        launched: when the first VM was launched.
        start: when experiment time is 0; None while the global barrier is closed.
        failed: why it has failed.
    """

    launched: float | None
    start: float | None
    failed: str | None


class LiveVmRow(NamedTuple):
    """A VM as it is now.

    Attributes:
        vm: its name.
        state: its state.
        hosts: those of its lease, by number.
        launched: wall time at which its lease began.
        awaited: 1 if it keeps the global barrier closed.
        current: the negative time at which it is.
        held_by: the break that holds it.
        held_since: experiment time of that; wall time for a break at -infinity.
        paused_until: experiment time at which a pause ends that holds it.
        next_entry: the next entry.
        next_scheduled: its schedule time.
        next_time: experiment time at which it begins; None if that is open.
        reason: why the VM has failed.
    """

    vm: str
    state: str
    hosts: str | None
    launched: float | None
    awaited: int
    current: float | None
    held_by: str | None
    held_since: float | None
    paused_until: float | None
    next_entry: str | None
    next_scheduled: float | None
    next_time: float | None
    reason: str | None


def live_tables(run: TimelineRun, hosts: Mapping[str, HostSet], now: float) -> list[Table]:
    """Return tables of the experiment, of its VMs, and of their entries."""
    awaited = frozenset(run.closed_by)
    return [
        Table("timeline_run", RunRow._fields, [RunRow(run.launched, run.start, run.failed or None)]),
        Table("timeline_vms", LiveVmRow._fields, [_vm_row(run, name, hosts, awaited, now) for name in run.vms]),
        Table("timeline", EntryRow._fields, [row for vm in run.vms.values() for row in entry_rows(vm)]),
    ]


def _vm_row(
    run: TimelineRun, name: str, hosts: Mapping[str, HostSet], awaited: frozenset[str], now: float
) -> LiveVmRow:
    vm, status = run.vms[name], run.status(name, now)
    following = status.next_entry
    return LiveVmRow(
        name,
        status.state.value,
        str(hosts[name]) if name in hosts else None,
        vm.launched,
        int(name in awaited),
        status.current,
        _name(status.held_by),
        status.held_since,
        status.paused_until,
        _name(following),
        None if following is None or math.isinf(following.at) else following.at,
        status.next_time,
        vm.failure or None,
    )


def _name(entry: Entry | None) -> str | None:
    return None if entry is None else entry.name

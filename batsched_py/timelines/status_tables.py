"""Tables of the current state of a run of timelines (F18, F32)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.results.timeline_rows import EntryRow
from batsched_py.timelines.run import TimelineRun
from batsched_py.timelines.status import Vm
from batsched_py.timelines.tables import entry_rows

#: The live table with a row for each experiment whose timelines have begun.
LIVE_TIMELINES: Final = "live_timelines"


class TimelineState(NamedTuple):
    """The current state of an experiment's timelines; times are wall times in seconds.

    Attributes:
        experiment: its number; "" if the run has one only.
        launched: when the first VM was launched.
        start: when experiment time is 0; None while the global barrier is closed.
        failed: why it has failed; "" if it has not.
        vms: its VMs.
        entries: the entries of all VMs.
    """

    experiment: str
    launched: float | None
    start: float | None
    failed: str
    vms: Sequence[Vm]
    entries: Sequence[EntryRow]


def state_of(experiment: str, run: TimelineRun, hosts: Mapping[str, HostSet], now: float) -> TimelineState:
    """Return the state of a run at this time; `hosts` are those of VMs that were launched."""
    vms = tuple(run.status(name, now, str(hosts.get(name, ""))) for name in run.vms)
    entries = tuple(row for vm in run.vms.values() for row in entry_rows(vm))
    return TimelineState(experiment, run.launched, run.start, run.failed or "", vms, entries)


def live_table(states: Sequence[TimelineState]) -> Table:
    """Return the live table of these states."""
    return Table(LIVE_TIMELINES, TimelineState._fields, states)

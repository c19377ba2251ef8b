"""Tables of the current state of a run of timelines (F18, F32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.results.timeline_rows import EntryRow
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


def live_tables(run: TimelineRun, hosts: Mapping[str, HostSet], now: float) -> list[Table]:
    """Return tables of the experiment, of its VMs (a `Vm` in each row), and of their entries."""
    vms = [(run.status(name, now, str(hosts.get(name, ""))),) for name in run.vms]
    return [
        Table("timeline_run", RunRow._fields, [RunRow(run.launched, run.start, run.failed or None)]),
        Table("timeline_vms", ("vm",), vms),
        Table("timeline", EntryRow._fields, [row for vm in run.vms.values() for row in entry_rows(vm)]),
    ]

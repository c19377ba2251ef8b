"""Views of the experiment on the board of a site that runs timelines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from batsched_py.results.timeline_rows import EntryRow
from batsched_py.site.api.problems import refuse
from batsched_py.site.site import Site
from batsched_py.timelines.status import Vm
from batsched_py.timelines.status_tables import RunRow


class TimelineExperiment(Struct, frozen=True):
    """The experiment of the timelines.

    Attributes:
        now: the simulated second of this answer.
        launched: the simulated second of the first launch.
        start: the simulated second of experiment time 0; None while the global barrier is closed.
        launch_to_start: seconds from `launched` to `start`.
        since_start: the experiment time, negative in the buffer before the start.
        failed: the reason if it has failed, otherwise "".
        vms: the VMs in the order of the file.
    """

    now: float
    launched: float | None
    start: float | None
    launch_to_start: float | None
    since_start: float | None
    failed: str
    vms: list[Vm]


class TimelineEntry(Struct, frozen=True):
    """One run of an entry, or an entry that was not run.

    Attributes:
        name: the name of the entry; None for reboots and loaded files.
        kind: run, drop, transfer, pause, break, resume, reboot or load.
        scheduled: the schedule time; None for -inf.
        time: the experiment time of its begin; the schedule time while the VM is being configured.
        begin, end: the simulated seconds of its begin and end.
        late: the delay in seconds.
        moved_by: the pauses and breaks that moved it, separated by blanks.
        outcome: pending, running, done, killed, not run or refused.
        exit: the exit code.
        why: the reason if it was not run, refused or killed.
    """

    name: str | None
    kind: str
    scheduled: float | None
    time: float | None
    begin: float | None
    end: float | None
    late: float | None
    moved_by: str | None
    outcome: str
    exit: int | None
    why: str | None


def experiment(site: Site) -> TimelineExperiment:
    """Return the current state of the experiment; RequestRefusedError if the site has none."""
    (run,) = cast(Sequence[RunRow], _rows(site, "timeline_run"))
    now = round(site.inbox.now, 6)
    decided = run.start is not None and run.launched is not None
    return TimelineExperiment(
        now,
        run.launched,
        run.start,
        run.start - run.launched if decided and run.start is not None and run.launched is not None else None,
        None if run.start is None else round(now - run.start, 6),
        run.failed or "",
        vms(site),
    )


def entries(site: Site, vm: str) -> list[TimelineEntry]:
    """Return the entries of a VM, those that have begun first; RequestRefusedError if there is no such VM."""
    check_vm(site, vm)
    rows = cast(Sequence[EntryRow], _rows(site, "timeline"))
    return [TimelineEntry(*row[1:]) for row in rows if row.vm == vm]


def vms(site: Site) -> list[Vm]:
    """Return the current state of all VMs; RequestRefusedError if the site has none."""
    return [vm for (vm,) in cast(Sequence[tuple[Vm]], _rows(site, "timeline_vms"))]


def vm_names(site: Site) -> list[str]:
    """Return the names of all VMs; RequestRefusedError if the site has none."""
    return [vm.name for vm in vms(site)]


def check_vm(site: Site, vm: str) -> None:
    """Raise RequestRefusedError if there is no such VM."""
    if vm not in vm_names(site):
        raise refuse(404, f"there is no VM {vm}")


def _rows(site: Site, table: str) -> Sequence[Any]:
    found = site.board.snapshot.tables.get(table)
    if found is None:
        raise refuse(404, f"the site has no timelines: its algorithm is {site.settings.choice.algorithm}")
    return cast(Sequence[Any], found.rows)

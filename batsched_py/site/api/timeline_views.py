"""Views of timelines on the board of a site: of the experiment of `timelines`, or one of `experiments`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from litestar import Response
from msgspec import Struct

from batsched_py.results.timeline_rows import EntryRow
from batsched_py.site.api.identity import Asking
from batsched_py.site.api.problems import refuse
from batsched_py.site.api.selection import ItemSelection, part_of
from batsched_py.site.site import Site
from batsched_py.timelines.status import Vm
from batsched_py.timelines.status_tables import LIVE_TIMELINES, TimelineState


class TimelineExperiment(Struct, frozen=True):
    """The timelines of an experiment.

    Attributes:
        now: the simulated second of this answer.
        launched: the simulated second of the first launch.
        start: the simulated second of experiment time 0; None while the global barrier is closed.
        launch_to_start: seconds from `launched` to `start`.
        since_start: the experiment time, negative in the buffer before the start.
        failed: the reason if it has failed, otherwise "".
        vm_count: the number of all VMs.
        held: the number of VMs that breaks hold.
        vms: the VMs of this part, in the order of the file.
    """

    now: float
    launched: float | None
    start: float | None
    launch_to_start: float | None
    since_start: float | None
    failed: str
    vm_count: int
    held: int
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


class EntriesOfVm(Struct, frozen=True):
    """Entries of a VM.

    Attributes:
        vm: the name of the VM.
        entries: those of this part, those that have begun first.
    """

    vm: str
    entries: list[TimelineEntry]


def state_of_site(site: Site) -> TimelineState:
    """Return the timelines of a site that runs one experiment; RequestRefusedError if it does not."""
    algorithm = site.settings.choice.algorithm
    found = next((state for state in _states(site) if not state.experiment), None)
    if found is None:
        raise refuse(404, f"the site has no timelines of its own: its algorithm is {algorithm}")
    return found


def state_of_experiment(site: Site, number: int) -> TimelineState:
    """Return the timelines of an experiment; RequestRefusedError if it has none, or they have not begun."""
    found = next((state for state in _states(site) if state.experiment == str(number)), None)
    if found is None:
        raise refuse(404, f"experiment {number} has no timelines, or is not being deployed yet")
    return found


def experiment(
    request: Asking, site: Site, state: TimelineState, wanted: ItemSelection
) -> Response[TimelineExperiment]:
    """Return the times of an experiment, and one part of its VMs."""
    now, launched, start = round(site.inbox.now, 6), state.launched, state.start
    vms, headers = part_of(request, state.vms, wanted, _texts_of_vm)
    found = TimelineExperiment(
        now,
        launched,
        start,
        start - launched if start is not None and launched is not None else None,
        None if start is None else round(now - start, 6),
        state.failed,
        len(state.vms),
        sum(vm.held_by is not None for vm in state.vms),
        vms,
    )
    return Response(found, headers=headers)


def entries(request: Asking, state: TimelineState, vm: str, wanted: ItemSelection) -> Response[list[TimelineEntry]]:
    """Return one part of the entries of a VM, those that have begun first.

    RequestRefusedError if there is no such VM.
    """
    check_vm(state, vm)
    rows, headers = part_of(request, [row for row in state.entries if row.vm == vm], wanted, _texts)
    return Response([TimelineEntry(*row[1:]) for row in rows], headers=headers)


def all_entries(request: Asking, state: TimelineState, wanted: ItemSelection) -> Response[list[EntriesOfVm]]:
    """Return one part of the entries of all VMs, those of a VM together."""
    found: dict[str, list[TimelineEntry]] = {}
    rows, headers = part_of(request, state.entries, wanted, _texts)
    for row in rows:
        found.setdefault(row.vm, []).append(TimelineEntry(*row[1:]))
    return Response([EntriesOfVm(vm, some) for vm, some in found.items()], headers=headers)


def _texts(row: EntryRow) -> tuple[str, Iterable[str]]:
    """Return the outcome of an entry, and the texts in which a caller may search."""
    return row.outcome, (row.vm, row.entry or "", row.kind, row.reason or "")


def _texts_of_vm(vm: Vm) -> tuple[str, Iterable[str]]:
    """Return the state of a VM, and the texts in which a caller may search."""
    return vm.state, (vm.name, vm.held_by or "", vm.next_entry or "", vm.why)


def vm_names(state: TimelineState) -> list[str]:
    """Return the names of all VMs."""
    return [vm.name for vm in state.vms]


def check_vm(state: TimelineState, vm: str) -> None:
    """Raise RequestRefusedError if there is no such VM."""
    if vm not in vm_names(state):
        raise refuse(404, f"there is no VM {vm}")


def _states(site: Site) -> Iterable[TimelineState]:
    found = site.board.snapshot.tables.get(LIVE_TIMELINES)
    return () if found is None else cast(Iterable[TimelineState], found.rows)

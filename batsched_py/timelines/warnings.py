"""Warnings about parts of timelines that are legal but probably mistakes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from batsched_py.text.wording import seconds
from batsched_py.timelines.entries import PauseEntry, Resume, Timelines, VmTimeline
from batsched_py.timelines.kinds import BUILT_IN, KindMaker
from batsched_py.timelines.playback import play


def find_warnings(timelines: Timelines, kinds: Mapping[str, KindMaker] = BUILT_IN) -> list[str]:
    """Return lines about pauses without effect, resumes that never happen, and entries after the end of a lease."""
    lines = [line for vm in timelines.vms for line in _of_vm(timelines, vm)]
    return lines + list(_past_leases(timelines, kinds))


def _of_vm(timelines: Timelines, vm: VmTimeline) -> Iterator[str]:
    if not vm.managed and vm.entries:
        yield f"{vm.name}: is not managed: none of its entries is run"
        return
    for entry in vm.entries:
        if isinstance(entry.action, PauseEntry) and entry.action.duration == 0:
            yield f"{vm.name}: {entry.name}: a duration of 0 has no effect"
        elif isinstance(entry.action, PauseEntry) and entry.action.is_break and _only_resumed_by_itself(timelines, vm):
            own = next((one.name for one in vm.entries if one.key > entry.key and isinstance(one.action, Resume)), None)
            if own is not None:
                yield f"{vm.name}: {entry.name}: it holds {own}, which so never comes; nothing else resumes it"


def _only_resumed_by_itself(timelines: Timelines, vm: VmTimeline) -> bool:
    return not any(
        isinstance(entry.action, Resume) and (entry.action.vms is None or vm.name in entry.action.vms)
        for other in timelines.vms
        if other.managed and other.name != vm.name
        for entry in other.entries
    )


def _past_leases(timelines: Timelines, kinds: Mapping[str, KindMaker]) -> Iterator[str]:
    """Yield entries for which the lease is too short, if no VM is resumed externally (F24)."""
    if all(vm.lease is None for vm in timelines.vms):
        return
    run, _ = play(timelines, kinds=kinds)
    for vm in run.vms.values():
        for record in vm.records.values():
            if record.due is not None and run.start is not None:
                due, end = seconds(record.due), seconds(vm.end - run.start)
                yield f"{vm.name}: {record.entry.name}: would begin at {due} > {end}, the end of its lease"

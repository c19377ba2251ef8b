"""Entries that are added from outside while an experiment runs (F16, F21)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from batsched_py.errors import OptionError, WorkloadError
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.timelines.kinds import Works
from batsched_py.timelines.parsing import parse_entry
from batsched_py.timelines.run import TimelineRun

#: The type of the external event that adds one: the name of a VM in `vm`, and `entry` as in a file of timelines.
ADD_ENTRY: Final = "add_entry"
#: The type of the external event that resumes VMs: a list of names or "all" in `vms`.
RESUME: Final = "resume"


def resume(run: TimelineRun, vms: Sequence[str] | None, now: float) -> None:
    """End the breaks that hold these VMs, or all; OptionError, without a change, if none is held or one is unknown."""
    if not run.resume(vms, now):
        raise OptionError(unheld(vms))


def unheld(vms: Iterable[str] | None) -> str:
    """Return the reason why a resume of these VMs, or all, has no effect."""
    return "no break holds a VM" if vms is None else f"no break holds VM {', '.join(map(shown, vms))}"


def add_entry(run: TimelineRun, works: Works, members: Mapping[str, Any], now: float) -> None:
    """Add the entry described by the members of an event; OptionError, without a change, if they are invalid."""
    vm = members.get("vm")
    if not isinstance(vm, str) or vm not in run.vms:
        raise OptionError(f"VM {shown(vm)}: {unknown(str(vm), run.vms)}")
    known = run.vms[vm].records
    try:
        entry = parse_entry(ADD_ENTRY, members.get("entry"), len(known), list(run.vms), known)
        works.add_entry(vm, entry)
    except WorkloadError as error:
        raise OptionError("; ".join(f"{path}: {rule}" if path else rule for path, rule in error.faults)) from None
    except ValueError as error:
        raise OptionError(str(error)) from None
    run.add(vm, entry, now)

"""Picture of a lease's states, drawn from the table of transitions; `python -m tests.docs.lease_states` writes it."""

from __future__ import annotations

from pathlib import Path

from batsched_py.leases.lifecycle import FINAL, TRANSITIONS
from batsched_py.results.lease_rows import LeaseState
from tests.clone import ROOT
from tests.docs.state_picture import StatePicture

PICTURE = ROOT / "docs" / "lease-states.svg"

#: Where a state is drawn: column and row.
PLACES = {
    LeaseState.REJECTED: (1, 0),
    LeaseState.PREPARING: (4, 0),
    LeaseState.NEW: (0, 1),
    LeaseState.PENDING: (1, 1),
    LeaseState.SCHEDULED: (3, 1),
    LeaseState.READY: (5, 1),
    LeaseState.ACTIVE: (6, 1),
    LeaseState.DONE: (7, 1),
    LeaseState.QUEUED: (3, 2),
    LeaseState.SUSPENDING: (7, 2),
    LeaseState.RESUMED_READY: (3, 3),
    LeaseState.SUSPENDED_QUEUED: (5, 3),
    LeaseState.SUSPENDED_PENDING: (7, 3),
    LeaseState.RESUMING: (3, 4),
    LeaseState.SUSPENDED_SCHEDULED: (5, 4),
    LeaseState.MIGRATING: (7, 4),
}
#: States to which almost every other may change: these are marks at the others, not arrows.
MARKS = {LeaseState.CANCELLED: "C", LeaseState.FAIL: "F"}


def drawing() -> str:
    """Return the picture, as SVG."""
    return StatePicture(TRANSITIONS, PLACES, lambda state: state.label, lambda state: state.code, FINAL, MARKS).draw()


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()

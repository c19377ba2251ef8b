"""Picture of a lease's states, drawn from the table of transitions; `python -m tests.docs.lease_states` writes it."""

from __future__ import annotations

from pathlib import Path

from batsched_py.leases.lifecycle import FINAL, TRANSITIONS
from batsched_py.results.lease_rows import State
from tests.clone import ROOT
from tests.docs.state_picture import StatePicture

PICTURE = ROOT / "docs" / "lease-states.svg"

#: Where a state is drawn: column and row.
PLACES = {
    State.REJECTED: (1, 0),
    State.PREPARING: (4, 0),
    State.NEW: (0, 1),
    State.PENDING: (1, 1),
    State.SCHEDULED: (3, 1),
    State.READY: (5, 1),
    State.ACTIVE: (6, 1),
    State.DONE: (7, 1),
    State.QUEUED: (3, 2),
    State.SUSPENDING: (7, 2),
    State.RESUMED_READY: (3, 3),
    State.SUSPENDED_QUEUED: (5, 3),
    State.SUSPENDED_PENDING: (7, 3),
    State.RESUMING: (3, 4),
    State.SUSPENDED_SCHEDULED: (5, 4),
    State.MIGRATING: (7, 4),
}
#: States to which almost every other may change: these are marks at the others, not arrows.
MARKS = {State.CANCELLED: "C", State.FAIL: "F"}


def drawing() -> str:
    """Return the picture, as SVG."""
    return StatePicture(TRANSITIONS, PLACES, lambda state: state.label, lambda state: state.code, FINAL, MARKS).draw()


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()

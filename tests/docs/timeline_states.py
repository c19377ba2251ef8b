"""Picture of the states of a VM with a timeline; `python -m tests.docs.timeline_states` writes it."""

from __future__ import annotations

from pathlib import Path

from batsched_py.timelines.api import TRANSITIONS, VmState
from tests.clone import ROOT
from tests.docs.state_picture import StatePicture

PICTURE = ROOT / "docs" / "timeline-states.svg"
#: Where a state is drawn: column and row.
PLACES = {
    VmState.UNINITIALIZED: (0, 1),
    VmState.TESTING: (1, 0),
    VmState.CONFIGURING: (2, 1),
    VmState.CONFIGURED: (4, 1),
    VmState.FAILED: (3, 2),
    VmState.NOT_MANAGED: (0, 2),
}


def drawing() -> str:
    """Return the picture, as SVG."""
    final = [state for state, after in TRANSITIONS.items() if not after]
    return StatePicture(TRANSITIONS, PLACES, lambda state: state.value, list(VmState).index, final).draw()


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()

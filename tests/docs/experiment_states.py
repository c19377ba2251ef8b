"""Picture of the states of a managed experiment; `python -m tests.docs.experiment_states` writes it."""

from __future__ import annotations

from pathlib import Path

from batsched_py.experiments.api import WITH_RESERVATION, WITHOUT_RESERVATION, ExperimentState
from tests.clone import ROOT
from tests.docs.state_picture import StatePicture

PICTURE = ROOT / "docs" / "experiment-states.svg"
#: With a reservation or without.
TRANSITIONS = {
    state: WITHOUT_RESERVATION.get(state, frozenset()) | WITH_RESERVATION[state] for state in ExperimentState
}
#: Where a state is drawn: column and row.
PLACES = {
    ExperimentState.READY: (0, 1),
    ExperimentState.DEPLOYABLE: (1, 1),
    ExperimentState.RESERVED: (2, 0),
    ExperimentState.DEPLOYING: (3, 1),
    ExperimentState.DEPLOYED: (4, 1),
    ExperimentState.ENDED: (5, 1),
    ExperimentState.FAILED: (3, 2),
    ExperimentState.DELETED: (5, 2),
}


def drawing() -> str:
    """Return the picture, as SVG."""
    return StatePicture(
        TRANSITIONS,
        PLACES,
        lambda state: state.value,
        list(ExperimentState).index,
        [ExperimentState.DELETED],
        {ExperimentState.DELETED: "d", ExperimentState.FAILED: "f"},
    ).draw()


def write(path: Path = PICTURE) -> None:
    """Draw it anew."""
    path.write_text(drawing())


if __name__ == "__main__":
    write()

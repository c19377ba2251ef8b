"""Views of reservations: immutable snapshots for other threads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

#: The live table that contains them.
LIVE_RESERVATIONS: Final = "live_reservations"


class MachineView(NamedTuple):
    """A reserved machine.

    Attributes:
        id: its id.
        location: its location; None if only its host is determined.
        type: its type of instances.
        host: number of its host, planned or used; None if unknown.
        resource: id of the resource that uses it; None if it is free.
    """

    id: str
    location: str | None
    type: str
    host: int | None
    resource: str | None


class ReservationView(NamedTuple):
    """A reservation; times in simulated seconds.

    Attributes:
        id: its id.
        name, description: texts of the descriptor.
        owner: user who may use it.
        state: PENDING, RUNNING, ENDED, FAILED or TERMINATED.
        requested: time of the request.
        start, end: times of its begin and end, planned or real; None if unknown.
        reason: reason of its failure or early end, or machines that were left out.
        experiment: number of the experiment for which it was made; None for a user's own.
        machines: its machines.
    """

    id: str
    name: str
    description: str
    owner: str
    state: str
    requested: float
    start: float | None
    end: float | None
    reason: str
    experiment: str | None
    machines: Sequence[MachineView]

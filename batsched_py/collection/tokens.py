"""Tokens: proofs that a resource has reserved a block of its time and space (L17 to L19, L35)."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

from batsched_py.model.demand import TaskDemand


class ReservationType(Enum):
    """Kinds of reservations: of the whole resource or of a share of it, for one start or for several.

    Attributes:
        exclusive: whether it excludes other reservations of the resource at that time.
        reusable: whether the token may be used more than once.
    """

    ONE_SHOT_SPACE = ("one-shot-space", True, False)
    REUSABLE_SPACE = ("reusable-space", True, True)
    ONE_SHOT_TIME = ("one-shot-time", False, False)
    REUSABLE_TIME = ("reusable-time", False, True)

    def __init__(self, _: str, exclusive: bool, reusable: bool) -> None:
        self.exclusive, self.reusable = exclusive, reusable


class Request(NamedTuple):
    """Terms of a reservation.

    Attributes:
        holder: name of the requester.
        start, end: seconds; the block is [start, end).
        type: kind of the reservation.
        amount: amount of a shared resource: CPUs of a host, space of a vault.
        time_out: seconds after which an unused token expires.
        user, job_class, origin: source of the request, for the policies of resources; None if unknown.
        task: what a task requests of a host; None for an amount, or a whole resource.
    """

    holder: str
    start: float
    end: float
    type: ReservationType = ReservationType.ONE_SHOT_SPACE
    amount: float = 1.0
    time_out: float = math.inf
    user: str | None = None
    job_class: str | None = None
    origin: str | None = None
    task: TaskDemand | None = None


class Token(NamedTuple):
    """A reservation that was granted.

    Attributes:
        id: unique among the tokens of its resource.
        resource: the name of the resource.
        request: the granted terms.
        created: time of the grant in seconds.
        gpus: the numbers of the GPUs that the host gives to a task.
    """

    id: int
    resource: str
    request: Request
    created: float
    gpus: tuple[int, ...] = ()

    @property
    def expires(self) -> float:
        """The time in seconds at which it expires if it is unused."""
        return self.created + self.request.time_out

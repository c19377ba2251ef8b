"""Rooms of hosts for tasks: how many fit, which GPUs a host gives to one, and where those of a job are (ADR 46)."""

from __future__ import annotations

from collections.abc import Iterable

from batsched_py.collection.tokens import Token
from batsched_py.model.demand import HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom, TaskPlace
from batsched_py.model.job_demand import JobDemand


def fitting(room: HostRoom, wanted: JobDemand) -> int:
    """Return how many tasks of a job fit in a room."""
    room, most = room.copy(), 1 if wanted.spread else wanted.tasks
    for number in range(most):
        if room.lacking(wanted.task):
            return number
        room.take(wanted.task, room.tightest(wanted.task))
    return most


def granted_gpus(capacity: HostCapacity, tokens: Iterable[Token], task: TaskDemand) -> tuple[int, ...] | None:
    """Return the GPUs of one more task on a host with these reservations, which are of tasks; None without room."""
    room = HostRoom(capacity)
    for token in tokens:
        if token.request.task is None:
            return None
        room.take(token.request.task, token.gpus)
    return None if room.lacking(task) else room.tightest(task)


def places_of(tokens: Iterable[tuple[int, Token]]) -> tuple[TaskPlace, ...]:
    """Return the places of a job, from the reservations of its tasks, each with the number of its host."""
    found: dict[int, list[Token]] = {}
    for host, token in tokens:
        found.setdefault(host, []).append(token)
    return tuple(
        TaskPlace(host, tuple(gpu for token in there for gpu in token.gpus), len(there))
        for host, there in sorted(found.items())
    )

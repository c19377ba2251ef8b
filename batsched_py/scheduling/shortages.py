"""Shortages: the reason why the tasks of a job cannot run now, or never."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from batsched_py.bits import bit_runs
from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import HostRoom
from batsched_py.model.job_demand import JobDemand
from batsched_py.state.rooms import Rooms
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: `HostRoom.lacking` for GPUs of another model, and for a host that others use.
_MODELS: Final = "GPUs of an allowed model"
_EMPTY: Final = "an empty host"


def never_fits(rooms: Rooms, wanted: JobDemand) -> str | None:
    """Return the reason why a job can never run, even on the idle machine; None if it can."""
    for name, number in wanted.licences:
        there = rooms.licences.get(name, 0)
        if number > there:
            return f"needs {counted(number, 'licence')} {displayed(name)}, the machine has {there}"
    task, types = wanted.task, rooms.types
    empty = [HostRoom(capacity) for capacity in types]
    if all(room.lacking(task) for room in empty):
        short = Counter(room.lacking(task) for room in empty).most_common(1)[0][0]
        if short == _MODELS:
            models = " or ".join(map(displayed, task.models[:5]))
            return f"needs GPUs of model {models} on one host, and no host with enough else has them"
        largest = max(_free(room, short, task) for room in empty)
        return f"needs {_wanted(task, short)} on one host, the largest has {_shown(largest, short)}"
    fitting = sum(number * most_tasks(capacity, wanted) for capacity, number in types.items())
    if fitting < wanted.tasks:
        return f"has {counted(wanted.tasks, 'task')}, on the idle machine {fitting} fit"
    return None


def most_tasks(capacity: HostCapacity, wanted: JobDemand) -> int:
    """Return how many tasks of a job fit on an empty host."""
    task = wanted.task
    if HostRoom(capacity).lacking(task):
        return 0
    if wanted.spread or task.exclusive:
        return 1
    there = {"cores": capacity.cores, "memory": capacity.memory, **dict(capacity.others)}
    requested = (("cores", task.cores), ("memory", task.memory), *task.others)
    most = [there[name] // amount for name, amount in requested if amount]
    if task.gpus:
        most.append(capacity.gpus * (WHOLE // task.share) // task.gpus)
    return min(most)


def shortage(state: State, wanted: JobDemand) -> str:
    """Return the reason why the tasks of a job do not start now: "needs 2 GPUs on one host: 3 hosts have one free"."""
    rooms = state.rooms
    if rooms is None:
        return ""
    name = rooms.short_licence(wanted)
    if name:
        left = rooms.licences.get(name, 0) - rooms.licensed.get(name, 0)
        needed = counted(dict(wanted.licences)[name], "licence")
        return f"needs {needed} {displayed(name)}: {left} {'is' if left == 1 else 'are'} free"
    usable = state.hosts.all & ~(state.hosts.busy | state.hosts.down)
    there = [rooms.room(host) for low, high in bit_runs(usable) for host in range(low, high + 1)]
    task = wanted.task
    lacking = [room.lacking(task) for room in there]
    if "" in lacking:
        return f"needs room for {counted(wanted.tasks, 'task')}: it is there for fewer"
    if not there:
        return f"needs {_wanted(task, '')} on one host: no host is free"
    short = Counter(lacking).most_common(1)[0][0]
    if short in (_MODELS, _EMPTY):
        return f"needs {short}: there is none with room"
    return f"needs {_wanted(task, short)} on one host: {_left(there, short, task)}"


def _left(rooms: Iterable[HostRoom], short: str, task: TaskDemand) -> str:
    """Return the most that hosts have left: "3 hosts have one free"."""
    left = Counter(_free(room, short, task) for room in rooms)
    most = max(left)
    if not most:
        return "none has any free"
    number = left[most]
    amount = "one" if short == "GPUs" and most == 1 else _shown(most, short)
    return f"{counted(number, 'host')} {'has' if number == 1 else 'have'} {amount} free"


def _free(room: HostRoom, resource: str, task: TaskDemand) -> int:
    """Return the free amount of a resource: of GPUs the number with a sufficient share."""
    if resource == "cores":
        return room.cores
    if resource == "memory":
        return room.memory
    if resource == "GPUs":
        return sum(left >= task.share for left in room.gpus)
    return room.others.get(resource, 0)


def _wanted(task: TaskDemand, resource: str) -> str:
    """Return what a task requests of a resource; of the first that it requests if there is no name."""
    resource = resource or ("GPUs" if task.gpus else "cores" if task.cores else "memory" if task.memory else "")
    if resource == "cores":
        return "1 core" if task.cores == WHOLE else f"{_shown(task.cores, resource)} cores"
    if resource == "memory":
        return f"{task.memory} MiB"
    if resource == "GPUs":
        share = "" if task.share == WHOLE else f" with {_shown(task.share, 'cores')} free"
        return f"{counted(task.gpus, 'GPU')}{share}"
    if resource in dict(task.others):
        return f"{dict(task.others)[resource]} {displayed(resource)}"
    return "room"


def _shown(amount: int, resource: str) -> str:
    """Return an amount in the unit of messages."""
    return f"{amount / WHOLE:g}" if resource == "cores" else f"{amount} MiB" if resource == "memory" else str(amount)

"""Shortages: the reason why the tasks of a job cannot run now, or never."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from batsched_py.model.demand import WHOLE, HostCapacity, TaskDemand
from batsched_py.model.host_room import NOT_EMPTY, OTHER_MODEL, HostRoom
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.future.room_levels import RoomLevels, capacity_classes
from batsched_py.planning.future.room_steps import RoomLayout
from batsched_py.state.rooms import Rooms
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted


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
        if short == OTHER_MODEL:
            models = " or ".join(map(displayed, task.models[:5]))
            return f"needs GPUs of model {models} on one host, and no host with enough else has them"
        largest = max(_free(room, short, task) for room in empty)
        return f"needs {_wanted(task, short)} on one host, the largest has {_shown(largest, short)}"
    fitting = sum(number * most_tasks(capacity, wanted) for capacity, number in types.items())
    if fitting < wanted.tasks:
        return f"has {counted(wanted.tasks, 'task')}, on the idle machine {fitting} fit"
    return None


def most_tasks(capacity: HostCapacity, wanted: JobDemand) -> int:
    """Return how many tasks of a job fit on an empty host, as the selections place them.

    Those that request parts of several GPUs get the tightest ones, so that the same GPUs are filled before others.
    """
    task = wanted.task
    if HostRoom(capacity).lacking(task):
        return 0
    if wanted.spread or task.exclusive:
        return 1
    there = {"cores": capacity.cores, "memory": capacity.memory, **dict(capacity.others)}
    requested = (("cores", task.cores), ("memory", task.memory), *task.others)
    most = [there[name] // amount for name, amount in requested if amount]
    if task.gpus:
        most.append(capacity.gpus // task.gpus * (WHOLE // task.share))
    return min(most)


class Shortages:
    """The reasons why tasks do not start now: "needs 2 GPUs on one host: 3 hosts have one free"."""

    __slots__ = ("_layout", "_levels", "_rooms", "_seen", "_state")

    def __init__(self, state: State) -> None:
        self._state = state
        #: The rooms whose levels these are, and the number of their changes that the levels know.
        self._rooms: Rooms | None = None
        self._seen = 0

    def reason(self, wanted: JobDemand) -> str:
        """Return the reason for the tasks of a job: the resource that stops it on most hosts."""
        rooms = self._state.rooms
        if rooms is None:
            return ""
        name = rooms.short_licence(wanted)
        if name:
            left = rooms.licences.get(name, 0) - rooms.licensed.get(name, 0)
            needed = counted(dict(wanted.licences)[name], "licence")
            return f"needs {needed} {displayed(name)}: {left} {'is' if left == 1 else 'are'} free"
        task, usable, levels = wanted.task, self._state.hosts.usable, self._current(rooms)
        if not usable:
            return f"needs {_wanted(task, '')} on one host: no host is free"
        if levels.fitting(task) & usable:
            return f"needs room for {counted(wanted.tasks, 'task')}: it is there for fewer"
        # Of resources that are short on equally many hosts, the one of the first host counts.
        short, _ = max(levels.lacking(task, usable), key=lambda found: (found[1].bit_count(), -(found[1] & -found[1])))
        if short in (OTHER_MODEL, NOT_EMPTY):
            return f"needs {short}: there is none with room"
        return f"needs {_wanted(task, short)} on one host: {_left(*levels.most(task, short, usable), short)}"

    def _current(self, rooms: Rooms) -> RoomLevels:
        """Return the levels of what is free now."""
        changed: Iterable[int] | None = None
        if self._rooms is rooms:
            changed = rooms.changed_since(self._seen)
        else:
            self._rooms, self._layout = rooms, RoomLayout(rooms.capacities.values())
            classes = capacity_classes(rooms.capacities, self._layout)
            self._levels = RoomLevels(self._layout, rooms.capacities, classes)
        for host in rooms.capacities if changed is None else changed:
            room = rooms.in_use(host)
            self._levels.change(host, None if room is None else self._layout.amounts(room))
        self._seen = rooms.changes
        return self._levels


def _left(most: int, number: int, short: str) -> str:
    """Return the most that hosts have left: "3 hosts have one free"."""
    if not most:
        return "none has any free"
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

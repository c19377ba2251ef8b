"""The member `task_gpus` of a start: the GPUs of each executor, for peers that count the resources of hosts.

Batsim does not know it: it is sent only to a peer whose SIMULATION_BEGINS has the member `demands`, as the embedded
simulator. The hosts of the executors are in the mapping, as for Batsim.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.hostset import HostSet
from batsched_py.model.demand import MOST_GPUS
from batsched_py.model.host_room import Places, TaskPlace
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown

#: The member of an EXECUTE_JOB.
TASK_GPUS: Final = "task_gpus"
#: The member of a SIMULATION_BEGINS.
DEMANDS: Final = "demands"


def read_task_gpus(value: Any, hosts: HostSet, mapping: Mapping[int, int] | None) -> Places:
    """Return the places of tasks: the i-th item of the value has the GPUs of executor i. FieldError."""
    count = len(hosts) if mapping is None else len(mapping)
    if type(value) is not list or len(value) != count:
        raise FieldError(TASK_GPUS, f"must be a list of the GPUs of each of {count} executors, not {shown(value)}")
    numbers = list(hosts)
    tasks: dict[int, list[list[int]]] = {}
    for executor, gpus in enumerate(value):
        if type(gpus) is not list or not all(type(gpu) is int and 0 <= gpu < MOST_GPUS for gpu in gpus):
            rule = f"must be a list of numbers of GPUs below {MOST_GPUS}, not {shown(gpus)}"
            raise FieldError(f"{TASK_GPUS}[{executor}]", rule)
        position = executor if mapping is None else mapping[executor]
        if position >= len(numbers):
            raise FieldError(f"mapping.{executor}", f"must be a position in the allocation, not {position}")
        tasks.setdefault(numbers[position], []).append(gpus)
    return tuple(
        TaskPlace(host, tuple(gpu for gpus in placed for gpu in gpus), len(placed))
        for host, placed in sorted(tasks.items())
    )


def write_task_gpus(places: Places) -> list[list[int]]:
    """Return the GPUs of each executor: those on the first host come first."""
    return [list(gpus) for place in places for gpus in place.by_task()]


def mapping_of(places: Places) -> dict[int, int] | None:
    """Return the position of each executor's host; None if each host has one executor."""
    if all(place.tasks == 1 for place in places):
        return None
    positions = [position for position, place in enumerate(places) for _ in range(place.tasks)]
    return dict(enumerate(positions))

"""Places: the hosts, amounts and GPUs that the tasks of a job had, and the capacities of the machine."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.bits import bits_of
from batsched_py.hostset import HostSet
from batsched_py.model.demand import HostCapacity, NamedAmounts, TaskDemand
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand


class JobPlaces(Struct, frozen=True):
    """The places of a job whose tasks request parts of hosts.

    Attributes:
        task: the amounts that each task requested; exclusive only if it has none, since `whole` says the rest.
        places: where the tasks ran; the numbers of their GPUs are missing if they are unknown, or if `whole`.
        whole: True if the job had its hosts whole: it is exclusive, or the algorithm knows only whole hosts.
        licences: numbers of licences of the machine, by name.
    """

    task: TaskDemand
    places: Places
    whole: bool = False
    licences: NamedAmounts = ()

    @classmethod
    def of(cls, demand: JobDemand, places: Places, *, whole: bool = False) -> JobPlaces:
        """Return the places of a job with a demand; exclusive tasks have whole hosts."""
        task = demand.task
        whole = whole or task.exclusive
        if whole:
            places = tuple(place._replace(gpus=()) for place in places)
        if task.exclusive and task.has_amounts:
            task = replace(task, exclusive=False)
        return cls(task, places, whole, demand.licences)

    @property
    def hosts(self) -> HostSet:
        """The hosts with a task."""
        return HostSet(bits_of(place.host for place in self.places))

    @property
    def tasks(self) -> int:
        """The number of tasks."""
        return sum(place.tasks for place in self.places)


class MachineCapacity(Struct, frozen=True):
    """The resources of the compute hosts, by number, and the licences of the machine, by name."""

    hosts: tuple[HostCapacity, ...]
    licences: NamedAmounts = ()

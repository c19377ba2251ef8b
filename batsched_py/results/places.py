"""Places: the hosts, amounts and GPUs that the tasks of a job had, and the capacities of the machine."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.bits import bits_of
from batsched_py.hostset import HostSet
from batsched_py.model.demand import WHOLE, HostCapacity, NamedAmounts
from batsched_py.model.host_room import Places
from batsched_py.model.job_demand import JobDemand


class TaskAmounts(Struct, frozen=True, kw_only=True):
    """The amounts that a task requested.

    Attributes:
        cores: thousandths of a core.
        memory: MiB.
        gpus: number of GPUs.
        share: thousandths of each of these GPUs.
        models: allowed models of GPUs; empty if any.
        others: amounts of other resources, by name.
    """

    cores: int = 0
    memory: int = 0
    gpus: int = 0
    share: int = WHOLE
    models: tuple[str, ...] = ()
    others: NamedAmounts = ()

    @property
    def gpu_amount(self) -> int:
        """Thousandths of GPUs in total."""
        return self.gpus * self.share


class JobPlaces(Struct, frozen=True):
    """The places of a job whose tasks request parts of hosts.

    Attributes:
        task: the amounts that each task requested.
        places: where the tasks ran; the numbers of their GPUs are missing if they are unknown, or if `whole`.
        whole: True if the job had its hosts whole: it is exclusive, or the algorithm knows only whole hosts.
        licences: numbers of licences of the machine, by name.
    """

    task: TaskAmounts
    places: Places
    whole: bool = False
    licences: NamedAmounts = ()

    @classmethod
    def of(cls, demand: JobDemand, places: Places, *, whole: bool = False) -> JobPlaces:
        """Return the places of a job with a demand; exclusive tasks have whole hosts."""
        task = demand.task
        amounts = TaskAmounts(
            cores=task.cores,
            memory=task.memory,
            gpus=task.gpus,
            share=task.share,
            models=task.models,
            others=task.others,
        )
        whole = whole or task.exclusive
        if whole:
            places = tuple(place._replace(gpus=()) for place in places)
        return cls(amounts, places, whole, demand.licences)

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

"""Nodes of a lease: what each requests on its host, by the capacity in its terms or by the demand of its job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from batsched_py.leases.capacity import Amounts
from batsched_py.leases.site import Site
from batsched_py.leases.task_columns import GPUS, GpuNeed, TaskNeeds
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.model.lease_terms import NodeSet
from batsched_py.model.resources import Quantity
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import shown


class LeaseNodes:
    """The nodes of the jobs of one lease, numbered from 1.

    Attributes:
        demands: the amounts of each node.
    """

    def __init__(self, site: Site, hosts: int | None = None) -> None:
        """Begin without nodes, which may use all hosts, or those with bits in `hosts`."""
        self._site, self._hosts = site, hosts
        self.demands: list[Amounts] = []
        self._gpus: dict[int, GpuNeed] = {}
        self._spread: dict[int, int] = {}
        self._licences: dict[str, int] = {}
        #: Node -> bits of its hosts, only for tasks.
        self._suitable: dict[int, int] = {}
        self._jobs = 0

    def add(self, job: Job, nodes: Sequence[NodeSet]) -> None:
        """Add the nodes of a job, `nodes` as its terms request them.

        FieldError if the site lacks a resource type, or the job requests nodes in two ways.
        """
        self._jobs += 1
        if job.demand is not None and self._site.tasks is not None:
            if nodes:
                raise FieldError("lease.capacity", "must not be there, since the job's demand says what each node has")
            self._add_tasks(job.demand)
            return
        for one in nodes or (NodeSet(job.size, {}),):
            resources, number = self._without_gpus(one.resources)
            amounts = self._site.amounts(resources) if one.resources else self._site.smallest()
            if amounts is None:
                raise FieldError("lease.capacity", f"the site has only {', '.join(self._site.types)}")
            if number and self._site.tasks is not None:
                self._note_gpus(one.number, self._site.tasks.gpu_need(number))
            self.demands += [amounts] * one.number

    @property
    def suitable(self) -> Mapping[int, int] | None:
        """Node -> bits of the hosts that it may use; None if all nodes may use all hosts."""
        if not self._suitable and self._hosts is None:
            return None
        hosts = (1 << len(self._site.capacities)) - 1 if self._hosts is None else self._hosts
        return {node: self._suitable.get(node, hosts) & hosts for node in range(1, len(self.demands) + 1)}

    @property
    def needs(self) -> TaskNeeds | None:
        """The needs of the nodes that are no amounts; None for nodes without tasks and GPUs."""
        if self._site.tasks is None or not (self._gpus or self._suitable):
            return None
        return TaskNeeds(self._gpus, self._spread, self._site.tasks.licences_of(self._licences))

    def _add_tasks(self, wanted: JobDemand) -> None:
        tasks, task = self._site.tasks, wanted.task
        assert tasks is not None  # noqa: S101  # the caller has checked it
        try:
            amounts = self._site.task_amounts(task)
        except ValueError as error:
            raise FieldError("demand", str(error)) from None
        if task.gpus and not task.exclusive:
            self._note_gpus(wanted.tasks, tasks.gpu_need(task.gpus, task.share))
        nodes = range(len(self.demands) + 1, len(self.demands) + wanted.tasks + 1)
        self._suitable.update(dict.fromkeys(nodes, tasks.suitable(task)))
        if wanted.spread:
            self._spread.update(dict.fromkeys(nodes, self._jobs))
        for name, number in wanted.licences:
            self._licences[name] = self._licences.get(name, 0) + number
        self.demands += [amounts] * wanted.tasks

    def _note_gpus(self, count: int, need: GpuNeed) -> None:
        first = len(self.demands) + 1
        self._gpus.update(dict.fromkeys(range(first, first + count), need))

    def _without_gpus(self, resources: Mapping[str, Quantity]) -> tuple[Mapping[str, Quantity], int]:
        """Return the amounts of a node without its GPUs, and their number. FieldError if it is not whole."""
        tasks = self._site.tasks
        if GPUS not in resources or GPUS in self._site.types or tasks is None or not tasks.gpus:
            return resources, 0
        number = resources[GPUS]
        if isinstance(number, tuple) or not float(number).is_integer():
            raise FieldError(f"lease.capacity.{GPUS}", f"must be a whole number of GPUs, not {shown(number)}")
        return {name: amount for name, amount in resources.items() if name != GPUS}, int(number)

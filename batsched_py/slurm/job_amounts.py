"""Amounts of resources that a job asks for or has, by the names of Slurm's trackable resources (TRES)."""

from __future__ import annotations

from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.jobs import RUNNING, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation

#: Beginnings of names after which the name of a resource follows.
GRES, LICENCE = "gres/", "license/"


def is_counted(name: str) -> bool:
    """Is a resource of this name, in small letters, counted here?"""
    return name in {"cpu", "mem", "node"} or any(
        name.startswith(one) and len(name) > len(one) for one in (GRES, LICENCE)
    )


class JobAmounts:
    """The amounts of jobs of one cluster; memory in megabytes."""

    def __init__(self, configuration: SlurmConfiguration) -> None:
        self._configuration = configuration

    def of(self, job: SlurmJob, name: str, allocation: NodeAllocation | None = None) -> int:
        """Return the amount that a job has, or would have with an allocation; without one, what it asks for."""
        if allocation is None and job.state == RUNNING:
            allocation = job.allocation
        request = job.request
        nodes = job.min_nodes if allocation is None else allocation.nodes.bit_count()
        if name == "node":
            return nodes
        if name == "cpu":
            return job.cpus if allocation is None else allocation.cpus(self._configuration.nodes)
        if name == "mem":
            return self._memory(job, allocation, nodes)
        if name.startswith(LICENCE):
            return sum(count for licence, count in request.licences if licence.lower() == name[len(LICENCE) :])
        kind, _, model = name[len(GRES) :].partition(":")
        named = [one for one in request.gres if one.name.lower() == kind]
        if model:  # a request that names no type does not count
            return sum(one.count for one in named if one.type.lower() == model) * nodes
        if allocation is not None:
            return self._gres(allocation, kind)
        gpus = (request.gpus or 0) + (request.gpus_per_task or 0) * job.tasks if kind == "gpu" else 0
        return sum(one.count for one in named) * nodes + gpus

    def _memory(self, job: SlurmJob, allocation: NodeAllocation | None, nodes: int) -> int:
        request = job.request
        if request.mem_per_node == 0 and allocation is not None:  # all of each node
            return sum(self._configuration.nodes[share.node].memory for share in allocation.shares)
        if request.mem_per_node is not None:
            return request.mem_per_node * nodes
        return (request.mem_per_cpu or 0) * (
            job.cpus if allocation is None else allocation.cpus(self._configuration.nodes)
        )

    def _gres(self, allocation: NodeAllocation, kind: str) -> int:
        nodes = self._configuration.nodes
        return sum(
            count
            for share in allocation.shares
            for one, count in zip(nodes[share.node].gres, share.gres, strict=False)
            if one.name.lower() == kind
        )

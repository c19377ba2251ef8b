"""Memory of jobs by their partition: defaults for those that name none, and bounds (DefMem..., MaxMem...).

Source: slurm.conf(5). A job that asks for more with each processor than MaxMemPerCPU gets more processors.
"""

from __future__ import annotations

from dataclasses import replace

from batsched_py.errors import SlurmRefusalError
from batsched_py.slurm.configuration import MemoryBounds, SlurmConfiguration, SlurmPartition
from batsched_py.slurm.submission import BatchRequest

_REFUSAL = "Memory specification can not be satisfied"


def with_memory(request: BatchRequest, partition: SlurmPartition, configuration: SlurmConfiguration) -> BatchRequest:
    """Return a request with the memory that it gets in a partition. SlurmRefusalError if that is too much."""
    bounds = _bounds(partition, configuration)
    if request.mem_per_cpu is None and request.mem_per_node is None:
        request = replace(request, mem_per_cpu=bounds.def_per_cpu, mem_per_node=bounds.def_per_node)
    if bounds.max_per_cpu is not None:
        request = _within_cpus(request, bounds.max_per_cpu)
    if bounds.max_per_node is not None:
        request = _within_nodes(request, bounds.max_per_node)
    return request


def _bounds(partition: SlurmPartition, configuration: SlurmConfiguration) -> MemoryBounds:
    """Return the values of the partition, each pair in place of that of the cluster."""
    own, every = partition.memory, configuration.memory
    default = own if (own.def_per_cpu, own.def_per_node) != (None, None) else every
    most = own if (own.max_per_cpu, own.max_per_node) != (None, None) else every
    return MemoryBounds(default.def_per_cpu, default.def_per_node, most.max_per_cpu, most.max_per_node)


def _within_cpus(request: BatchRequest, most: int) -> BatchRequest:
    """Let each task have as many processors as its memory takes."""
    cpus = request.cpus_per_task
    if request.mem_per_cpu is not None and request.mem_per_cpu > most:
        times = -(-request.mem_per_cpu // most)
        return replace(request, cpus_per_task=cpus * times, mem_per_cpu=-(-request.mem_per_cpu // times))
    if request.mem_per_node:
        each = request.tasks_per_node or -(-(request.tasks or 1) // (request.min_nodes or 1))
        return replace(request, cpus_per_task=max(cpus, -(-request.mem_per_node // (most * each))))
    return request


def _within_nodes(request: BatchRequest, most: int) -> BatchRequest:
    """Let no node have more tasks than their memory allows."""
    if (request.mem_per_node or 0) > most:
        raise SlurmRefusalError(_REFUSAL)
    task = (request.mem_per_cpu or 0) * request.cpus_per_task
    if task > most:
        raise SlurmRefusalError(_REFUSAL)
    if task and request.tasks is not None:
        return replace(request, tasks_per_node=min(request.tasks_per_node or request.tasks, most // task))
    return request

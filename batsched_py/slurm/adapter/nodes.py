"""The hosts of a platform as nodes of a cluster, and allocations of nodes as hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from batsched_py.bits import bits_of
from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.model.demand import WHOLE, HostCapacity
from batsched_py.model.host_capacities import host_capacity, machine_licences
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.job_demand import JobDemand
from batsched_py.scheduling.placed import Placed
from batsched_py.scheduling.view import View
from batsched_py.slurm.configuration import (
    GresCount,
    SchedulerOptions,
    SlurmConfiguration,
    SlurmNode,
    SlurmPartition,
)
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.state.host import Host
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Maximum number of names in a message.
_SHOWN: Final = 3
#: A number of jobs that no queue has.
_ALL: Final = 1 << 40
#: Without a slurm.conf passes come at once and see the whole queue.
IDEAL: Final = SchedulerOptions(batch_sched_delay=0, sched_min_interval=0, default_queue_depth=_ALL)


class ClusterNodes:
    """The nodes of a cluster in their order, and the hosts that they are."""

    def __init__(self, hosts: Sequence[Host]) -> None:
        self._hosts = hosts
        #: Node -> number of its host; and host -> its bit among nodes.
        self._numbers = [host.id for host in hosts]
        self._bits = {host.id: 1 << node for node, host in enumerate(hosts)}
        self._are_equal = self._numbers == list(range(len(hosts)))

    def hosts(self, nodes: int) -> HostSet:
        """Return the hosts of nodes, given as bits."""
        if self._are_equal:
            return HostSet(nodes)
        return HostSet(bits_of(number for node, number in enumerate(self._numbers) if nodes >> node & 1))

    def nodes(self, hosts: HostSet) -> int:
        """Return the nodes of hosts, as bits."""
        if self._are_equal:
            return hosts.bits
        return sum(self._bits.get(host, 0) for host in hosts)

    def placed(self, allocation: NodeAllocation, demand: JobDemand, view: View) -> Placed | None:
        """Return the places of tasks for an allocation, on the lowest GPUs that are free; None if too few are."""
        places = []
        for share in allocation.shares:
            if not share.tasks:
                continue
            host, wanted = self._numbers[share.node], share.tasks * demand.task.gpus
            if demand.task.exclusive:  # it has all of the host
                wanted = len(view.room(host).gpus)
            gpus: tuple[int, ...] = ()
            if wanted:
                gpus = tuple(gpu for gpu, left in enumerate(view.room(host).gpus) if left == WHOLE)[:wanted]
                if len(gpus) < wanted:
                    return None
            places.append(TaskPlace(host, gpus, share.tasks))
        return Placed(tuple(sorted(places)))


def platform_configuration(view: View, *, is_linear: bool) -> tuple[SlurmConfiguration, ClusterNodes]:
    """Return the configuration of a cluster of all hosts in one partition, and its nodes. OptionError."""
    hosts = [view.hosts[number] for number in view.all_hosts]
    capacities = [_capacity(host) for host in hosts]
    nodes = [_node(host, capacity) for host, capacity in zip(hosts, capacities, strict=True)]
    partition = SlurmPartition("all", (1 << len(nodes)) - 1, default=True)
    try:
        licences = machine_licences((host.properties, host.zone_properties) for host in hosts)
    except ValueError as error:
        raise OptionError(f"platform: {error}") from None
    return (
        SlurmConfiguration(
            nodes=tuple(nodes),
            partitions=(partition,),
            scheduler=IDEAL,
            linear=is_linear,
            cr_memory=any(capacity.memory for capacity in capacities),
            licences=tuple(licences.items()),
        ),
        ClusterNodes(hosts),
    )


def match_nodes(configuration: SlurmConfiguration, view: View, file: str) -> ClusterNodes:
    """Return the nodes of a configuration with their hosts, by name; OptionError if platform and file differ."""
    by_name = {host.name: host for host in view.hosts.values()}
    names = {node.name for node in configuration.nodes}
    if absent := [node.name for node in configuration.nodes if node.name not in by_name]:
        raise OptionError(f"option conf: {file}: NodeName: no host of the platform is called {_listed(absent)}")
    if extra := [name for name in by_name if name not in names]:
        raise OptionError(f"option conf: {file}: NodeName: must also describe the platform's {_listed(extra)}")
    return ClusterNodes([by_name[node.name] for node in configuration.nodes])


def check_capacities(configuration: SlurmConfiguration, view: View, file: str) -> None:
    """Check that hosts have what the file says of nodes, once a job requests parts of hosts. OptionError."""
    by_name = {host.name: host for host in view.hosts.values()}
    for node in configuration.nodes:
        capacity = _capacity(by_name[node.name])
        gpus = sum(one.count for one in node.gres if one.name == "gpu")
        pairs: list[tuple[str, int, int]] = [
            ("CPUs", node.cpus, capacity.cores // WHOLE),
            ("GPUs", gpus, capacity.gpus),
        ]
        if configuration.cr_memory:
            pairs.append(("MB of memory", node.memory, capacity.memory))
        for what, wanted, there in pairs:
            if there < wanted:
                place = f"option conf: {file}: node {displayed(node.name)}"
                raise OptionError(f"{place}: has {wanted} {what}, and the platform's host {there}")


def with_types(
    configuration: SlurmConfiguration,
    scheduler: Literal["conf", "builtin", "backfill"],
    select: Literal["conf", "linear", "cons_tres"],
) -> SlurmConfiguration:
    """Return the configuration with another SchedulerType or SelectType, if options say so."""
    backfill = configuration.backfill if scheduler == "conf" else scheduler == "backfill"
    linear = configuration.linear if select == "conf" else select == "linear"
    return replace(configuration, backfill=backfill, linear=linear)


def _capacity(host: Host) -> HostCapacity:
    try:
        return host_capacity(host.properties, host.zone_properties, host.cores)
    except ValueError as error:
        raise OptionError(f"host {displayed(host.name)}: property {error}") from None


def _node(host: Host, capacity: HostCapacity) -> SlurmNode:
    gres = [GresCount("gpu", capacity.model, capacity.gpus)] if capacity.gpus else []
    gres += [GresCount(name, "", count) for name, count in capacity.others]
    return SlurmNode(host.name, cores=max(1, capacity.cores // WHOLE), memory=capacity.memory, gres=tuple(gres))


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(displayed(name) for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {counted(len(names) - _SHOWN, 'other')}"

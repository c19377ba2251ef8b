"""Clusters with a topology in a platform file: the attributes `topology` and `topo_parameters`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from batsched_py.bits import MAX_HOST
from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.cluster import Topology
from batsched_py.model.topologies.dragonfly import Dragonfly
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.torus import Torus
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown
from batsched_py.traces.xml_cluster import PrivateLinks
from batsched_py.traces.xml_element import Element, whole_number
from batsched_py.traces.xml_network import LinkTable

FLAT: Final = "FLAT"
#: Attributes of flat clusters.
_OF_FLAT: Final = ("bb_bw", "bb_lat", "bb_sharing_policy", "router_id")
#: Most dimensions of a torus, and most levels of a fat tree: names of links grow with them.
_DEEPEST: Final = 30


def read_topology(cluster: Element, name: str, fat_hosts: int, limits: Limits) -> Topology:
    """Read a topology; `fat_hosts` is the number of hosts in the fat trees before it. PlatformError."""
    try:
        topology = _READERS[name](cluster.text("topo_parameters", ""), fat_hosts)
        if topology.hosts > limits.hosts:
            raise ValueError(f"makes a platform that {limits.rule('hosts')}")
    except ValueError as error:
        rule = f"{error}, not {shown(cluster.text('topo_parameters', ''))}"
        raise cluster.error("topo_parameters", rule) from None
    for attribute in _OF_FLAT:
        if cluster.xml.get(attribute):
            what = f"attribute {attribute} of element cluster is not obeyed: only flat clusters have it, as in SimGrid"
            cluster.notes.add(what, cluster.name_of())
    return topology


def read_cables(cluster: Element, topology: Topology, links: LinkTable) -> Cables:
    """Read the parameters of the links of a cluster with a topology. PlatformError."""
    private = PrivateLinks.read(cluster)
    if private.limiter_bandwidth and isinstance(topology, FatTree) and topology.switches > topology.hosts:
        rule = f"cannot be with {topology.switches} switches for {topology.hosts} hosts: SimGrid stops at it"
        raise cluster.error("limiter_link", rule)
    prefix = links.reserve(f"{cluster.name()}_topology_", cluster)
    return Cables(
        prefix,
        private.bandwidth,
        private.latency,
        private.is_split,
        private.loopback_bandwidth,
        private.loopback_latency,
        private.limiter_bandwidth,
    )


def _read_torus(text: str, _: int) -> Torus:
    sizes = _numbers(text, "must be the sizes of the dimensions, like 4,4,2")
    if sizes.count(1) > 1:
        raise ValueError("must have at most one dimension of size 1, since SimGrid stops at more")
    return Torus(sizes)


def _read_fat_tree(text: str, before: int) -> FatTree:
    rule = "must be the number of levels, then children, parents and cables of each level, like 2;4,4;1,2;1,2"
    levels, *parts = (_numbers(part, rule) for part in text.split(";"))
    if len(levels) != 1 or [len(part) for part in parts] != [levels[0]] * 3:
        raise ValueError(rule)
    children, parents, parallel = parts
    return FatTree(children, parents, parallel, before)


def _read_dragonfly(text: str, _: int) -> Dragonfly:
    rule = "must be groups, chassis and blades with their cables, and nodes, like 3,4;4,3;5,1;2"
    parts = [_numbers(part, rule) for part in text.split(";")]
    if [len(part) for part in parts] != [2, 2, 2, 1]:
        raise ValueError(rule)
    numbers = [number for part in parts for number in part]
    if numbers[0] > numbers[4]:
        raise ValueError("must not have more groups than blades of a chassis, since SimGrid stops at them")
    return Dragonfly(*numbers)


def _numbers(text: str, rule: str) -> tuple[int, ...]:
    numbers = [whole_number(piece.strip()) for piece in text.split(",")]
    if len(numbers) > _DEEPEST:
        raise ValueError(f"must have at most {_DEEPEST} numbers in a row")
    found = tuple(number for number in numbers if number and number <= MAX_HOST)
    if len(found) < len(numbers):
        raise ValueError(rule)
    return found


#: Value of the attribute `topology` -> reader of the parameters.
_READERS: Final[Mapping[str, Callable[[str, int], Topology]]] = MappingProxyType(
    {"TORUS": _read_torus, "FAT_TREE": _read_fat_tree, "DRAGONFLY": _read_dragonfly}
)
TOPOLOGIES: Final = (FLAT, *_READERS)

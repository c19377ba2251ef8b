"""Clusters with a topology in a platform file: the attributes `topology` and `topo_parameters`."""

from __future__ import annotations

from typing import Final

from batsched_py.model.topologies.cables import Cables
from batsched_py.model.topologies.cluster import Topology
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.parameters import TOPOLOGY_NAMES, read_parameters
from batsched_py.reading.limits import Limits
from batsched_py.text.display import shown
from batsched_py.traces.xml_cluster import PrivateLinks
from batsched_py.traces.xml_element import Element
from batsched_py.traces.xml_network import LinkTable

FLAT: Final = "FLAT"
#: Attributes of flat clusters.
_OF_FLAT: Final = ("bb_bw", "bb_lat", "bb_sharing_policy", "router_id")


def read_topology(cluster: Element, name: str, fat_hosts: int, limits: Limits) -> Topology:
    """Read a topology; `fat_hosts` is the number of hosts in the fat trees before it. PlatformError."""
    try:
        topology = read_parameters(name, cluster.text("topo_parameters", ""), fat_hosts)
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


TOPOLOGIES: Final = (FLAT, *TOPOLOGY_NAMES)

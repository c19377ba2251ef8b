"""The model of a managed experiment: the content of one document, independent of its format (M3, M4, M6, M17)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

#: The type of instances whose capacity is in the document.
CUSTOM: Final = "custom"
_URI: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|/")


class Reference(Struct, frozen=True):
    """A reference to a resource in the description of another one.

    Attributes:
        name: name of a resource of the same experiment; or of an existing one: its name without `@`, or its URI.
        exists: whether the resource exists outside of the experiment.
    """

    name: str
    exists: bool = False

    def __str__(self) -> str:
        return f"@{self.name}" if self.exists and not self.is_uri else self.name

    @property
    def is_uri(self) -> bool:
        """True if the name is a URI, or the path of one."""
        return _URI.match(self.name) is not None


class AddressOf(Struct, frozen=True):
    """The address of a compute in a network, by their names; for a template, the list of its instances' addresses."""

    compute: str
    network: str


class Metric(Struct, frozen=True):
    """A metric sampled in a compute every `rate` seconds by a command."""

    name: str
    command: str
    rate: float


class InstanceType(Struct, frozen=True):
    """The capacity of an instance: CPUs, virtual CPUs, and MB of memory."""

    cpu: float
    vcpu: float
    memory: float


class Compute(Struct, frozen=True):
    """A template of identical machines.

    Attributes:
        name: unique in the experiment.
        description: free text.
        instance_type: name of a type, or the capacity itself.
        locations: locations in which instances are created in turn; empty if `constraint` selects the hosts.
        constraint: query for hosts in the language of constraints; None if `locations` are given.
        count: number of instances.
        host: name of the host on which they are created; None for any.
        cluster: name of the cluster of hosts; None for any.
        storages: attached storages, the image first.
        networks: connected networks.
        contexts: key -> text, or the address of a compute, which must be known before the creation of an instance.
        after: names of resources that are created before.
        metrics: metrics of each instance.
        reserved: ids of reserved resources of the user's own reservation, one for each instance; or empty.
        timeline: entries of each instance's timeline, as `timelines.parsing` reads them; None for none.
    """

    name: str
    description: str = ""
    instance_type: str | InstanceType = "small"
    locations: tuple[str, ...] = ()
    constraint: str | None = None
    count: int = 1
    host: str | None = None
    cluster: str | None = None
    storages: tuple[Reference, ...] = ()
    networks: tuple[Reference, ...] = ()
    contexts: Mapping[str, str | AddressOf] = msgspec.field(default_factory=dict)
    after: tuple[str, ...] = ()
    metrics: tuple[Metric, ...] = ()
    reserved: tuple[str, ...] = ()
    timeline: tuple[Mapping[str, Any], ...] | None = None


class Storage(Struct, frozen=True):
    """A block of `size` MB at a location; a persistent one outlives its experiment."""

    name: str
    location: str
    size: float
    description: str = ""
    persistent: bool = False
    after: tuple[str, ...] = ()


class Network(Struct, frozen=True):
    """A network at a location: its address, and its number of addresses."""

    name: str
    location: str
    description: str = ""
    address: str | None = None
    size: int | None = None
    after: tuple[str, ...] = ()


class SiteLink(Struct, frozen=True):
    """A link of `bandwidth` Mb/s between the networks of two locations."""

    name: str
    endpoints: tuple[str, str]
    bandwidth: float
    description: str = ""
    after: tuple[str, ...] = ()


class Router(Struct, frozen=True):
    """A router of some networks, at a location."""

    name: str
    location: str
    networks: tuple[Reference, ...]
    description: str = ""
    after: tuple[str, ...] = ()


Resource = Compute | Storage | Network | SiteLink | Router
#: Kind of resource -> its name in documents.
KINDS: Final[Mapping[type[Resource], str]] = {
    Compute: "compute",
    Storage: "storage",
    Network: "network",
    SiteLink: "site_link",
    Router: "router",
}


class Experiment(Struct, frozen=True):
    """An experiment as described in its document.

    Attributes:
        name: displayed name, which need not be unique.
        duration: seconds from its deployment, or in its reservation, until it ends.
        description: free text.
        resources: in the order of the document.
        start: second at which it begins; None for as soon as possible.
        reservation: id of the user's own reservation; None for none.
        best_effort_allocation: whether instances that cannot be reserved are deployed without a reservation, or left
            out.
        resource_sets: name -> computes that are reserved together or not at all.
        aggregator: location of the compute that collects metrics, which is one of the resources; None for none.
    """

    name: str
    duration: float
    description: str = ""
    resources: tuple[Resource, ...] = ()
    start: float | None = None
    reservation: str | None = None
    best_effort_allocation: bool = False
    resource_sets: Mapping[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    aggregator: str | None = None


class PlannedResource(Struct, frozen=True):
    """A resource of a deployment order: an instance of a compute, or another resource.

    Attributes:
        name: unique in the deployment order: `Client-2` for the second of several instances of `Client`.
        resource: the resource, or the template of the instance.
        location: location of the creation; None for a site link, and before a constraint has selected one.
        after: names of resources that must be created before.
        addresses: names of instances whose addresses must be known before.
        reserved: id of the user's reserved resource; None for none.
    """

    name: str
    resource: Resource
    location: str | None
    after: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    reserved: str | None = None

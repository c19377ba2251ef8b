"""Requests for leases, and the site that is to serve them: what Haizea's files say, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple

from batsched_py.model.resources import CPU, MEMORY, Resources, check_type, read_resources
from batsched_py.text.display import shown

#: Hosts of logs, and nodes of leases that do not say what they ask for: one CPU, and 1 GB.
WHOLE_HOST: Final[Resources] = {CPU: 100, MEMORY: 1024}


class DiskImage(NamedTuple):
    """An image that the hosts of a lease need: its name, and its size in MB."""

    name: str
    size: float


class NodeSet(NamedTuple):
    """Nodes of a lease, or hosts of a site, that are alike: their number, and what each asks for or has."""

    number: int
    resources: Resources


class LeaseRequest(NamedTuple):
    """A request for a lease; times are in seconds since the workload's start.

    Attributes:
        arrival: when it is submitted.
        duration: how long it is asked for.
        nodes: what it is asked for, one set at least.
        start: when it must start, or may start if it has a deadline; "now" for one that starts at once or never; None
            for one that starts when it can. An absolute time may lie before the workload's start.
        preemptible: it may be stopped for the sake of another.
        real: how long it will really last; None if as long as was asked for.
        deadline: when it must have ended; None for no matter when.
        image: the image that its hosts need; None if nothing is to be prepared.
    """

    arrival: float
    duration: float
    nodes: tuple[NodeSet, ...]
    start: float | Literal["now"] | None = None
    preemptible: bool = True
    real: float | None = None
    deadline: float | None = None
    image: DiskImage | None = None

    @property
    def best_effort(self) -> bool:
        """True if it starts when it can, and ends when it does."""
        return self.start is None and self.deadline is None

    @property
    def size(self) -> int:
        """The number of its nodes."""
        return sum(one.number for one in self.nodes)


class LeaseSite(NamedTuple):
    """The hosts that serve leases, and the types of resources that they may have."""

    types: tuple[str, ...]
    hosts: tuple[NodeSet, ...]

    @property
    def size(self) -> int:
        """The number of its hosts."""
        return sum(one.number for one in self.hosts)


class LeaseTrace(NamedTuple):
    """A file of requests, in its order, and its site.

    Attributes:
        source: the file.
        requests: in its order.
        site: None if it has none.
        name, description: as they are written.
        told: sentences on what stands in it and means nothing.
    """

    source: str
    requests: tuple[LeaseRequest, ...]
    site: LeaseSite | None = None
    name: str = ""
    description: str = ""
    told: tuple[str, ...] = ()


def check_types(types: Mapping[str, object] | tuple[str, ...]) -> None:
    """Raise ValueError unless these are types, and those that every host has are among them."""
    for name in types:
        check_type(name)
    for name in (CPU, MEMORY):
        if name not in types:
            raise ValueError(f"must have {name}")


def read_site(text: str, most: int) -> LeaseSite:
    """Read hosts alike as Haizea spells them, "4 CPU:100 Memory:1024"; ValueError names the rule."""
    number, _, rest = text.strip().replace(",", " ").partition(" ")
    if not (number.isascii() and number.isdecimal() and len(number) <= len(str(most)) and 1 <= int(number) <= most):
        raise ValueError(
            f"must begin with a number of hosts from 1 to {most}, as 4 CPU:100 Memory:1024, not {shown(text)}"
        )
    resources = read_resources(rest)
    check_types(resources)
    return LeaseSite(tuple(resources), (NodeSet(int(number), resources),))


def uniform_site(hosts: int) -> LeaseSite:
    """Return a site of so many hosts of one CPU and 1 GB."""
    return LeaseSite(tuple(WHOLE_HOST), (NodeSet(hosts, WHOLE_HOST),))

"""Requests for leases and the site that serves them: the content of Haizea's files as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal, NamedTuple

from batsched_py.model.lease_terms import DiskImage, NodeSet
from batsched_py.model.resources import CPU, MEMORY, Resources, check_type, read_resources
from batsched_py.text.display import shown
from batsched_py.text.wording import counted

#: Resources of hosts of logs, and default request of nodes of leases: one CPU, and 1 GB.
WHOLE_HOST: Final[Resources] = {CPU: 100, MEMORY: 1024}


class LeaseRequest(NamedTuple):
    """A request for a lease; times are in seconds since the workload's start.

    Attributes:
        arrival: submission time.
        duration: requested duration.
        nodes: requested nodes, at least one set.
        start: start time, or earliest start time if it has a deadline; "now" for an immediate start or a rejection;
            None for best effort. It may precede the workload's start if the file has an absolute time.
        preemptible: whether it may be preempted by another lease.
        real: real duration; None if it equals the requested one.
        deadline: latest end; None if it has no deadline.
        image: the image that its hosts need; None if no preparation is needed.
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
        """True if it has neither a start time nor a deadline."""
        return self.start is None and self.deadline is None

    @property
    def size(self) -> int:
        """The total number of nodes."""
        return sum(one.number for one in self.nodes)


class LeaseSite(NamedTuple):
    """The hosts that serve leases, and the types of resources that they may have."""

    types: tuple[str, ...]
    hosts: tuple[NodeSet, ...]

    @property
    def size(self) -> int:
        """The total number of hosts."""
        return sum(one.number for one in self.hosts)


class LeaseTrace(NamedTuple):
    """The content of a file of requests, and its site.

    Attributes:
        source: the file.
        requests: the requests in the file's order.
        site: the site; None if the file has none.
        name, description: the texts as written.
        notes: a line for each part of the file without effect.
    """

    source: str
    requests: tuple[LeaseRequest, ...]
    site: LeaseSite | None = None
    name: str = ""
    description: str = ""
    notes: tuple[str, ...] = ()


def check_types(types: Mapping[str, object] | tuple[str, ...]) -> None:
    """Raise ValueError for invalid types, or if types that every host has are missing."""
    for name in types:
        check_type(name)
    for name in (CPU, MEMORY):
        if name not in types:
            raise ValueError(f"must have {name}")


def read_site(text: str, most: int) -> LeaseSite:
    """Parse identical hosts in Haizea's notation, "4 CPU:100 Memory:1024"; ValueError names the rule."""
    number, _, rest = text.strip().replace(",", " ").partition(" ")
    if not (number.isascii() and number.isdecimal() and len(number) <= len(str(most)) and 1 <= int(number) <= most):
        raise ValueError(
            f"must begin with a number of hosts from 1 to {most}, as 4 CPU:100 Memory:1024, not {shown(text)}"
        )
    resources = read_resources(rest)
    check_types(resources)
    return LeaseSite(tuple(resources), (NodeSet(int(number), resources),))


def uniform_site(hosts: int) -> LeaseSite:
    """Return a site of hosts with one CPU and 1 GB each."""
    return LeaseSite(tuple(WHOLE_HOST), (NodeSet(hosts, WHOLE_HOST),))


def kinds_of(requests: Iterable[LeaseRequest]) -> list[str]:
    """Return the number of leases of each kind."""
    kinds = Counter(
        "deadline lease"
        if request.deadline is not None
        else "best-effort lease"
        if request.start is None
        else "immediate lease"
        if request.start == "now"
        else "advance reservation"
        for request in requests
    )
    return [counted(number, kind) for kind, number in sorted(kinds.items())]

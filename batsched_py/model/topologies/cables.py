"""Cables of a cluster with a topology: links that are made when a route crosses them."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import Struct

from batsched_py.model.zone import Link

# A fat tree of 80 000 hosts has more links than hosts, and a run crosses few of them. A link is therefore made for each
# route that crosses it, with a name by which all of these are the same; routes are kept where they are used often.


class Cables(Struct, frozen=True):
    """The parameters of all links of one cluster: bandwidths in bytes per second, latencies in seconds.

    Attributes:
        prefix: begin of the names of links, which no other link has.
        bandwidth, latency: of a cable.
        splits: True if a cable has a link for each direction; False if both share one.
        loopback_bandwidth, loopback_latency: of the link from a host to itself; a bandwidth of 0 means none.
        limiter_bandwidth: of the link that all traffic through a host or switch crosses; 0 means none.
    """

    prefix: str
    bandwidth: float
    latency: float
    splits: bool = True
    loopback_bandwidth: float = 0.0
    loopback_latency: float = 0.0
    limiter_bandwidth: float = 0.0

    def cable(self, name: str, *, up: bool, count: int = 1) -> Link:
        """Return the link of a cable in one direction; `count` cables side by side are one link."""
        way = ("_UP" if up else "_DOWN") if self.splits else ""
        return Link(f"{self.prefix}{name}{way}", min(self.bandwidth * count, sys.float_info.max), self.latency)

    def limiter(self, node: str) -> Iterator[Link]:
        """Yield the limiter of a host or switch, if there are limiters."""
        if self.limiter_bandwidth:
            yield Link(f"{self.prefix}{node}_limiter", self.limiter_bandwidth, 0.0)

    def loopback(self, host: int) -> tuple[Link, ...]:
        """Return the loopback of the host in this position, if there are loopbacks."""
        if not self.loopback_bandwidth:
            return ()
        name = f"{self.prefix}{host}_loopback"
        return (Link(name, self.loopback_bandwidth, self.loopback_latency, shared=False),)

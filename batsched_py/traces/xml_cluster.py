"""Groups of identical hosts in a platform file (`cluster`, `cabinet`, `peer`), and the private links of their hosts."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.bits import MAX_HOST
from batsched_py.model.zone import Link, Spoke
from batsched_py.reading.limits import Limits
from batsched_py.traces.quantity import BANDWIDTH, TIME
from batsched_py.traces.xml_element import Element, whole_number
from batsched_py.traces.xml_network import DUPLEX, SHARING, LinkTable


class PrivateLinks(Struct, frozen=True):
    """The private links of each host of a group: bandwidths in bytes per second, latencies in seconds.

    A limiter of 0 bytes per second, or a loopback of 0 bytes per second, means that there is none.
    """

    bandwidth: float
    latency: float
    policy: str
    loopback_bandwidth: float
    loopback_latency: float
    limiter_bandwidth: float

    @classmethod
    def read(cls, group: Element) -> PrivateLinks:
        """Read the attributes of a `cluster` or `cabinet`; SPLITDUPLEX by default, FATPIPE is SHARED (SimGrid)."""
        loopback = group.optional("loopback_bw", BANDWIDTH), group.optional("loopback_lat", TIME)
        if loopback[1] and not loopback[0]:  # SimGrid creates a link without traffic
            raise group.error("loopback_bw", "must be greater than 0 where loopback_lat is")
        policy = group.choice("sharing_policy", SHARING, "SPLITDUPLEX")
        if policy == "FATPIPE":
            what = f"sharing_policy FATPIPE of element {group.tag} is not obeyed: links are SHARED, as in SimGrid"
            group.notes.add(what, group.name_of())
        return cls(
            group.positive("bw", BANDWIDTH),
            group.quantity("lat", TIME),
            "SHARED" if policy == "FATPIPE" else policy,
            *loopback,
            group.optional("limiter_link", BANDWIDTH),
        )

    @property
    def is_split(self) -> bool:
        """True if there is a link for each direction."""
        return self.policy in DUPLEX

    def spoke(self, name: str, links: LinkTable, group: Element) -> Spoke:
        """Add the private links of one host to the network, under `name` with SimGrid's suffixes."""
        up, down = links.add_ways(name, self.bandwidth, self.latency, self.policy, group)
        loopback: tuple[Link, ...] = ()
        if self.loopback_bandwidth:
            link = Link(f"{name}_loopback", self.loopback_bandwidth, self.loopback_latency, shared=False)
            loopback = (links.add(link, group),)
        limiter: tuple[Link, ...] = ()
        if self.limiter_bandwidth:
            limiter = (links.add(Link(f"{name}_limiter", self.limiter_bandwidth, 0.0), group),)
        return Spoke((*limiter, up), (down, *limiter), loopback)


def read_backbone(cluster: Element, links: LinkTable) -> tuple[Link, ...]:
    """Read the backbone of a `cluster` with the attribute `bb_bw`.

    Without bandwidth there is none; with a latency alone SimGrid creates one without traffic.
    """
    bandwidth, latency = cluster.optional("bb_bw", BANDWIDTH), cluster.optional("bb_lat", TIME)
    shared = cluster.choice("bb_sharing_policy", ("SHARED", "FATPIPE"), "SHARED") == "SHARED"
    if latency and not bandwidth:
        raise cluster.error("bb_bw", "must be greater than 0 where bb_lat is")
    if not bandwidth:
        if not shared:
            what = "attribute bb_sharing_policy of element cluster is not obeyed: without bb_bw there is no backbone"
            cluster.notes.add(what, cluster.name_of())
        return ()
    return (links.add(Link(f"{cluster.name()}_backbone", bandwidth, latency, shared), cluster),)


def read_peer_spoke(peer: Element, links: LinkTable) -> Spoke:
    """Read the links of a `peer`, one out and one in. Their latency is 0: the coordinates determine latencies."""
    up = Link(f"link_{peer.name()}_UP", peer.positive("bw_out", BANDWIDTH), 0.0)
    down = Link(f"link_{peer.name()}_DOWN", peer.positive("bw_in", BANDWIDTH), 0.0)
    return Spoke((links.add(up, peer),), (links.add(down, peer),))


def read_radical(group: Element, before: int, limits: Limits) -> list[int]:
    """Read the numbers of the attribute `radical` ("0-31,40"), in that order.

    PlatformError if these hosts and the `before` previous ones exceed the limit; the check precedes the creation of
    any host.
    """
    intervals: list[tuple[int, int]] = []
    count = 0
    for piece in group.text("radical").split(","):
        low, dash, high = piece.strip().partition("-")
        first, last = whole_number(low), whole_number(high if dash else low)
        if first is None or last is None:
            raise group.error("radical", f"must be numbers and intervals like 0-31,40, not {piece!r}")
        if not first <= last <= MAX_HOST:
            raise group.error("radical", f"must have intervals that ascend, up to {MAX_HOST}, not {piece!r}")
        intervals.append((first, last))
        count += last - first + 1
    if before + count > limits.hosts:
        raise group.error("radical", f"makes {before + count} hosts of the platform, which {limits.rule('hosts')}")
    return [number for first, last in intervals for number in range(first, last + 1)]

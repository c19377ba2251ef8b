"""The network of a platform file: links, and the routes that zones declare with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from batsched_py.model.zone import Link, Segment
from batsched_py.text.display import shown
from batsched_py.traces.quantity import BANDWIDTH, TIME
from batsched_py.traces.simgrid_dtd import BYPASSES
from batsched_py.traces.xml_element import Element

#: FULLDUPLEX is the former name of SPLITDUPLEX.
DUPLEX = ("SPLITDUPLEX", "FULLDUPLEX")
SHARING = ("SHARED", *DUPLEX, "FATPIPE")
_ZONE_ROUTES = ("zoneRoute", "ASroute")
ROUTES = ("route", *_ZONE_ROUTES)
_HOST_ROUTES = ("route", "bypassRoute")
_OPPOSITE = {"UP": "DOWN", "DOWN": "UP", "NONE": "NONE"}

#: (a point, the name of a gateway inside it) -> None, or the broken rule.
GatewayRule = Callable[[str, str], str | None]
#: The ends of a bypass -> True if they meet in the zone that declares it.
InsideRule = Callable[[str, str], bool]
#: (source, destination) -> segment.
Table = dict[tuple[str, str], Segment]


class LinkTable:
    """The links of one platform file by name, and a reader of the elements that define or reference them."""

    def __init__(self) -> None:
        #: name -> link; the halves of a SPLITDUPLEX link, never the link itself.
        self._links: dict[str, Link] = {}
        #: names of the SPLITDUPLEX links, each stored as its two halves.
        self._split: set[str] = set()
        #: Prefixes of names of the links that clusters with a topology make.
        self._reserved: tuple[str, ...] = ()

    def reserve(self, prefix: str, element: Element) -> str:
        """Return a prefix of names that no link of the file has, before or after; PlatformError if one has it."""
        for name in (*self._links, *self._split):
            if name.startswith(prefix):
                raise element.error("id", f"link {name!r} has a name of the cluster's own links")
        self._reserved = (*self._reserved, prefix)
        return prefix

    def add(self, link: Link, element: Element) -> Link:
        """Add a link; PlatformError if the name is in use."""
        if link.name in self._links or link.name in self._split:
            raise element.error("id", f"link {link.name!r} is defined twice")
        if link.name.startswith(self._reserved):
            raise element.error("id", f"link {link.name!r} has a name of the links of a cluster with a topology")
        self._links[link.name] = link
        return link

    def add_ways(self, name: str, bandwidth: float, latency: float, policy: str, element: Element) -> tuple[Link, Link]:
        """Add a link, and return its directions up and down: the same link, or the halves of a SPLITDUPLEX one."""
        if policy not in DUPLEX:
            link = self.add(Link(name, bandwidth, latency, shared=policy == "SHARED"), element)
            return link, link
        if name in self._links or name in self._split:
            raise element.error("id", f"link {name!r} is defined twice")
        self._split.add(name)
        up, down = (Link(f"{name}_{way}", bandwidth, latency) for way in ("UP", "DOWN"))
        return self.add(up, element), self.add(down, element)

    def read_link(self, element: Element) -> None:
        """Add the link of a `link` element; by default its `latency` is 0 and it is SHARED."""
        name = element.name()
        bandwidth, latency = element.positive("bandwidth", BANDWIDTH), element.quantity("latency", TIME, "0")
        self.add_ways(name, bandwidth, latency, element.choice("sharing_policy", SHARING, "SHARED"), element)

    def link(self, element: Element, attribute: str = "id", direction: str = "NONE") -> Link:
        """Return the link (or half of one) that the element references; PlatformError if there is none."""
        name = element.text(attribute)
        if name in self._split and direction == "NONE":
            raise element.error(attribute, f"link {name!r} is SPLITDUPLEX: say which direction, UP or DOWN")
        full_name = f"{name}_{direction}" if name in self._split else name
        if full_name not in self._links:
            raise element.error(attribute, f"names link {name!r}, which is not defined before")
        return self._links[full_name]

    def halves(self, name: str) -> tuple[str, ...]:
        """Return the names of the links that a name stands for: two for a SPLITDUPLEX link."""
        return (f"{name}_UP", f"{name}_DOWN") if name in self._split else (name,)

    def __contains__(self, name: object) -> bool:
        """Return True if there is a link of this name."""
        return name in self._links or name in self._split

    def read_routes(self, zone: Element, points: set[str], gateway_rule: GatewayRule) -> Table:
        """Return (source, destination) -> segment, for each route of a zone, and for the reverse one if symmetrical."""
        table: Table = {}
        for element in zone.children(*ROUTES):
            ends = element.text("src"), element.text("dst")
            for attribute, point in zip(("src", "dst"), ends, strict=True):
                if point not in points:
                    raise element.error(attribute, f"names {point!r}, which is not a point of zone {zone.name()!r}")
            if ends in table:
                raise element.error("", "is defined twice (a route is symmetrical unless it says otherwise)")
            for way, segment in self._ways(element, ends, gateway_rule):
                if way in table:
                    rule = f"must be NO: the route from {shown(way[0])} to {shown(way[1])} is defined before"
                    raise element.error("symmetrical", rule)
                table[way] = segment
        return table

    def read_bypasses(self, zone: Element, inside: InsideRule, gateway_rule: GatewayRule) -> Table:
        """Return the bypasses of a zone; add notes on those between ends that do not meet there, which do nothing."""
        table: Table = {}
        for element in zone.children(*BYPASSES):
            ends = element.text("src"), element.text("dst")
            if ends in table:
                raise element.error("", "is defined twice")
            ((_, segment),) = self._ways(element, ends, gateway_rule)
            if inside(*ends):
                table[ends] = segment
            else:
                what = f"element {element.tag} is not obeyed: its ends do not meet in the zone that declares it"
                element.notes.add(f"{what}, as in SimGrid", element.name_of())
        return table

    def _ways(
        self, element: Element, ends: tuple[str, str], gateway_rule: GatewayRule
    ) -> Iterator[tuple[tuple[str, str], Segment]]:
        entry, leave = ends
        if element.tag not in _HOST_ROUTES:
            entry, leave = element.text("gw_src"), element.text("gw_dst")
            for attribute, point, gateway in (("gw_src", ends[0], entry), ("gw_dst", ends[1], leave)):
                if rule := gateway_rule(point, gateway):
                    raise element.error(attribute, rule)
        crossed = [(ctn, _direction(ctn)) for ctn in element.children("link_ctn")]
        yield ends, Segment(tuple(self.link(ctn, "id", way) for ctn, way in crossed), entry, leave)
        if element.tag in BYPASSES or ends[0] == ends[1]:
            return
        if element.choice("symmetrical", ("YES", "yes", "NO", "no"), "YES").upper() == "YES":
            back = tuple(self.link(ctn, "id", _OPPOSITE[way]) for ctn, way in reversed(crossed))
            yield ends[::-1], Segment(back, leave, entry)


def _direction(ctn: Element) -> str:
    return ctn.choice("direction", tuple(_OPPOSITE), "NONE")

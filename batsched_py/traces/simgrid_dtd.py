"""The elements of SimGrid's platform format: their valid places and attributes, and whether they are obeyed.

Source: the DTD of SimGrid 3.32 to 4.0, which SimGrid's reader enforces: it stops at unknown elements and attributes,
and at misplaced ones. No element or attribute is ignored silently: each is obeyed, reported in a line, or refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from batsched_py.reading.members import Members

#: Groups of elements, in this order; within each group, any number in any order.
Contents = tuple[frozenset[str], ...]


class ElementRule(Struct, frozen=True):
    """The rules of one element.

    Attributes:
        attributes: known attributes; others are refused, as by SimGrid.
        required: attributes without which SimGrid stops.
        contents: alternatives for the child elements; () for none.
        ignored: reason why the element has no effect here, and SimGrid's behaviour; "" if it is obeyed.
        refused: reason why SimGrid stops at the element in any platform; "" if it does not.
        ignored_inside: child elements that have no effect here -> reason.
        has_text: whether the element may contain text.
    """

    attributes: Members
    required: frozenset[str] = frozenset()
    contents: tuple[Contents, ...] = ()
    ignored: str = ""
    refused: str = ""
    ignored_inside: Mapping[str, str] = MappingProxyType({})
    has_text: bool = False

    @property
    def is_plain(self) -> bool:
        """True if the element itself is neither refused nor reported."""
        return not (self.ignored or self.refused)


_HOST_FILES: Final = ("speed_file", "availability_file", "state_file")
_REMOVED: Final = "was removed from SimGrid, which stops at it"

ZONES: Final = ("zone", "AS")
BYPASSES: Final = ("bypassRoute", "bypassZoneRoute", "bypassASroute")
#: Attributes that name files with changes over time.
FILES: Final = ("speed_file", "availability_file", "state_file", "bandwidth_file", "latency_file")

_TRACES: Final = frozenset({"trace", "trace_connect"})
_PARTS: Final = frozenset({"include", "cluster", "cabinet", "peer", *ZONES}) | _TRACES
_ZONE_CONTENTS: Final = (
    # hosts ...
    (
        frozenset({"prop"}),
        frozenset({"include", "storage_type", "storage", "host", "cabinet", "router", "link", "backbone", "host_link"})
        | _TRACES,
        frozenset({"route", "bypassRoute"}) | _TRACES,
    ),
    # ... or other zones
    (
        frozenset({"prop"}),
        _PARTS | {"link", "backbone"},
        frozenset({"zoneRoute", "ASroute", "bypassASroute", "bypassZoneRoute"}) | _TRACES,
    ),
)
_ONLY_PROPS: Final = ((frozenset({"prop"}),),)
_ONLY_LINKS: Final = ((frozenset({"link_ctn"}),),)


def _attributes(
    tag: str, *obeyed: str, explained: Mapping[str, str] = MappingProxyType({}), required: tuple[str, ...] = ()
) -> Members:
    return Members(f"element {tag}", frozenset({*required, *obeyed}), explained, word="attribute")


def _rule(
    tag: str,
    *obeyed: str,
    required: tuple[str, ...] = (),
    explained: Mapping[str, str] = MappingProxyType({}),
    contents: tuple[Contents, ...] = (),
    ignored: str = "",
    refused: str = "",
    ignored_inside: Mapping[str, str] = MappingProxyType({}),
    has_text: bool = False,
) -> tuple[str, ElementRule]:
    members = _attributes(tag, *obeyed, explained=explained, required=required)
    return tag, ElementRule(members, frozenset(required), contents, ignored, refused, ignored_inside, has_text)


_GATEWAYS: Final = ("src", "dst", "gw_src", "gw_dst")

#: Element -> its rules.
ELEMENTS: Final[Mapping[str, ElementRule]] = dict(
    (
        _rule(
            "platform",
            required=("version",),
            contents=((frozenset({"config", "random"}), _PARTS, frozenset({"process", "actor"})),),
        ),
        _rule("config", "id", contents=_ONLY_PROPS),
        _rule("prop", required=("id", "value")),
        *(_rule(tag, required=("id", "routing"), contents=_ZONE_CONTENTS) for tag in ZONES),
        _rule(
            "host",
            *("core", "pstate", "coordinates", *_HOST_FILES),
            required=("id", "speed"),
            contents=((frozenset({"disk", "prop", "mount"}),),),
        ),
        _rule(
            "cluster",
            *("core", "sharing_policy", "topology", "bb_bw", "bb_lat", "bb_sharing_policy", "router_id"),
            *("limiter_link", "loopback_bw", "loopback_lat", "topo_parameters"),
            required=("id", "prefix", "suffix", "radical", "speed", "bw", "lat"),
            contents=_ONLY_PROPS,
        ),
        _rule("cabinet", required=("id", "prefix", "suffix", "radical", "speed", "bw", "lat")),
        _rule(
            "peer",
            *("coordinates", *_HOST_FILES),
            required=("id", "speed", "bw_in", "bw_out"),
            explained={"lat": "latencies are distances of coordinates, as in SimGrid, which ignores it"},
        ),
        _rule("router", "coordinates", required=("id",)),
        _rule("backbone", required=("id", "bandwidth", "latency")),
        _rule("host_link", required=("id", "up", "down")),
        _rule(
            "link",
            *("latency", "sharing_policy", "bandwidth_file", "latency_file", "state_file"),
            required=("id", "bandwidth"),
            contents=_ONLY_PROPS,
            ignored_inside={"prop": "properties of links are for plug-ins of SimGrid that Batsim does not use"},
        ),
        _rule("link_ctn", "direction", required=("id",)),
        _rule("route", "symmetrical", required=("src", "dst"), contents=_ONLY_LINKS),
        *(_rule(tag, "symmetrical", required=_GATEWAYS, contents=_ONLY_LINKS) for tag in ("zoneRoute", "ASroute")),
        _rule("bypassRoute", required=("src", "dst"), contents=_ONLY_LINKS),
        *(_rule(tag, required=_GATEWAYS, contents=_ONLY_LINKS) for tag in BYPASSES[1:]),
        _rule(
            "trace",
            "file",
            required=("id", "periodicity"),
            has_text=True,
        ),
        _rule(
            "trace_connect",
            "kind",
            required=("trace", "element"),
        ),
        _rule("disk", "id", required=("read_bw", "write_bw"), contents=_ONLY_PROPS, ignored="Batsim uses no disks"),
        _rule(
            "random",
            *("seed", "radical", "generator"),
            required=("id", "min", "max", "mean", "std_deviation"),
            ignored="it does nothing in SimGrid either",
        ),
        _rule("include", refused=f"{_REMOVED}: write the elements of the file in its place"),
        *(
            _rule(tag, refused=f"{_REMOVED}: use a host of role storage")
            for tag in ("storage_type", "storage", "mount")
        ),
        *(
            _rule(tag, refused="starts a function of a program of the user, which Batsim does not have: SimGrid stops")
            for tag in ("actor", "process")
        ),
    )
)


def follow(positions: Mapping[int, int], contents: tuple[Contents, ...], tag: str) -> dict[int, int]:
    """Return the positions after this element: alternative -> group; {} if the element is not allowed there."""
    after = {}
    for alternative, group in positions.items():
        groups = contents[alternative]
        found = next((number for number in range(group, len(groups)) if tag in groups[number]), None)
        if found is not None:
            after[alternative] = found
    return after

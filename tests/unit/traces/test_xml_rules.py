"""Elements and attributes of platform files: each is obeyed, told or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from batsched_py.model.platform import Platform
from batsched_py.traces.simgrid_dtd import ELEMENTS
from batsched_py.traces.simgrid_xml import read_platform

CLUSTER = '<cluster id="c" prefix="n" suffix="" radical="0-1" speed="1f" bw="1Bps" lat="0"{}/>'
CABINET = '<cabinet id="c" prefix="n" suffix="" radical="0-1" speed="1f" bw="1Bps" lat="0"{}/>'
HOSTS = '<host id="a" speed="2f,1f"/><host id="b" speed="1f"/>'
LINK = '<link id="l" bandwidth="1Bps"/>'
ROUTE = '<route src="a" dst="b"{}><link_ctn id="l"/></route>'
TRACE = '<trace id="t" periodicity="10"{}>0 1\n5 0.5\n</trace>'


def zone(inside: str, routing: str = "Full") -> str:
    """A zone of these elements."""
    return f'<zone id="z" routing="{routing}">{inside}</zone>'


def two_zones(route: str) -> str:
    """Two zones, a link, and a route between them."""
    zones = "".join(f'<zone id="{z}" routing="Full"><host id="{h}" speed="1f"/></zone>' for z, h in ("pa", "qb"))
    return f'<zone id="top" routing="Full">{zones}{LINK}{route}</zone>'


#: Element -> a platform in which it may have more attributes, where {} stands.
PLACES = {
    "platform": f'<platform version="4.1"{{}}>{zone(HOSTS)}</platform>',
    "config": f'<config{{}}><prop id="tracing" value="no"/></config>{zone(HOSTS)}',
    "prop": zone('<host id="a" speed="1f"><prop id="x" value="1"{}/></host>'),
    "zone": f'<zone id="z" routing="Full"{{}}>{HOSTS}</zone>',
    "AS": f'<AS id="z" routing="Full"{{}}>{HOSTS}</AS>',
    "host": zone('<host id="a" speed="2f,1f"{}/>'),
    "cluster": CLUSTER,
    "cabinet": zone(CABINET, "Cluster"),
    "peer": zone('<peer id="a" speed="1f" bw_in="1Bps" bw_out="1Bps"{}/>', "Vivaldi"),
    "router": zone(f'{HOSTS}<router id="r"{{}}/>'),
    "backbone": zone(f'{HOSTS}<backbone id="bb" bandwidth="1Bps" latency="0"{{}}/>', "Cluster"),
    "host_link": zone(f'{HOSTS}{LINK}<host_link id="a" up="l" down="l"{{}}/>', "Cluster"),
    "link": zone(f'{HOSTS}<link id="l" bandwidth="1Bps"{{}}/>'),
    "link_ctn": zone(f'{HOSTS}{LINK}<route src="a" dst="b"><link_ctn id="l"{{}}/></route>'),
    "route": zone(HOSTS + LINK + ROUTE),
    "bypassRoute": zone(f'{HOSTS}{LINK}<bypassRoute src="a" dst="b"{{}}><link_ctn id="l"/></bypassRoute>'),
    "trace": zone(HOSTS + TRACE),
    "trace_connect": zone(f'{HOSTS}{TRACE.format("")}<trace_connect trace="t" element="a"{{}}/>'),
    "disk": zone('<host id="a" speed="1f"><disk id="d" read_bw="1Bps" write_bw="1Bps"{}/></host>'),
    "random": f'<random id="r" min="0" max="1" mean="0" std_deviation="1"{{}}/>{zone(HOSTS)}',
    **{
        tag: two_zones(f'<{tag} src="p" dst="q" gw_src="a" gw_dst="b"{{}}><link_ctn id="l"/></{tag}>')
        for tag in ("zoneRoute", "ASroute", "bypassZoneRoute", "bypassASroute")
    },
}
#: Elements for which SimGrid stops -> where they would stand.
REMOVED = {
    "include": f'<include file="x.xml"/>{zone(HOSTS)}',
    "storage_type": zone(f'<storage_type id="s" size="1"/>{HOSTS}'),
    "storage": zone(f'<storage id="s" typeId="t" attach="a"/>{HOSTS}'),
    "mount": zone('<host id="a" speed="1f"><mount storageId="s" name="/"/></host>'),
    "actor": f'{zone(HOSTS)}<actor host="a" function="f"/>',
    "process": f'{zone(HOSTS)}<process host="a" function="f"/>',
}
BYPASS = '<bypassRoute src="{}" dst="{}"/>'
#: Attribute that is not obeyed -> a value other than the default.
VALUES = {"lat": "1s"}


def read(folder: Path, inside: str) -> Platform:
    """Read a platform of these elements; a file of changes lies beside it."""
    (folder / "changes.txt").write_text("0 1\n")
    path = folder / "platform.xml"
    path.write_text(inside if inside.startswith("<platform") else f'<platform version="4.1">{inside}</platform>')
    return read_platform(path)


def test_there_is_a_place_for_each_element() -> None:
    """A new element of the table needs one, too."""
    assert PLACES.keys() | REMOVED.keys() == ELEMENTS.keys()


@pytest.mark.parametrize("tag", PLACES)
def test_an_unknown_attribute_of_any_element_is_refused(tmp_path: Path, tag: str) -> None:
    """SimGrid stops at it: a slip of the finger would silently have no effect."""
    with pytest.raises(PlatformError, match=f"{tag}[^:]*\\.colour: unknown; .*here are: "):
        read(tmp_path, PLACES[tag].format(' colour="red"'))


@pytest.mark.parametrize("tag", PLACES)
def test_each_element_is_obeyed_or_told(tmp_path: Path, tag: str) -> None:
    """The line tells what SimGrid does with it."""
    notes = read(tmp_path, PLACES[tag].format("")).notes
    told = [note for note in notes if f"element {tag} is not obeyed: {ELEMENTS[tag].ignored}" in note]
    assert len(told) == bool(ELEMENTS[tag].ignored)


@pytest.mark.parametrize(
    ("tag", "attribute"), [(tag, name) for tag, rule in ELEMENTS.items() for name in rule.attributes.explained]
)
def test_each_attribute_that_is_not_obeyed_is_told(tmp_path: Path, tag: str, attribute: str) -> None:
    """The line has the reason of the table."""
    notes = read(tmp_path, PLACES[tag].format(f' {attribute}="{VALUES[attribute]}"')).notes
    line = f"attribute {attribute} of element {tag} is not obeyed: {ELEMENTS[tag].attributes.explained[attribute]}"
    assert any(line in note for note in notes)


@pytest.mark.parametrize("tag", PLACES)
def test_an_element_without_a_required_attribute_is_refused(tmp_path: Path, tag: str) -> None:
    """Each of them in turn."""
    for attribute in ELEMENTS[tag].required:
        written = PLACES[tag].format("")
        begin = written.index(f' {attribute}="', written.index(f"<{tag} "))
        end = written.index('"', written.index('"', begin) + 1) + 1
        with pytest.raises(PlatformError, match=rf"{attribute}: is missing"):
            read(tmp_path, written[:begin] + written[end:])


@pytest.mark.parametrize("tag", REMOVED)
def test_what_stops_simgrid_is_refused(tmp_path: Path, tag: str) -> None:
    """Hosts of an included file would be lost without a word."""
    with pytest.raises(PlatformError, match=f"{tag}[^:]*: {ELEMENTS[tag].refused}"):
        read(tmp_path, REMOVED[tag])


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (zone(f'{HOSTS}<hst id="c"/>'), r"hst c: is not an element of a SimGrid platform; did you mean host\?"),
        (zone(f"{HOSTS}<xyzzy/>"), r"xyzzy: is not an element of a SimGrid platform$"),
        (zone(HOSTS + CLUSTER.format("")), "cluster c: must not follow host in a zone"),
        (zone(f'{CLUSTER.format("")}<router id="r"/>'), "router r: must not follow cluster in a zone"),
        (zone(f'{HOSTS}{LINK}{ROUTE.format("")}<host id="c" speed="1f"/>'), "host c: must not follow route in"),
        (zone(f'{HOSTS}<prop id="x" value="1"/>'), "prop x: must not follow host in a zone"),
        (zone(f'{HOSTS}{LINK}<zoneRoute src="p" dst="q"/>'), "zoneRoute p-q: must not follow link in a zone"),
        (zone(f'<host id="a" speed="1f">{LINK}</host>'), "link l: must not be inside host: SimGrid stops"),
        (f"{zone(HOSTS)}<config/>", "config: must not follow zone in a platform: SimGrid reads config first"),
        (HOSTS, "host a: must not be inside platform"),
        (zone(f"{HOSTS}&gt;"), "zone z: cannot have text inside, as '>'"),
        (zone('<host id="a" speed="1f">fast</host>'), "host a: cannot have text inside, as 'fast'"),
    ],
)
def test_what_stands_where_simgrid_stops_at_it_is_refused(tmp_path: Path, inside: str, message: str) -> None:
    """Its reader knows what may stand inside what, and in which order."""
    with pytest.raises(PlatformError, match=message):
        read(tmp_path, inside)


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        (zone(CABINET.format("")), "cabinet c: belongs in a zone of routing Cluster, not Full"),
        (zone(f'{HOSTS}<backbone id="b" bandwidth="1" latency="0"/>'), "backbone b: belongs in a zone of routing"),
        (zone(f'{HOSTS}{LINK}<host_link id="a" up="l" down="l"/>'), "host_link a: belongs in a zone of routing"),
        (zone('<peer id="a" speed="1f" bw_in="1" bw_out="1"/>'), "peer a: belongs in a zone of routing Vivaldi"),
        (zone('<peer id="a" speed="1f,2f" bw_in="1" bw_out="1"/>', "Vivaldi"), "peer a.speed: must be one speed"),
        (zone(f'{HOSTS}<bypassRoute src="a" dst="x"/>'), r"bypassRoute a-x\.dst: names 'x', which is not"),
        (zone(f'{HOSTS}<bypassRoute src="a" dst="b"><link_ctn id="k"/></bypassRoute>'), r"link_ctn k\.id: names link"),
        (zone(f"{HOSTS}{2 * BYPASS.format('a', 'b')}"), r"bypassRoute a-b: is defined twice"),
        (zone(f'{HOSTS}<route src="a" dst="b"/><route src="b" dst="a"/>'), r"route b-a: is defined twice"),
        (
            zone(f'{HOSTS}<route src="a" dst="b" symmetrical="NO"/><route src="b" dst="a"/>'),
            r"route b-a\.symmetrical: must be NO: the route from 'a' to 'b' is defined before",
        ),
        (
            two_zones('<bypassZoneRoute src="p" dst="q" gw_src="b" gw_dst="b"/>'),
            r"gw_src: names 'b', which is not a host",
        ),
        (zone(f'{HOSTS}<route src="a" dst="a"/>', "Floyd"), r"route a-a\.symmetrical: must be NO .* to itself"),
    ],
)
def test_what_simgrid_would_lose_or_stop_at_is_refused(tmp_path: Path, inside: str, message: str) -> None:
    """A cabinet in another zone, for example, has no hosts there."""
    with pytest.raises(PlatformError, match=message):
        read(tmp_path, inside)


def test_lines_are_counted_by_kind(tmp_path: Path) -> None:
    """A platform of ten thousand such hosts yields one line."""
    disk = '<disk id="d" read_bw="1" write_bw="1"/>'
    hosts = "".join(f'<host id="h{number}" speed="1f">{disk}</host>' for number in range(3))
    notes = read(tmp_path, zone(hosts)).notes
    path = tmp_path / "platform.xml"
    assert notes == (f"{path}: element disk is not obeyed: Batsim uses no disks (3 times, first in disk d)",)


def test_properties_of_links_are_told(tmp_path: Path) -> None:
    """SimGrid's plug-in for the energy of links reads them; Batsim does not load it."""
    link = '<link id="l" bandwidth="1Bps"><prop id="wattage_range" value="1:2"/></link>'
    (note,) = read(tmp_path, zone(HOSTS + link)).notes
    assert "element prop of link is not obeyed: properties of links are for plug-ins of SimGrid" in note

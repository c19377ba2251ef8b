"""SimGrid platform files, read and written."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PlatformError
from batsched_py.model.platform import Platform
from batsched_py.simulator.contention.exchanges import AllToAll
from batsched_py.simulator.contention.transfers import TransferModel
from batsched_py.traces.platform_writer import write_homogeneous
from batsched_py.traces.simgrid_xml import read_platform

DECLARATION = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
"""
CLUSTER = (
    '<cluster id="c" prefix="n" suffix=".org" radical="{radical}" speed="1Gf" bw="100Bps" lat="1s" {more}>'
    '<prop id="rack" value="r0"/></cluster>'
)


def platform(tmp_path: Path, inside: str, version: str = "4.1") -> Platform:
    """The platform of these elements."""
    path = tmp_path / "platform.xml"
    path.write_text(f'{DECLARATION}<platform version="{version}">{inside}</platform>')
    return read_platform(path)


def full_zone(tmp_path: Path, inside: str) -> Platform:
    """A platform of one zone of routing Full."""
    return platform(tmp_path, f'<zone id="z" routing="Full">{inside}</zone>')


def cluster(tmp_path: Path, radical: str = "0-2", more: str = "") -> Platform:
    """A platform of one cluster."""
    return platform(tmp_path, CLUSTER.format(radical=radical, more=more))


def crossed(read: Platform, source: str, destination: str) -> list[str]:
    """Names of the links of a route."""
    return [link.name for link in read.route(source, destination).links]


TWO_HOSTS = '<host id="a" speed="1f"/><host id="b" speed="1f"/>'
TWO_LINKS = '<link id="l1" bandwidth="10Bps" latency="1s"/><link id="l2" bandwidth="20Bps" latency="2s"/>'


def test_host_attributes(tmp_path: Path) -> None:
    """A host has its pstates' speeds, its first pstate, cores and properties."""
    host = full_zone(
        tmp_path, '<host id="a" speed="2Gf, 1Gf,5f" pstate="1" core="4"><prop id="mem" value="8"/></host>'
    ).hosts[0]
    assert (host.name, host.speeds, host.pstate, host.cores) == ("a", (2e9, 1e9, 5.0), 1, 4)
    assert host.properties == {"mem": "8"}


def test_hosts_are_in_order_of_names(tmp_path: Path) -> None:
    """Hosts are sorted as texts, as Batsim numbers them."""
    names = [host.name for host in cluster(tmp_path, "0-10").hosts]
    assert names == ["n0.org", "n1.org", "n10.org", *(f"n{i}.org" for i in range(2, 10))]


@pytest.mark.parametrize(("role", "expected"), [("compute_node", ""), ("storage", "storage"), ("master", "master")])
def test_role(tmp_path: Path, role: str, expected: str) -> None:
    """The property `role` says what a host is for; compute is the empty role."""
    read = full_zone(tmp_path, f'<host id="a" speed="1f"><prop id="role" value="{role}"/></host>')
    assert read.hosts[0].role == expected


def test_compute_hosts_leave_out_master_and_storage(tmp_path: Path) -> None:
    """Jobs run neither on the master nor on storage hosts."""
    storage = '<host id="s" speed="1f"><prop id="role" value="storage"/></host>'
    read = full_zone(tmp_path, f'{TWO_HOSTS}{storage}<host id="master_host" speed="1f"/>')
    assert [host.name for host in read.compute_hosts()] == ["a", "b"]
    assert [host.name for host in read.storage_hosts()] == ["s"]
    master = read.master()
    assert master is not None
    assert master.name == "master_host"


def test_master_by_role(tmp_path: Path) -> None:
    """Without a host of the master's name, the one of role master is it."""
    read = full_zone(tmp_path, f'{TWO_HOSTS}<host id="m" speed="1f"><prop id="role" value="master"/></host>')
    master = read.master()
    assert master is not None
    assert master.name == "m"
    assert [host.name for host in read.compute_hosts()] == ["a", "b"]


def test_zone_properties_nest(tmp_path: Path) -> None:
    """A host has the properties of the zones around it, the innermost first and strongest."""
    inner = f'<zone id="in" routing="Full"><prop id="x" value="in"/>{TWO_HOSTS}</zone>'
    read = platform(
        tmp_path,
        f'<AS id="out" routing="Full"><prop id="y" value="out"/><prop id="x" value="out"/>{inner}</AS>',
        version="4",
    )
    assert list(read.hosts[0].zone_properties.items()) == [("x", "in"), ("y", "out")]


def test_cluster_properties(tmp_path: Path) -> None:
    """A cluster's properties are its hosts' and its zone's, as Batsim sends them."""
    host = cluster(tmp_path).hosts[0]
    assert host.properties == {"rack": "r0"}
    assert host.zone_properties == {"rack": "r0"}


def test_cluster_radical(tmp_path: Path) -> None:
    """A radical is a list of numbers and intervals."""
    assert [host.name for host in cluster(tmp_path, "0-1,7").hosts] == ["n0.org", "n1.org", "n7.org"]


def test_cluster_route(tmp_path: Path) -> None:
    """Two hosts of a cluster are joined by the way up, the backbone and the way down."""
    route = cluster(tmp_path, more='bb_bw="1kBps" bb_lat="0.5s"').route("n0.org", "n2.org")
    assert [(link.name, link.bandwidth, link.latency, link.shared) for link in route.links] == [
        ("c_link_0_UP", 100.0, 1.0, True),
        ("c_backbone", 1000.0, 0.5, True),
        ("c_link_2_DOWN", 100.0, 1.0, True),
    ]
    assert route.latency == 2.5


@pytest.mark.parametrize("policy", ["SHARED", "FATPIPE"])
def test_cluster_shared_links(tmp_path: Path, policy: str) -> None:
    """A cluster's SHARED links have one direction for both ways; SimGrid takes FATPIPE for SHARED here."""
    read = cluster(tmp_path, more=f'sharing_policy="{policy}"')
    assert crossed(read, "n0.org", "n1.org") == ["c_link_0", "c_link_1"]
    assert all(link.shared for link in read.route("n0.org", "n1.org").links)


def test_cluster_fatpipe_backbone(tmp_path: Path) -> None:
    """A FATPIPE backbone is not shared."""
    links = (
        cluster(tmp_path, more='bb_bw="1Bps" bb_lat="0" bb_sharing_policy="FATPIPE"').route("n0.org", "n1.org").links
    )
    assert [link.shared for link in links] == [True, False, True]


def test_cluster_without_loopback(tmp_path: Path) -> None:
    """A host reaches itself over the backbone if the cluster has no loopback: seen in Batsim's times."""
    read = cluster(tmp_path, more='bb_bw="1Bps" bb_lat="0"')
    assert crossed(read, "n1.org", "n1.org") == ["c_link_1_UP", "c_backbone", "c_link_1_DOWN"]


def test_cluster_loopback(tmp_path: Path) -> None:
    """A host reaches itself over its loopback, which is not shared, if the cluster has them."""
    (loopback,) = cluster(tmp_path, more='loopback_bw="7Bps" loopback_lat="2s"').route("n1.org", "n1.org").links
    assert (loopback.name, loopback.bandwidth, loopback.latency, loopback.shared) == ("c_link_1_loopback", 7, 2, False)


def test_cluster_limiter(tmp_path: Path) -> None:
    """A limiter is crossed in both directions."""
    read = cluster(tmp_path, more='limiter_link="1Bps"')
    expected = ["c_link_0_limiter", "c_link_0_UP", "c_link_1_DOWN", "c_link_1_limiter"]
    assert crossed(read, "n0.org", "n1.org") == expected


def test_route_and_its_way_back(tmp_path: Path) -> None:
    """A declared route is symmetrical: the way back crosses the same links in the other order."""
    route = '<route src="a" dst="b"><link_ctn id="l1"/><link_ctn id="l2"/></route>'
    read = full_zone(tmp_path, TWO_HOSTS + TWO_LINKS + route)
    assert crossed(read, "a", "b") == ["l1", "l2"]
    assert crossed(read, "b", "a") == ["l2", "l1"]
    assert read.route("a", "b").latency == 3.0


def test_one_way_route(tmp_path: Path) -> None:
    """A route that is not symmetrical leaves the way back to another."""
    routes = (
        '<route src="a" dst="b" symmetrical="NO"><link_ctn id="l1"/></route>'
        '<route src="b" dst="a" symmetrical="NO"><link_ctn id="l2"/></route>'
    )
    read = full_zone(tmp_path, TWO_HOSTS + TWO_LINKS + routes)
    assert (crossed(read, "a", "b"), crossed(read, "b", "a")) == (["l1"], ["l2"])


def test_split_duplex_link(tmp_path: Path) -> None:
    """The directions of a SPLITDUPLEX link are two links, and the way back takes the other one."""
    link = '<link id="l" bandwidth="10Bps" latency="1s" sharing_policy="SPLITDUPLEX"/>'
    read = full_zone(tmp_path, TWO_HOSTS + link + '<route src="a" dst="b"><link_ctn id="l" direction="UP"/></route>')
    assert (crossed(read, "a", "b"), crossed(read, "b", "a")) == (["l_UP"], ["l_DOWN"])


@pytest.mark.parametrize("routing", ["Full", "Floyd"])
def test_undeclared_loopback(tmp_path: Path, routing: str) -> None:
    """SimGrid gives a host one of 10 GB/s: a message of Batsim's, one byte, takes 0.1 ns in the recorded runs."""
    (loopback,) = platform(tmp_path, f'<zone id="z" routing="{routing}">{TWO_HOSTS}</zone>').route("a", "a").links
    assert (loopback.bandwidth, loopback.latency, loopback.shared) == (1e10, 0.0, False)


def test_declared_loopback(tmp_path: Path) -> None:
    """A route from a host to itself is its loopback."""
    link = '<link id="l" bandwidth="498MBps" latency="15us" sharing_policy="FATPIPE"/>'
    read = full_zone(tmp_path, TWO_HOSTS + link + '<route src="a" dst="a"><link_ctn id="l"/></route>')
    assert read.route("a", "a").latency == 15e-6
    assert not read.route("a", "a").links[0].shared


@pytest.mark.parametrize("routing", ["Full", "Vivaldi"])
def test_no_network(tmp_path: Path, routing: str) -> None:
    """Without a declared route, a route has no links and no latency."""
    read = platform(tmp_path, f'<zone id="z" routing="{routing}">{TWO_HOSTS}</zone>')
    route = read.route("a", "b")
    assert (route.links, route.latency) == ((), 0.0)


def test_vivaldi_distance(tmp_path: Path) -> None:
    """In a Vivaldi zone the latency is the distance in the plane plus both heights, in milliseconds."""
    hosts = '<host id="a" speed="1f" coordinates="0 0 1"/><host id="b" speed="1f" coordinates="3 4 2"/>'
    read = platform(tmp_path, f'<zone id="z" routing="Vivaldi">{hosts}</zone>')
    assert read.route("a", "b").latency == pytest.approx(0.008)


@pytest.mark.parametrize("coordinates", ["0 0", "a b c", "nan 0 0"])
def test_wrong_coordinates(tmp_path: Path, coordinates: str) -> None:
    """Coordinates are three finite numbers."""
    host = f'<host id="a" speed="1f" coordinates="{coordinates}"/>'
    with pytest.raises(PlatformError, match=r"host a\.coordinates: must be three numbers: x, y and height"):
        platform(tmp_path, f'<zone id="z" routing="Vivaldi">{host}</zone>')


def test_peer(tmp_path: Path) -> None:
    """A peer goes out by one link and is reached by another; SimGrid ignores its latency."""
    peers = "".join(
        f'<peer id="{name}" coordinates="0 0 0" speed="1f" bw_in="1Bps" bw_out="2Bps" lat="1s"/>' for name in "ab"
    )
    read = platform(tmp_path, f'<zone id="z" routing="Vivaldi">{peers}</zone>')
    links = read.route("a", "b").links
    assert [(link.name, link.bandwidth, link.latency) for link in links] == [
        ("link_a_UP", 2.0, 0.0),
        ("link_b_DOWN", 1.0, 0.0),
    ]
    told = "latencies are distances of coordinates, as in SimGrid, which ignores it (2 times, first in peer a)"
    assert [note.partition(": ")[2].partition(": ")[2] for note in read.notes] == [told]


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra"])
def test_shortest_way(tmp_path: Path, routing: str) -> None:
    """Routing by graph takes the chain with the fewest links, through routers too."""
    inside = (
        f'{TWO_HOSTS}<router id="r"/>{TWO_LINKS}'
        '<link id="l3" bandwidth="1Bps" latency="0"/><link id="l4" bandwidth="1Bps" latency="0"/>'
        '<route src="a" dst="r"><link_ctn id="l1"/></route><route src="r" dst="b"><link_ctn id="l2"/></route>'
        '<route src="a" dst="b"><link_ctn id="l3"/><link_ctn id="l4"/><link_ctn id="l1"/></route>'
    )
    read = platform(tmp_path, f'<zone id="z" routing="{routing}">{inside}</zone>')
    assert (crossed(read, "a", "b"), crossed(read, "b", "a")) == (["l1", "l2"], ["l2", "l1"])
    assert crossed(read, "a", "a") == ["__loopback__"]


def test_graph_without_way(tmp_path: Path) -> None:
    """In a graph two hosts may not be connected: an error when the route is asked for."""
    read = platform(tmp_path, f'<zone id="z" routing="Floyd">{TWO_HOSTS}</zone>')
    with pytest.raises(PlatformError, match=r"zone z: has no route from a to b"):
        read.route("a", "b")


def two_clusters(zone_route: str) -> str:
    """Two clusters and a link between them."""
    clusters = "".join(
        f'<cluster id="c{i}" prefix="h{i}-" suffix="" radical="0-1" speed="1f" bw="1Bps" lat="1s"/>' for i in (1, 2)
    )
    return f'<zone id="z" routing="Full">{clusters}<link id="l" bandwidth="1Bps" latency="5s"/>{zone_route}</zone>'


ZONE_ROUTE = '<zoneRoute src="c1" dst="c2" gw_src="h1-c1_router" gw_dst="h2-c2_router"><link_ctn id="l"/></zoneRoute>'


def test_route_between_clusters(tmp_path: Path) -> None:
    """A route between zones goes to the gateway, over the zones' route, and on from the other gateway; and back."""
    read = platform(tmp_path, two_clusters(ZONE_ROUTE))
    assert crossed(read, "h1-0", "h2-1") == ["c1_link_0_UP", "l", "c2_link_1_DOWN"]
    assert crossed(read, "h2-1", "h1-0") == ["c2_link_1_UP", "l", "c1_link_0_DOWN"]
    assert read.route("h1-0", "h2-1").latency == 7.0


def test_chain_of_zones(tmp_path: Path) -> None:
    """Routing by graph between zones also crosses each zone from gateway to gateway."""
    zones = "".join(
        f'<zone id="{z}" routing="Full"><host id="{z}1" speed="1f"/><host id="{z}2" speed="1f"/>'
        f'<link id="in{z}" bandwidth="1Bps" latency="0"/>'
        f'<route src="{z}1" dst="{z}2"><link_ctn id="in{z}"/></route></zone>'
        for z in "xyz"
    )
    routes = (
        f'{TWO_LINKS}<zoneRoute src="x" dst="y" gw_src="x2" gw_dst="y1"><link_ctn id="l1"/></zoneRoute>'
        '<zoneRoute src="y" dst="z" gw_src="y2" gw_dst="z1"><link_ctn id="l2"/></zoneRoute>'
    )
    read = platform(tmp_path, f'<zone id="top" routing="Floyd">{zones}{routes}</zone>')
    assert crossed(read, "x1", "z2") == ["inx", "l1", "iny", "l2", "inz"]
    assert crossed(read, "z2", "x1") == ["inz", "l2", "iny", "l1", "inx"]


def test_zones_without_route(tmp_path: Path) -> None:
    """Zones that no route joins are an error when a route is asked for."""
    read = platform(tmp_path, two_clusters(""))
    with pytest.raises(PlatformError, match=r"zone z: has no route from c1 to c2"):
        read.route("h1-0", "h2-0")


def test_route_of_unknown_host(tmp_path: Path) -> None:
    """A route needs two hosts of the platform."""
    with pytest.raises(PlatformError, match=r"host x: is not in the platform"):
        cluster(tmp_path).route("n0.org", "x")


def test_cluster_zone_with_host_links(tmp_path: Path) -> None:
    """A zone of routing Cluster may be written out: hosts, links, a backbone; a cabinet is short for hosts."""
    inside = (
        f'{TWO_HOSTS}{TWO_LINKS}<host_link id="a" up="l1" down="l1"/><host_link id="b" up="l2" down="l2"/>'
        '<backbone id="bb" bandwidth="1Bps" latency="1s"/>'
        '<cabinet id="k" prefix="k" suffix="" radical="0-1" speed="1f" bw="1Bps" lat="1s"/>'
    )
    read = platform(tmp_path, f'<zone id="z" routing="Cluster">{inside}</zone>')
    assert crossed(read, "a", "b") == ["l1", "bb", "l2"]
    assert crossed(read, "a", "k1") == ["l1", "bb", "link_k1_DOWN"]


def notes(read: Platform) -> list[str]:
    """The lines on what is not obeyed, without the file."""
    return [note.partition("platform.xml: ")[2] for note in read.notes]


def test_the_first_property_of_a_name_counts(tmp_path: Path) -> None:
    """As in SimGrid; a second one that says the same needs no words."""
    twice = '<prop id="mem" value="8"/><prop id="mem" value="9"/><prop id="x" value="1"/><prop id="x" value="1"/>'
    read = full_zone(tmp_path, f'<host id="a" speed="1f">{twice}</host>')
    assert read.hosts[0].properties == {"mem": "8", "x": "1"}
    first = "a second element prop of one name in host is not obeyed: the first counts, as in SimGrid"
    assert notes(read) == [f"{first} (host a, prop mem)"]


def test_of_two_elements_config_the_first_counts(tmp_path: Path) -> None:
    """SimGrid takes an item for set by the user when it comes a second time."""
    configs = "".join(f'<config><prop id="network/TCP-gamma" value="{value}"/></config>' for value in (1, 2))
    read = platform(tmp_path, f'{configs}<zone id="z" routing="Full">{TWO_HOSTS}</zone>')
    assert read.config == (("network/TCP-gamma", "1"),)
    assert notes(read) == [
        "a second element config with an item is not obeyed: the first counts, as in SimGrid (item network/TCP-gamma)"
    ]


@pytest.mark.parametrize(("text", "pstate"), [("0.0", 0), ("1.0", 1), (" 1", 1), ("+1", 1), ("1.", 1)])
def test_a_pstate_is_the_whole_number_that_the_text_begins_with(tmp_path: Path, text: str, pstate: int) -> None:
    """SimGrid's own default is "0.0", which tools write out."""
    read = full_zone(tmp_path, f'<host id="a" speed="2f,1f" pstate="{text}"/>')
    assert (read.hosts[0].pstate, read.notes) == (pstate, ())


def test_what_follows_a_whole_number_is_told(tmp_path: Path) -> None:
    """SimGrid reads 1 of 1.7."""
    read = full_zone(tmp_path, '<host id="a" speed="2f,1f" pstate="1.7"/>')
    assert read.hosts[0].pstate == 1
    assert notes(read) == [
        "attribute pstate of element host: only the whole number is read, as by SimGrid (host a, 1.7)"
    ]


def test_a_host_may_have_pstates_of_no_speed(tmp_path: Path) -> None:
    """The simulation decides which of them must compute."""
    assert full_zone(tmp_path, '<host id="a" speed="1f, 0f"/>').hosts[0].speeds == (1.0, 0.0)


def test_routings_may_be_written_in_any_case(tmp_path: Path) -> None:
    """SimGrid compares them so."""
    assert len(platform(tmp_path, f'<zone id="z" routing="FULL">{TWO_HOSTS}</zone>').route("a", "a").links) == 1


def test_defaults_of_the_dtd_may_be_written_out(tmp_path: Path) -> None:
    """An empty text is one of them."""
    more = 'bb_bw="" bb_lat="0s" limiter_link="" loopback_bw="" loopback_lat="" router_id="" topo_parameters=""'
    read = cluster(tmp_path, more=f'{more} core="1" topology="FLAT" bb_sharing_policy="SHARED"')
    assert (crossed(read, "n0.org", "n1.org"), read.notes) == (["c_link_0_UP", "c_link_1_DOWN"], ())
    host = '<host id="a" speed="1f" speed_file="" availability_file="" state_file="" coordinates="" pstate="0.0"/>'
    link = '<link id="l" bandwidth="1Bps" bandwidth_file="" latency="0" latency_file="" state_file=""/>'
    assert full_zone(tmp_path, host + link).notes == ()


def test_coordinates_count_in_vivaldi_zones_only(tmp_path: Path) -> None:
    """Elsewhere they are told, and must be coordinates all the same."""
    read = full_zone(tmp_path, '<host id="a" speed="1f" coordinates="1 2 3"/>')
    told = "attribute coordinates of element host is not obeyed: they count in Vivaldi zones only, as in SimGrid"
    assert notes(read) == [f"{told} (host a)"]
    with pytest.raises(PlatformError, match=r"host a\.coordinates: must be three numbers"):
        full_zone(tmp_path, '<host id="a" speed="1f" coordinates="1 2"/>')


def test_a_fatpipe_link_of_a_cluster_is_told(tmp_path: Path) -> None:
    """SimGrid takes it for SHARED."""
    told = "sharing_policy FATPIPE of element cluster is not obeyed: links are SHARED, as in SimGrid (cluster c)"
    assert notes(cluster(tmp_path, more='sharing_policy="FATPIPE"')) == [told]


def test_a_policy_of_no_backbone_is_told(tmp_path: Path) -> None:
    """It may be that the bandwidth was forgotten."""
    told = "attribute bb_sharing_policy of element cluster is not obeyed: without bb_bw there is no backbone"
    assert notes(cluster(tmp_path, more='bb_sharing_policy="FATPIPE"')) == [f"{told} (cluster c)"]


def test_blanks_before_the_declaration(tmp_path: Path) -> None:
    """A file may begin with blank lines, as SimGrid accepts."""
    path = tmp_path / "p.xml"
    path.write_text(f'\n{DECLARATION}<platform version="4"><zone id="z" routing="Full">{TWO_HOSTS}</zone></platform>')
    assert len(read_platform(path).hosts) == 2


@pytest.mark.parametrize(
    ("inside", "message"),
    [
        ("", r"platform: must hold exactly one zone or cluster, not 0"),
        ('<zone id="z" routing="Full"/>', r"platform: must have at least one host"),
        (
            '<zone id="z" routing="Full"><hosts/></zone>',
            r"hosts: is not an element of a SimGrid platform; did you mean host\?",
        ),
        ('<zone id="z" routing="Magic"/>', r"zone z\.routing: must be one of Full, .*not 'Magic'"),
        (CLUSTER.format(radical="0-x", more=""), r"cluster c\.radical: must be numbers and intervals like 0-31,40"),
        (CLUSTER.format(radical="0-", more=""), r"cluster c\.radical: must be numbers and intervals like 0-31,40"),
        (CLUSTER.format(radical="9" * 5000, more=""), r"cluster c\.radical: must be numbers and intervals"),
        (CLUSTER.format(radical="5-1", more=""), r"cluster c\.radical: must have intervals that ascend"),
        (CLUSTER.format(radical="0,0", more=""), r"cluster c\.id: the name 'n0\.org' is used twice"),
        (CLUSTER.format(radical="0", more='topology="RING"'), r"cluster c\.topology: must be one of FLAT, TORUS"),
        (CLUSTER.format(radical="0", more='topology="TORUS"'), r"cluster c\.topo_parameters: must be the sizes"),
        (
            CLUSTER.format(radical="0-3", more='topology="FAT_TREE" topo_parameters="2;2,2;1;1,1"'),
            r"cluster c\.topo_parameters: must be the number of levels, .* not '2;2,2;1;1,1'",
        ),
        (
            CLUSTER.format(radical="0-3", more='topology="DRAGONFLY" topo_parameters="2,1;1,1"'),
            r"cluster c\.topo_parameters: must be groups, chassis and blades",
        ),
        (
            CLUSTER.format(radical="0-3", more='topology="TORUS" topo_parameters="2,0"'),
            r"cluster c\.topo_parameters: must be the sizes .* not '2,0'",
        ),
        (
            CLUSTER.format(radical="0-3", more=f'topology="TORUS" topo_parameters="{"999999," * 20}2"'),
            r"cluster c\.topo_parameters: makes a platform that must be at most \d+ hosts",
        ),
        (
            CLUSTER.format(radical="0-3", more=f'topology="TORUS" topo_parameters="{"2," * 40}2"'),
            r"cluster c\.topo_parameters: must have at most 30 numbers in a row",
        ),
        (
            CLUSTER.format(radical="0-3", more=f'topology="FAT_TREE" topo_parameters="1;4;1;{"9" * 17}"'),
            r"cluster c\.topo_parameters: must be the number of levels",
        ),
        (two_clusters(ZONE_ROUTE.replace("h1-c1_router", "h2-0")), r"zoneRoute c1-c2\.gw_src: names 'h2-0', which is"),
        (two_clusters(ZONE_ROUTE.replace('"l"', '"k"')), r"link_ctn k\.id: names link 'k', which is not defined"),
        (two_clusters(ZONE_ROUTE * 2), r"zoneRoute c1-c2: is defined twice"),
        (
            two_clusters(ZONE_ROUTE.replace('dst="c2"', 'dst="x"')),
            r"zoneRoute c1-x\.dst: names 'x', which is not a point of zone 'z'",
        ),
    ],
)
def test_broken_rules(tmp_path: Path, inside: str, message: str) -> None:
    """A broken rule is named with the element and the attribute."""
    with pytest.raises(PlatformError, match=rf"platform\.xml: {message}"):
        platform(tmp_path, inside)


@pytest.mark.parametrize(
    ("host", "message"),
    [
        ('<host speed="1f"/>', r"host\.id: is missing"),
        ('<host id="a"/>', r"host a\.speed: is missing"),
        ('<host id="a" speed="1Gw"/>', r"host a\.speed: has the unknown unit 'Gw'"),
        ('<host id="a" speed="-1f"/>', r"host a\.speed: must not be negative, as in '-1f'"),
        ('<host id="a" speed="1f,"/>', r"host a\.speed: must be a number"),
        ('<host id="a" speed="1f" pstate="1"/>', r"host a\.pstate: must be below 1"),
        ('<host id="a" speed="1f" core="0"/>', r"host a\.core: must be a whole number from 1"),
        ('<host id="a" speed="1f"/><router id="a"/>', r"router a\.id: the name 'a' is used twice"),
        ('<link id="l" bandwidth="0"/>', r"link l\.bandwidth: must be greater than 0"),
        ('<link id="l" bandwidth="1" latency="-1s"/>', r"link l\.latency: must not be negative"),
        ('<link id="l" bandwidth="1" sharing_policy="X"/>', r"link l\.sharing_policy: must be one of SHARED"),
        ('<link id="l" bandwidth="1"/><link id="l" bandwidth="1"/>', r"link l\.id: link 'l' is defined twice"),
        (
            '<host id="a" speed="1f"/><link id="l" bandwidth="1" sharing_policy="SPLITDUPLEX"/>'
            '<route src="a" dst="a"><link_ctn id="l"/></route>',
            r"link_ctn l\.id: link 'l' is SPLITDUPLEX: say which direction, UP or DOWN",
        ),
    ],
)
def test_broken_rules_of_hosts_and_links(tmp_path: Path, host: str, message: str) -> None:
    """A wrong host or link is named with the attribute and the rule."""
    with pytest.raises(PlatformError, match=rf"platform\.xml: {message}"):
        full_zone(tmp_path, host)


def test_route_in_a_zone_without_routes(tmp_path: Path) -> None:
    """A zone that routes by itself declares no routes."""
    with pytest.raises(PlatformError, match=r"route a-b: cannot be declared in a zone of routing Vivaldi"):
        platform(tmp_path, f'<zone id="z" routing="Vivaldi">{TWO_HOSTS}<route src="a" dst="b"/></zone>')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not XML"),
        ("<platform>", "is not XML"),
        ("<workload/>", "workload: must be a platform element"),
        ("<platform/>", r"platform\.version: is missing"),
        ('<platform version="4.2"/>', r"platform\.version: must be from 4 to 4\.1, not '4\.2'"),
        ('<platform version="four"/>', r"platform\.version: must be from 4 to 4\.1, not 'four'"),
        ('<platform version="3"/>', r"platform\.version: must be from 4 to 4\.1, not '3'"),
        ('<!DOCTYPE p [<!ENTITY e "x">]><platform>&e;</platform>', "must not define or fetch entities"),
        ('<!DOCTYPE p [<!ENTITY e SYSTEM "file:///dev/null">]><platform>&e;</platform>', "must not define or fetch"),
    ],
)
def test_not_a_platform(tmp_path: Path, text: str, message: str) -> None:
    """A file that is no platform at all is refused in one line."""
    path = tmp_path / "p.xml"
    path.write_text(text)
    with pytest.raises(PlatformError, match=rf"p\.xml: {message}") as caught:
        read_platform(path)
    assert "\n" not in str(caught.value)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(PlatformError, match=r"none\.xml: cannot be read: No such file"):
        read_platform(tmp_path / "none.xml")


def test_written_platform_is_read_back(tmp_path: Path) -> None:
    """A homogeneous platform has its hosts in numeric order, and a master."""
    path = tmp_path / "p.xml"
    write_homogeneous(path, 12, speed="2Gf")
    read = read_platform(path)
    assert [host.name for host in read.compute_hosts()] == [f"n{i:02d}" for i in range(12)]
    assert {host.speeds for host in read.hosts} == {(2e9,)}
    assert read.master() is not None
    assert read.route("n00", "n11").links == ()


@pytest.mark.parametrize(
    ("hosts", "speed", "message"), [(0, "1Gf", "hosts: must be from 1"), (1, "fast", "speed: must be a number")]
)
def test_wrong_homogeneous_platform(tmp_path: Path, hosts: int, speed: str, message: str) -> None:
    """A platform that cannot be written is refused, and no file appears."""
    with pytest.raises(PlatformError, match=message):
        write_homogeneous(tmp_path / "p.xml", hosts, speed=speed)
    assert list(tmp_path.iterdir()) == []


def test_write_into_missing_folder(tmp_path: Path) -> None:
    """A file that cannot be written is named."""
    with pytest.raises(PlatformError, match=r"none.p\.xml: cannot be written: No such file"):
        write_homogeneous(tmp_path / "none" / "p.xml", 1)


def test_large_platform(tmp_path: Path) -> None:
    """Ten thousand hosts are read without a table of pairs: routes are found when asked for."""
    path = tmp_path / "p.xml"
    write_homogeneous(path, 10_000)
    read = read_platform(path)
    assert len(read.compute_hosts()) == 10_000
    assert read.route("n0000", "n9999").latency == 0.0


def test_a_bypass_is_taken_in_its_direction(tmp_path: Path) -> None:
    """Instead of the declared route, and from a host to itself."""
    route = '<route src="a" dst="b"><link_ctn id="l1"/></route>'
    bypasses = "".join(f'<bypassRoute src="a" dst="{end}"><link_ctn id="l2"/></bypassRoute>' for end in "ab")
    read = full_zone(tmp_path, TWO_HOSTS + TWO_LINKS + route + bypasses)
    assert [crossed(read, *ends) for ends in ("ab", "ba", "aa")] == [["l2"], ["l1"], ["l2"]]
    assert notes(read) == []


def test_a_bypass_between_ends_that_do_not_meet_in_its_zone_is_reported(tmp_path: Path) -> None:
    """SimGrid never looks for it there."""
    inner = "".join(f'<zone id="{zone}" routing="Full"><host id="{zone}0" speed="1f"/></zone>' for zone in "pq")
    outer = f'<zone id="o" routing="Full">{inner}<link id="l" bandwidth="1Bps"/>{{}}</zone>'
    plain = '<zoneRoute src="p" dst="q" gw_src="p0" gw_dst="q0"><link_ctn id="l"/></zoneRoute>'
    bypass = '<bypassZoneRoute src="o" dst="q" gw_src="p0" gw_dst="q0"/>'
    (note,) = notes(platform(tmp_path, outer.format(plain + bypass)))
    assert note.startswith("element bypassZoneRoute is not obeyed: its ends do not meet in the zone that declares it")


def test_an_exchange_in_a_star_takes_a_bypass(tmp_path: Path) -> None:
    """Sums for each host would pass it over."""
    cabinet = '<cabinet id="c" prefix="n" suffix="" radical="0-2" speed="1f" bw="1Bps" lat="1s"/>'
    link = '<link id="fast" bandwidth="9Bps"/>'
    bypass = '<bypassRoute src="n0" dst="n1"><link_ctn id="fast"/></bypassRoute>'
    read = platform(tmp_path, f'<zone id="z" routing="Cluster">{cabinet}{link}{bypass}</zone>')
    links, _, _ = TransferModel(read, read.compute_hosts()).needs(AllToAll((0, 1, 2), 1.0))
    assert {link.name: amount for link, amount in links}["fast"] == 1.0

"""Writers of SimGrid platforms: hosts without network, or with that of a fat tree, a dragonfly or a torus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from batsched_py.bits import MAX_HOST
from batsched_py.errors import PlatformError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.model.platform import DEFAULT_MASTER, Platform, PlatformHost
from batsched_py.model.zone import StarZone
from batsched_py.text.display import displayed
from batsched_py.traces.machine_shapes import TOPOLOGIES, Shape, shape_parameters
from batsched_py.traces.power_states import PowerStates
from batsched_py.traces.quantity import SPEED, parse_quantity

Properties = Mapping[str, str]


def write_homogeneous(
    path: Path,
    hosts: int,
    *,
    speed: str = "1Gf",
    prefix: str = "n",
    master: str = DEFAULT_MASTER,
    power: PowerStates | None = None,
) -> None:
    """Write a platform of `hosts` identical compute hosts and a master host, without network.

    With `power` the hosts have these pstates and their speeds; the master host, which runs no jobs, draws no power.
    Names are padded with zeros: Batsim's order of names equals the order of numbers. The file is replaced completely or
    not at all. PlatformError if `hosts` is below 1, if `speed` is invalid or if the file cannot be written.
    """
    if not 1 <= hosts <= MAX_HOST:
        raise PlatformError(str(path), "hosts", f"must be from 1 to {MAX_HOST}, not {hosts}")
    try:
        if parse_quantity(speed, SPEED) <= 0:
            raise ValueError(f"must be greater than 0 flop/s, not {speed!r}")
    except ValueError as error:
        raise PlatformError(str(path), "speed", str(error)) from error
    speeds, properties, idle = (speed, {}, {}) if power is None else (power.speeds, power.properties, _NO_POWER)
    compute = [_format_host(name, speeds, properties) for name in _names(hosts, prefix)]
    _write_hosts(path, [_format_host(master, speed, idle), *compute])


def write_topology(
    path: Path, shape: Shape, hosts: int, *, speed: str = "1Gf", power: PowerStates | None = None
) -> None:
    """Write a platform of a master host and a cluster of this shape, with the usual parameters for its size.

    Links have 10 Gb/s and 1 us. The numbers of hosts begin with 1 and have the same number of digits, so that Batsim's
    order of names is the order of positions. The file is replaced completely or not at all. PlatformError.
    """
    try:
        parameters = shape_parameters(shape, hosts)
    except ValueError as error:
        raise PlatformError(str(path), "hosts", str(error)) from None
    first = 10 ** len(str(hosts))
    speeds, properties, idle = (speed, {}, {}) if power is None else (power.speeds, power.properties, _NO_POWER)
    cluster = (
        f'    <cluster id="cluster" prefix="n" suffix="" radical="{first}-{first + hosts - 1}"\n'
        f'             speed="{escape(speeds)}" bw="1.25GBps" lat="1us"\n'
        f'             topology="{TOPOLOGIES[shape]}" topo_parameters="{parameters}"'
    )
    master = _format_host(DEFAULT_MASTER, speed, idle, placed=False).strip()
    lines = [
        f"{cluster}{_close('cluster', properties)}",
        f'    <zone id="service" routing="Full">{master}</zone>\n',
        '    <link id="service_link" bandwidth="1.25GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>\n',
        f'    <zoneRoute src="service" dst="cluster" gw_src="{DEFAULT_MASTER}" gw_dst="n{first}">\n'
        '      <link_ctn id="service_link" direction="UP"/>\n    </zoneRoute>\n',
    ]
    _write_hosts(path, lines, routing="Full")


def flat_platform(source: str, properties: Sequence[Properties]) -> Platform:
    """Return a platform of a master host and compute hosts with these properties, in order, without network."""
    names = (DEFAULT_MASTER, *_names(len(properties), "n"))
    hosts = [
        PlatformHost(name, (parse_quantity(_SPEED, SPEED),), properties=properties)
        for name, properties in zip(names, ({}, *properties), strict=True)
    ]
    hosts.sort(key=attrgetter("name"))
    zone = StarZone(_ZONE, "", {}, (), dict.fromkeys(names, (0.0, 0.0, 0.0)))
    return Platform(source, tuple(hosts), {_ZONE: zone}, dict.fromkeys(names, _ZONE))


def write_flat_platform(path: Path, platform: Platform) -> None:
    """Write a platform that `flat_platform` made; PlatformError if the file cannot be written."""
    hosts = [host for host in platform.hosts if host.name != DEFAULT_MASTER]
    lines = [_format_host(host.name, _SPEED, host.properties) for host in hosts]
    _write_hosts(path, [_format_host(DEFAULT_MASTER, _SPEED), *lines])


class NamedHost(Struct, frozen=True):
    """A host of a platform: its name, number of cores and properties."""

    name: str
    cores: int
    properties: Properties


def write_named_hosts(path: Path, hosts: Sequence[NamedHost], properties: Properties) -> None:
    """Write a platform of a master host and these hosts, in a zone with these properties, without network.

    The file is replaced completely or not at all. PlatformError for two hosts of a name, for more hosts than possible,
    and if the file cannot be written.
    """
    if not 1 <= len(hosts) <= MAX_HOST:
        raise PlatformError(str(path), "hosts", f"must be from 1 to {MAX_HOST}, not {len(hosts)}")
    names = Counter((DEFAULT_MASTER, *(host.name for host in hosts)))
    if twice := [name for name, count in names.items() if count > 1]:
        raise PlatformError(str(path), "hosts", f"must have different names, not {displayed(twice[0])} twice")
    zone = [f'    <prop id="{escape(key)}" value="{escape(value)}"/>\n' for key, value in properties.items()]
    made = [_format_host(host.name, _SPEED, host.properties, cores=host.cores) for host in hosts]
    _write_hosts(path, [*zone, _format_host(DEFAULT_MASTER, _SPEED), *made])


def _names(hosts: int, prefix: str) -> list[str]:
    width = len(str(hosts - 1))
    return [f"{prefix}{number:0{width}d}" for number in range(hosts)]


def _format_host(
    name: str, speed: str, properties: Properties = MappingProxyType({}), *, placed: bool = True, cores: int = 1
) -> str:
    place = ' coordinates="0 0 0"' if placed else ""
    size = "" if cores == 1 else f' core="{cores}"'
    return f'    <host id="{escape(name)}"{place} speed="{escape(speed)}"{size}{_close("host", properties)}'


def _close(tag: str, properties: Properties) -> str:
    """Return the end of an element with these properties."""
    if not properties:
        return "/>\n"
    inside = "".join(f'<prop id="{escape(key)}" value="{escape(value)}"/>' for key, value in properties.items())
    return f">{inside}</{tag}>\n"


def _write_hosts(path: Path, lines: Sequence[str], *, routing: str = "Vivaldi") -> None:
    try:
        write_atomically(path, "".join((_HEADER.format(routing), *lines, _FOOTER)).encode())
    except OSError as error:
        raise PlatformError(str(path), "", f"cannot be written: {error.strerror or error}") from error


_ZONE: Final = "AS0"
#: SimGrid requires the power of every host.
_NO_POWER: Final = MappingProxyType({"wattage_per_state": "0:0:0"})
#: The speed of hosts that run delays.
_SPEED: Final = "1Gf"
_HEADER = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="AS0" routing="{}">
"""
_FOOTER = """  </zone>
</platform>
"""

"""Layouts of a job's hosts in a network: near each other, or in a row of its order. None if too few are free."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import sub
from typing import Final

from batsched_py.bits import bits_of, interval_bits, lowest, size_of
from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.model.topologies.cluster import Topology
from batsched_py.model.topologies.parameters import read_parameters
from batsched_py.planning.machine import Zones
from batsched_py.planning.policies.layouts import within
from batsched_py.text.display import shown
from batsched_py.text.wording import counted

# The hosts nearest to a centre are a ball around it. In a torus, the balls of all centres are the same but for their
# place, so the free hosts are rotated instead, one step for each centre: then each centre is host 0. In fat trees and
# dragonflies the balls are blocks of consecutive numbers, the same for all hosts of the smallest one.

#: Names in the option `topology` -> SimGrid's.
TOPOLOGY_OPTIONS: Final = {"fat-tree": "FAT_TREE", "dragonfly": "DRAGONFLY", "torus": "TORUS"}


def read_network(text: str, hosts: int) -> Topology:
    """Read the option `topology`: a name, a colon and SimGrid's `topo_parameters`. Positions are numbers of hosts.

    OptionError for others than those of a machine of this number of hosts.
    """
    name, _, parameters = text.partition(":")
    if name not in TOPOLOGY_OPTIONS:
        choices = " | ".join(TOPOLOGY_OPTIONS)
        raise OptionError(
            f"option topology: must be {choices}, a colon and SimGrid's topo_parameters, not {shown(text)}"
        )
    try:
        network = read_parameters(TOPOLOGY_OPTIONS[name], parameters)
    except ValueError as error:
        raise OptionError(f"option topology: {name} {error}, not {shown(parameters)}") from None
    if network.hosts != hosts:
        made = counted(network.hosts, "host")
        raise OptionError(f"option topology: {shown(text)} has {made}, the platform {counted(hosts, 'compute host')}")
    return network


def blocks_of(network: Topology) -> Zones:
    """Return the blocks of a network as zones."""
    sizes = [size for size in network.blocks if size > 1]
    return tuple(
        tuple(interval_bits(low, low + size - 1) for low in range(0, network.hosts, size))
        for size in dict.fromkeys(sizes)
    )


def near_in_blocks(free: int, size: int, zones: Zones) -> int | None:
    """Select hosts of the smallest blocks around a centre, of all centres that with the shortest distances.

    The distance of a host is the level of the smallest block that it shares with the centre. Among equals, the block
    that suffices and has the fewest free hosts counts, then the lowest. A block that is used in part gives hosts of as
    few smaller blocks as possible.
    """
    if size_of(free) < size:
        return None
    found: tuple[int, int, Sequence[int]] | None = None
    for balls in _nested(free, zones):
        counts = [ball.bit_count() for ball in balls]
        missing = sum(max(size - count, 0) for count in counts)
        room = next((count for count in counts if count >= size), 0)
        if found is None or (missing, room) < found[:2]:
            found = missing, room, balls
    taken = 0
    for level, ball in enumerate((*(found[2] if found else ()), free)):
        ring, left = ball & ~taken, size - size_of(taken)
        if ring.bit_count() >= left:
            return taken | within(ring, left, zones[:level])
        taken |= ring
    return taken


def _nested(free: int, zones: Zones) -> Iterator[Sequence[int]]:
    """Yield the free hosts of each smallest block, and of the larger ones around it."""
    members = [[(zone, free & zone) for zone in level] for level in zones]
    if not members:
        yield (free,)
        return
    above = [0] * len(members)
    for zone, part in members[0]:
        for level in range(1, len(members)):
            while not members[level][above[level]][0] & zone:
                above[level] += 1
        if part:
            yield (part, *(members[level][above[level]][1] for level in range(1, len(members))))


class TorusBalls:
    """The balls of a torus: all hosts up to a number of links from host 0."""

    __slots__ = ("_balls", "_firsts", "_sizes", "_strides")

    def __init__(self, sizes: Sequence[int]) -> None:
        """Count the links; costs a step for each host and dimension."""
        self._sizes = sizes
        self._strides, hosts = [], 1
        for size in sizes:
            self._strides.append(hosts)
            hosts *= size
        shells: dict[int, list[int]] = {}
        self._firsts: list[int] = []
        for host in range(hosts):
            steps = sum(min(place, size - place) for place, size in zip(self._place(host), sizes, strict=True))
            shells.setdefault(steps, []).append(host)
        for stride, size in zip(self._strides, sizes, strict=True):
            line = interval_bits(0, stride - 1)
            self._firsts.append(sum(line << low for low in range(0, hosts, stride * size)))
        self._balls = [bits_of(shells[0])]
        for steps in range(1, len(shells)):
            self._balls.append(self._balls[-1] | bits_of(shells[steps]))

    def near(self, free: int, size: int) -> int | None:
        """Select the hosts with the fewest links to a free centre in total.

        Of equal centres that counts which has the fewest free hosts one link further, then the lowest; of hosts at the
        same distance the lowest. Costs a step for each free host and distance.
        """
        if size_of(free) < size:
            return None
        found: tuple[int, int, int, int] | None = None
        for centre, rotated in self._centres(free):
            missing, steps = 0, 0
            while (lacking := size - (rotated & self._balls[steps]).bit_count()) > 0:
                missing, steps = missing + lacking, steps + 1
                if found is not None and missing > found[0]:
                    break
            else:
                room = (rotated & self._balls[min(steps + 1, len(self._balls) - 1)]).bit_count()
                if found is None or (missing, room) < found[:2]:
                    found = missing, room, centre, rotated
        return None if found is None else self._take(found[2], found[3], size)

    def _take(self, centre: int, rotated: int, size: int) -> int:
        inner = 0
        for ball in self._balls:
            part = rotated & ball
            if part.bit_count() >= size:
                break
            inner = part
        near = self._back(centre, inner)
        return near | (lowest(self._back(centre, part & ~inner), size - near.bit_count()) or 0)

    def _centres(self, free: int) -> Iterator[tuple[int, int]]:
        """Yield each free host, with the free hosts rotated so that it is host 0."""
        hosts, rotated = self._strides[-1] * self._sizes[-1], free
        for centre in range(hosts):
            if rotated & 1:
                yield centre, rotated
            for stride, size, first in zip(self._strides, self._sizes, self._firsts, strict=True):
                rotated = (rotated & ~first) >> stride | (rotated & first) << stride * (size - 1)
                if (centre + 1) % (stride * size):
                    break

    def _back(self, centre: int, rotated: int) -> int:
        """Return where hosts are that were rotated to a centre."""
        here = self._place(centre)
        places = (zip(self._place(host), here, self._sizes, self._strides, strict=True) for host in HostSet(rotated))
        return bits_of(sum((each + own) % size * stride for each, own, size, stride in place) for place in places)

    def _place(self, host: int) -> list[int]:
        return [host // stride % size for stride, size in zip(self._strides, self._sizes, strict=True)]


def along(free: int, size: int, curve: Sequence[int], ranks: Sequence[int]) -> int | None:
    """Select hosts in a row along a curve: the beginning of the shortest run that is long enough, the first of equals.

    If there is none, the hosts with the shortest distance along the curve from first to last.

    Args:
        free: free hosts, as bits.
        size: number of hosts.
        curve: hosts in the order of the curve.
        ranks: the position of each host on it.
    """
    waiting = sorted(ranks[host] for host in HostSet(free))
    if len(waiting) < size:
        return None
    runs = [[rank for _, rank in run] for _, run in groupby(enumerate(waiting), key=lambda pair: sub(*pair))]
    enough = [run for run in runs if len(run) >= size]
    if enough:
        taken = min(enough, key=len)[:size]
    else:
        low = min(range(len(waiting) - size + 1), key=lambda low: waiting[low + size - 1] - waiting[low])
        taken = waiting[low : low + size]
    return bits_of(curve[rank] for rank in taken)

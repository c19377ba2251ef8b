"""Selections of a job's hosts among the free ones, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import OptionError, PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.topologies.cluster import Topology
from batsched_py.model.topologies.torus import Torus
from batsched_py.named import Named, by_name, failed
from batsched_py.planning.future.promises import Choose
from batsched_py.planning.machine import Machine, Zones, wake_cost, zones_of
from batsched_py.planning.policies import layouts
from batsched_py.planning.policies.geometry import TorusBalls, along, blocks_of, near_in_blocks, read_network
from batsched_py.text.wording import counted


class HostLayout(Struct, frozen=True):
    """The places of hosts, as options describe them.

    Attributes:
        zone: properties that give the zone of a host (see `zones_of`); "" for the default.
        topology: network of the hosts (see `read_network`); "" if unknown.
    """

    zone: str = ""
    topology: str = ""

    def zones(self, machine: Machine) -> Zones:
        """Return the blocks of the topology, else the zones by properties. OptionError."""
        if self.topology:
            if self.zone:
                raise OptionError("option zone: cannot be combined with topology, whose blocks are the zones")
            return blocks_of(self.network(machine))
        return zones_of(machine.hosts, self.zone)

    def network(self, machine: Machine) -> Topology:
        """Return the network. OptionError."""
        if not self.topology:
            raise OptionError("option topology: is required, since Batsim does not send the network")
        return read_network(self.topology, len(machine.hosts))


class Selection(Struct, frozen=True):
    """A policy that selects hosts.

    Attributes:
        name: name in options.
        prepare: returns the choice for a machine; called once, at setup. OptionError if the layout does
            not fit it.
        total: True if it finds hosts whenever enough are free; if False, a job may wait although they are.
        source: publication.
        uses: names of the options of the layout that it uses.
    """

    name: str
    prepare: Callable[[Machine, HostLayout], Choose]
    total: bool = True
    source: str = ""
    uses: tuple[str, ...] = ()


def lowest_hosts(machine: Machine, layout: HostLayout) -> Choose:  # noqa: ARG001  (all are prepared alike)
    """Take the lowest numbers. Costs a few operations on integers of as many bits as there are hosts."""
    return HostSet.first


def contiguous(machine: Machine, layout: HostLayout) -> Choose:  # noqa: ARG001
    """Take a run of consecutive numbers, or nothing: the shortest run that is long enough, of equal ones the lowest.

    Costs log2(size) operations on integers, and one for each run that is long enough.
    """
    return _on_bits(layouts.contiguous)


def best_effort_contiguous(machine: Machine, layout: HostLayout) -> Choose:  # noqa: ARG001
    """Take as `contiguous` if a run is long enough, else few runs: the longest ones, and a best fit for the rest.

    Costs as `contiguous`, and if that finds nothing n log n for n runs.
    """
    return _on_bits(layouts.best_effort_contiguous)


def topology(machine: Machine, layout: HostLayout) -> Choose:
    """Take one zone if possible, that with the fewest free hosts that suffice; else as few zones as possible.

    With the option `topology`, zones are the blocks of the network: of a switch, blade, chassis or group, or lines and
    planes of a torus. With several levels of zones the smallest zone that has enough free hosts counts, and inside it
    as few of the next smaller zones as possible. Inside the smallest zones the lowest numbers. Costs an operation on
    integers for each zone, and n log n for n zones if none of them suffices.
    """
    zones = layout.zones(machine)
    return _on_bits(lambda free, size: layouts.local(free, size, zones))


def spread(machine: Machine, layout: HostLayout) -> Choose:
    """Take from as many zones as possible, of each as equal a number as is free; inside a zone at equal distances.

    With several levels of zones first over the largest. Costs a step for each zone and each free host.
    """
    zones = layout.zones(machine)
    return _on_bits(lambda free, size: layouts.spread(free, size, zones))


def nearest(machine: Machine, layout: HostLayout) -> Choose:
    """Take hosts around a centre, of all free centres that with the fewest links to them.

    In a torus these are the hosts at the smallest distances. In a fat tree they are those of the smallest switch, then
    of the switches above it; in a dragonfly those of a blade, its chassis, its group, and other groups.
    Costs a step for each free host and distance in a torus, else for each switch or blade.
    """
    network = layout.network(machine)
    if isinstance(network, Torus):
        return _on_bits(TorusBalls(network.sizes).near)
    blocks = blocks_of(network)
    return _on_bits(lambda free, size: near_in_blocks(free, size, blocks))


def curve(machine: Machine, layout: HostLayout) -> Choose:
    """Take hosts in a row along the network's order, or, if no run is long enough, as close as possible along it.

    The order is that of numbers, but in a torus to and fro in each dimension. Costs n log n for n free hosts.
    """
    order = layout.network(machine).curve()
    ranks = sorted(range(len(order)), key=order.__getitem__)
    return _on_bits(lambda free, size: along(free, size, order, ranks))


def cheapest(machine: Machine, layout: HostLayout) -> Choose:  # noqa: ARG001
    """Take the lowest of those awake; if they are too few, sleeping ones too, in the order of the costs of waking.

    For algorithms that offer hosts which sleep: where none does it is `lowest`. Of like cost the lowest numbers. Costs
    as `lowest` if enough are awake, else n log n for n sleeping ones. See `machine.wake_cost`.
    """
    #: (sleeping host, its pstate) -> the cost of waking it.
    costs: dict[tuple[int, str | None], tuple[float, float, float]] = {}

    def cost(host: int) -> tuple[float, float, float]:
        pstate = machine.pstate(host)
        if (host, pstate) not in costs:
            costs[host, pstate] = wake_cost(machine.hosts[host], pstate)
        return costs[host, pstate]

    def choose(free: HostSet, size: int) -> HostSet | None:
        awake = free - machine.asleep
        missing = size - len(awake)
        if missing <= 0:
            return awake.first(size)
        if size > len(free):
            return None
        sleeping = sorted(free - awake, key=cost)
        return awake | HostSet.from_ids(sleeping[:missing])

    return choose


def adopt(name: str, function: Callable[..., Any]) -> Selection:
    """Return a selection that calls a user's function(free, size, hosts)."""

    def prepare(machine: Machine, layout: HostLayout) -> Choose:  # noqa: ARG001
        def choose(free: HostSet, size: int) -> HostSet | None:
            if size > len(free):
                return None
            try:
                hosts = function(free, size, machine.hosts)
            except BaseException as error:
                raise failed(_asked(name, free, size), error) from error
            return None if hosts is None else _checked(name, free, size, hosts)

        return choose

    return Selection(name, prepare, total=False)


def _checked(name: str, free: HostSet, size: int, hosts: object) -> HostSet:
    """Return the hosts from a user's function; PlanError if a job of this size cannot run on them."""
    what = _asked(name, free, size)
    if type(hosts) is not HostSet:
        raise PlanError(f"{what}: it must give a HostSet or None, not {hosts!r}")
    if not hosts <= free:
        raise PlanError(f"{what}: it gave {hosts}, of which {hosts - free} is not free")
    if len(hosts) != size:
        raise PlanError(f"{what}: it gave {hosts}, {counted(len(hosts), 'host')}")
    return hosts


def _asked(name: str, free: HostSet, size: int) -> str:
    """Return the function's name with its arguments, because it does not know the job."""
    return f"selection {name} for {counted(size, 'host')} of {free}"


def _on_bits(place: Callable[[int, int], int | None]) -> Choose:
    def choose(free: HostSet, size: int) -> HostSet | None:
        bits = place(free.bits, size)
        return None if bits is None else HostSet(bits)

    return choose


_CONTIGUITY: Final = (
    "Lucarelli, Mendonca, Trystram and Wagner, Contiguity and locality in backfilling scheduling, CCGrid 2015"
)

_DISTANCE: Final = (
    "after Bender, Bunde, Demaine, Fekete, Leung, Meijer and Phillips, Communication-aware processor allocation for"
    " supercomputers: finding point sets of small average distance, Algorithmica 50, 2008"
)
_CURVE: Final = (
    "after Leung, Arkin, Bender, Bunde, Johnston, Lal, Mitchell, Phillips and Seiden, Processor allocation on Cplant:"
    " achieving general processor locality using one-dimensional allocation strategies, CLUSTER 2002"
)

#: The selections by name.
SELECTIONS: Final[Named[Selection]] = Named(
    "host selection",
    by_name(
        "SELECTIONS",
        (
            Selection("lowest", lowest_hosts),
            Selection("contiguous", contiguous, total=False, source=_CONTIGUITY),
            Selection("best_effort_contiguous", best_effort_contiguous, source=_CONTIGUITY),
            Selection("topology", topology, source=_CONTIGUITY, uses=("zone", "topology")),
            Selection("spread", spread, uses=("zone", "topology")),
            Selection("nearest", nearest, source=_DISTANCE, uses=("topology",)),
            Selection("curve", curve, source=_CURVE, uses=("topology",)),
            Selection("cheapest", cheapest),
        ),
    ),
    ("free", "size", "hosts"),
    adopt,
)

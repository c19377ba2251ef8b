"""Selections of a job's hosts among the free ones, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.named import Named, by_name, failed
from batsched_py.planning.future.promises import Choose
from batsched_py.planning.machine import Machine, wake_cost, zones_of
from batsched_py.planning.policies import layouts
from batsched_py.text.wording import counted


class Selection(Struct, frozen=True):
    """A policy that selects hosts.

    Attributes:
        name: name in options.
        prepare: returns the choice for a machine; called once, at setup. Its second argument is the option `zone`, the
            properties that give the zone of a host ("" for the default); OptionError if no host has them.
        total: True if it finds hosts whenever enough are free; if False, a job may wait although they are.
        source: publication.
        by_zone: True if it uses the zones of hosts.
    """

    name: str
    prepare: Callable[[Machine, str], Choose]
    total: bool = True
    source: str = ""
    by_zone: bool = False


def lowest_hosts(machine: Machine, zone: str) -> Choose:  # noqa: ARG001  (all are prepared alike)
    """Take the lowest numbers. Costs a few operations on integers of as many bits as there are hosts."""
    return HostSet.first


def contiguous(machine: Machine, zone: str) -> Choose:  # noqa: ARG001
    """Take a run of consecutive numbers, or nothing: the shortest run that is long enough, of equal ones the lowest.

    Costs log2(size) operations on integers, and one for each run that is long enough.
    """
    return _on_bits(layouts.contiguous)


def best_effort_contiguous(machine: Machine, zone: str) -> Choose:  # noqa: ARG001
    """Take as `contiguous` if a run is long enough, else few runs: the longest ones, and a best fit for the rest.

    Costs as `contiguous`, and if that finds nothing n log n for n runs.
    """
    return _on_bits(layouts.best_effort_contiguous)


def topology(machine: Machine, zone: str) -> Choose:
    """Take one zone if possible, that with the fewest free hosts that suffice; else as few zones as possible.

    With several levels of zones the smallest zone that has enough free hosts counts, and inside it as few of the next
    smaller zones as possible. Inside the smallest zones the lowest numbers. Costs an operation on integers for each
    zone, and n log n for n zones if none of them suffices.
    """
    zones = zones_of(machine.hosts, zone)
    return _on_bits(lambda free, size: layouts.local(free, size, zones))


def spread(machine: Machine, zone: str) -> Choose:
    """Take from as many zones as possible, of each as equal a number as is free; inside a zone at equal distances.

    With several levels of zones first over the largest. Costs a step for each zone and each free host.
    """
    zones = zones_of(machine.hosts, zone)
    return _on_bits(lambda free, size: layouts.spread(free, size, zones))


def cheapest(machine: Machine, zone: str) -> Choose:  # noqa: ARG001
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

    def prepare(machine: Machine, zone: str) -> Choose:  # noqa: ARG001
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

#: The selections by name.
SELECTIONS: Final[Named[Selection]] = Named(
    "host selection",
    by_name(
        "SELECTIONS",
        (
            Selection("lowest", lowest_hosts),
            Selection("contiguous", contiguous, total=False, source=_CONTIGUITY),
            Selection("best_effort_contiguous", best_effort_contiguous, source=_CONTIGUITY),
            Selection("topology", topology, source=_CONTIGUITY, by_zone=True),
            Selection("spread", spread, by_zone=True),
            Selection("cheapest", cheapest),
        ),
    ),
    ("free", "size", "hosts"),
    adopt,
)

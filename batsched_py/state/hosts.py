"""The hosts, and the conditions that prevent their use: work, sleep, a switch in progress, a failure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from batsched_py.bits import SMALL, bit_runs, bits_of, size_of, sized, without
from batsched_py.model.demand import MOST_CORES
from batsched_py.protocol.events import DescribedHost
from batsched_py.reading.faults import FieldError
from batsched_py.state.host import Host

#: States of a resource in SIMULATION_BEGINS in which it cannot run jobs.
_ASLEEP = frozenset({"sleeping"})
_SWITCHING = frozenset({"switching_on", "switching_off"})


class Hosts:
    """The hosts as bit sets, one for each reason not to use a host."""

    __slots__ = (
        *("_large", "all", "asleep", "busy", "by_id", "down", "free", "pstate", "storages", "stores", "switching"),
        *("mixes", "part", "unavailable"),
    )

    def __init__(self, resources: Sequence[DescribedHost], storages: Sequence[DescribedHost] = ()) -> None:
        #: Host number -> host.
        self.by_id: Mapping[int, Host] = {resource.id: _host(resource) for resource in resources}
        #: Host number -> storage host, and their bits, which are in no other set.
        self.storages: Mapping[int, Host] = {resource.id: _host(resource) for resource in storages}
        self.stores = bits_of(resource.id for resource in storages)
        #: Bits of all compute hosts.
        self.all = bits_of(resource.id for resource in resources)
        #: Whether sets are so large that counting them takes time.
        self._large = self.all.bit_length() > SMALL
        #: Bits of hosts that run a job, which has them whole.
        self.busy = 0
        #: Bits of hosts that tasks share, whatever is left there.
        self.part = 0
        #: True if jobs without demands may run on hosts with tasks: the algorithm counts what they use.
        self.mixes = False
        #: Bits of hosts announced unavailable.
        self.unavailable = _bits(resources, frozenset({"unavailable"}))
        #: Bits of hosts in a sleep pstate.
        self.asleep = _bits(resources, _ASLEEP)
        #: Bits of hosts with a requested change of pstate that is not acknowledged yet.
        self.switching = _bits(resources, _SWITCHING)
        #: Bits of hosts that are unusable for a reason other than work: the three sets above.
        self.down = self.unavailable | self.asleep | self.switching
        #: Bits of hosts that could run a job now: not busy, shared or down. Cached, because it is used everywhere.
        self.free = self.all & ~self.down
        #: Host number -> the last acknowledged pstate, as text; absent before the first change.
        self.pstate: dict[int, str] = {}

    @property
    def usable(self) -> int:
        """Bits of hosts on which tasks could begin now: free ones, and those that tasks share."""
        return self.all & ~(self.whole | self.down)

    @property
    def whole(self) -> int:
        """Bits of hosts on which no task may begin, because a job has them whole."""
        return 0 if self.mixes else self.busy

    @property
    def shareable(self) -> int:
        """Bits of hosts on which a job without a demand may begin, with compute sharing."""
        return self.all & ~(self.down | (0 if self.mixes else self.part))

    def occupy(self, hosts: int) -> None:
        """Mark hosts busy: a job begins on them."""
        self.busy |= hosts
        free = self.free
        taken = free & hosts
        self.free = free ^ taken
        if self._large and taken == hosts:
            sized(self.free, size_of(free) - size_of(hosts))

    def vacate(self, hosts: int) -> None:
        """Mark busy hosts idle: the last job on them has ended."""
        self.busy ^= hosts
        free = self.free
        unfit = self.down | self.part
        back = without(hosts, unfit) if unfit else hosts
        self.free = free | back
        if self._large:
            sized(self.free, size_of(free) + size_of(back))

    def share(self, hosts: int) -> None:
        """Mark hosts shared: tasks begin on them."""
        self.part |= hosts
        self.free &= ~hosts

    def unshare(self, hosts: int) -> None:
        """Mark shared hosts idle: their last tasks have ended."""
        self.part &= ~hosts
        self._recount()

    def fail(self, hosts: int) -> None:
        """Mark hosts unavailable, as announced by Batsim."""
        self.unavailable |= hosts
        self._recount()

    def recover(self, hosts: int) -> None:
        """Mark hosts available, as announced by Batsim."""
        self.unavailable &= ~hosts
        self._recount()

    def switch(self, hosts: int) -> None:
        """Mark hosts as switching after the request of a change of pstate."""
        self.switching |= hosts
        self._recount()

    def settle(self, hosts: int, pstate: str) -> None:
        """Record that hosts have reached a pstate. FieldError if the platform shows that one does not have it."""
        self.switching &= ~hosts
        self.asleep &= ~hosts
        place = int(pstate)
        for low, high in bit_runs(hosts & self.all):
            for number in range(low, high + 1):
                host = self.by_id[number]
                if 0 < host.pstate_count <= place:
                    raise FieldError("state", f"must be below {host.pstate_count}, the pstates of host {number}")
                self.pstate[number] = pstate
                if pstate in host.sleep_pstates:
                    self.asleep |= 1 << number
        self._recount()

    def _recount(self) -> None:
        self.down = self.unavailable | self.asleep | self.switching
        self.free = self.all & ~(self.busy | self.part | self.down)


def _host(resource: DescribedHost) -> Host:
    properties = resource.properties
    sleeps, transitions = _special_pstates(properties)
    watts = properties.get("wattage_per_state", properties.get("watt_per_state", ""))
    count = len(watts.split(",")) if isinstance(watts, str) and watts else 0
    cores = resource.extra.get("core_count")
    if type(cores) is not int or not 0 < cores <= MOST_CORES:
        cores = 1
    zone_properties = resource.zone_properties or {}
    return Host(resource.id, resource.name, properties, zone_properties, sleeps, transitions, count, cores)


def _special_pstates(properties: Mapping[str, Any]) -> tuple[frozenset[str], frozenset[str]]:
    """Return sleep and transition pstates of the property `sleep_pstates`: "sleep:off:on", with commas (E13)."""
    text = properties.get("sleep_pstates", "")
    triples = [triple.strip().split(":") for triple in text.split(",")] if isinstance(text, str) and text else []
    sleeps = frozenset(triple[0] for triple in triples)
    return sleeps, frozenset(pstate for triple in triples for pstate in triple[1:])


def _bits(resources: Sequence[DescribedHost], states: frozenset[str]) -> int:
    return bits_of(resource.id for resource in resources if resource.state in states)

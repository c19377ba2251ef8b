"""Switching of power states: immediate between computing ones, with a delay to and from sleep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.platform import PlatformHost
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.events import ResourceStateChanged
from batsched_py.results.tracing import TO_COMPUTING, TO_SLEEP
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.machines import COMPUTING, IDLE, SLEEPING, SWITCHING_OFF, SWITCHING_ON, members
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import RANK_END

# A transition between a computing and a sleeping pstate passes through a virtual pstate, in which the host takes one
# flop, by SimGrid's convention: its duration is the inverse of a speed. Changes between computing pstates take no time,
# but change the ends of running tasks (`on_speed_change`).
#
# All hosts of a request are checked before any of them changes, so that a broken rule leaves no partial request.
# Afterwards each host is in exactly one state, and `request.waiting` contains those that still switch; the last one
# triggers the only acknowledgement, since Batsim sends one for each request. Hosts with the same virtual pstate and
# duration share one entry in the queue.
#
# Rules that look arbitrary are Batsim's: it aborts, or never answers, where `BrokenRuleError` is raised here. A pstate
# of 0 flop/s is refused where a computation or a transition would never end.


class SwitchRequest(Struct):
    """A SET_RESOURCE_STATE command, acknowledged when all its hosts have switched."""

    hosts: int
    pstate: int
    #: Whether the command turns hosts on or off (Batsim 5).
    turns: bool
    #: Hosts that are still switching.
    waiting: int


class Switching:
    """The execution of SET_RESOURCE_STATE. The meter contains the pstates: without one, no host can switch."""

    def __init__(
        self,
        context: Context,
        hosts: Sequence[PlatformHost],
        speeds: list[float],
        on_speed_change: Callable[[int], None],
    ) -> None:
        """Take `speeds` (host -> flop/s) to update, and `on_speed_change(hosts)` to call for computing hosts."""
        self._context, self._machines, self._queue = context, context.machines, context.queue
        self._enabled, self._meter = context.meter is not None, context.meter or EnergyMeter((), ())
        self._tracer = context.tracer
        #: Host -> speed in each pstate.
        self._tables = [host.speeds for host in hosts]
        self._speeds, self._on_speed_change = speeds, on_speed_change
        self.requests = 0
        self.host_switches = 0

    def request(self, command: SetResourceState) -> None:
        """Begin to switch; BrokenRuleError if Batsim would abort or never answer."""
        hosts, pstate = command.hosts.bits, int(command.state)
        if not self._enabled:
            raise BrokenRuleError("needs energy to be counted (-E)", hosts=hosts)
        if hosts & ~self._machines.all:
            raise BrokenRuleError("names a host that does not exist", hosts=hosts & ~self._machines.all)
        turns = command.turns or self._context.generation.pstates_turn_hosts
        sleeping, waking = self._sort_out(hosts, pstate) if turns else self._change(hosts, pstate)
        if command.turns and hosts & ~(sleeping | waking):
            staying = hosts & ~(sleeping | waking)
            raise BrokenRuleError(
                "cannot be turned on or off: it is that already, or has no such pstate", hosts=staying
            )
        self._meter.settle_all(self._queue.now)
        if turns:
            self.requests += 1
            self.host_switches += hosts.bit_count()
        if self._tracer is not None:
            departs = TO_SLEEP if sleeping else TO_COMPUTING
            self._tracer.switch(hosts, departs if turns else pstate)
        request = SwitchRequest(hosts, pstate, command.turns, sleeping | waking)
        self._depart(request, sleeping, IDLE, SWITCHING_OFF)
        self._depart(request, waking, SLEEPING, SWITCHING_ON)
        at_once = hosts & ~request.waiting
        self._set_pstate(request, at_once)
        if at_once & self._machines.hosts_in[COMPUTING]:
            self._on_speed_change(at_once)
        if not request.waiting:
            self._acknowledge(request)
        if self._tracer is not None and turns:
            self._tracer.count_states()

    def _change(self, hosts: int, pstate: int) -> tuple[int, int]:
        """Check a command whose pstates all change immediately; return (0, 0): no host sleeps or wakes up."""
        lacking = sum(1 << host for host in members(hosts) if pstate >= len(self._tables[host]))
        if lacking:
            raise BrokenRuleError(f"has no pstate {pstate}", hosts=lacking)
        still = sum(1 << host for host in members(hosts & self._machines.compute) if not self._tables[host][pstate])
        computing = still & self._machines.hosts_in[COMPUTING]
        endless = computing | sum(1 << host for host in members(still) if self._meter.models[host].computes(pstate))
        if endless:
            raise BrokenRuleError(f"has 0 flop/s in pstate {pstate}: what computes there never ends", hosts=endless)
        return 0, 0

    def _sort_out(self, hosts: int, pstate: int) -> tuple[int, int]:
        """Return (hosts that go to sleep, hosts that wake up); the others change immediately."""
        sleeping = waking = 0
        for host in members(hosts):
            bit = 1 << host
            model = self._meter.models[host]
            if pstate >= len(self._tables[host]):
                raise BrokenRuleError(f"has no pstate {pstate}", hosts=bit)
            if pstate in model.virtual:
                raise BrokenRuleError(f"cannot be put into pstate {pstate}: it only models a transition", hosts=bit)
            if bit & self._machines.switching:
                raise BrokenRuleError(f"is switching already ({self._machines.states(bit)})", hosts=bit)
            sleeps_now, will_sleep = self._meter.pstates[host] in model.sleeps, pstate in model.sleeps
            if sleeps_now and will_sleep:
                raise BrokenRuleError("sleeps already; it can only be switched to a computing pstate", hosts=bit)
            if will_sleep and bit & self._machines.hosts_in[COMPUTING]:
                raise BrokenRuleError("cannot sleep while a job runs there", hosts=bit)
            sleeping |= bit if will_sleep else 0
            waking |= bit if sleeps_now else 0
        self._check_transitions(sleeping, waking, pstate)
        return sleeping, waking

    def _check_transitions(self, sleeping: int, waking: int, pstate: int) -> None:
        """Raise BrokenRuleError for a host whose switch would never end."""
        for host in members(sleeping | waking):
            virtual = self._transition(host, pstate, to_sleep=bool(sleeping >> host & 1))
            if not self._tables[host][virtual]:
                rule = f"passes through pstate {virtual} of 0 flop/s, so that the switch would never end"
                raise BrokenRuleError(rule, hosts=1 << host)

    def _transition(self, host: int, pstate: int, *, to_sleep: bool) -> int:
        """Return the virtual pstate of a host's transition to the sleep pstate, or from sleep to another one."""
        sleeps = self._meter.models[host].sleeps
        return sleeps[pstate].off if to_sleep else sleeps[self._meter.pstates[host]].on

    def _depart(self, request: SwitchRequest, hosts: int, source: str, state: str) -> None:
        """Enter the virtual pstate; by SimGrid's convention a transition takes as long as one flop at its speed."""
        #: (virtual pstate, duration) -> hosts, which finish together.
        groups: dict[tuple[int, float], int] = {}
        for host in members(hosts):
            virtual = self._transition(host, request.pstate, to_sleep=state == SWITCHING_OFF)
            key = virtual, 1.0 / self._tables[host][virtual]
            groups[key] = groups.get(key, 0) | 1 << host
        now = self._queue.now
        # A host may begin the simulation in a sleep pstate, in which Batsim calls it idle.
        idle = hosts & self._machines.hosts_in[IDLE]
        self._machines.move(idle, IDLE, state, now)
        self._machines.move(hosts & ~idle, source, state, now)
        for (virtual, duration), group in groups.items():
            self._meter.set_pstate(members(group), virtual, now, 1.0)
            self._queue.at(now + duration, RANK_END, self._arrive, (request, group))

    def _set_pstate(self, request: SwitchRequest, hosts: int, load: float | None = None) -> None:
        numbers = members(hosts)
        for host in numbers:
            self._speeds[host] = self._tables[host][request.pstate]
        self._meter.set_pstate(numbers, request.pstate, self._queue.now, load)

    def _arrive(self, arrival: tuple[SwitchRequest, int]) -> None:
        """Complete the transitions of some hosts; each reports to the server."""
        request, hosts = arrival
        now = self._queue.now
        self._set_pstate(request, hosts, 0.0)
        self._machines.move(hosts & self._machines.hosts_in[SWITCHING_OFF], SWITCHING_OFF, SLEEPING, now)
        self._machines.move(hosts & self._machines.hosts_in[SWITCHING_ON], SWITCHING_ON, IDLE, now)
        for host in members(hosts):
            self._context.mailbox.post(self._host_done, (request, host), host)

    def _host_done(self, done: tuple[SwitchRequest, int]) -> None:
        """Record that one host has switched; the last one triggers the acknowledgement."""
        request, host = done
        request.waiting &= ~(1 << host)
        if not request.waiting:
            self._acknowledge(request)
            if self._tracer is not None:
                self._tracer.count_states()

    def _acknowledge(self, request: SwitchRequest) -> None:
        self._meter.settle_all(self._queue.now)
        if self._tracer is not None and (request.turns or self._context.generation.pstates_turn_hosts):
            self._tracer.switch(request.hosts, request.pstate)
        hosts, pstate = HostSet(request.hosts), str(request.pstate)
        self._context.emit(ResourceStateChanged(self._queue.stamp, hosts, pstate, turned=request.turns))

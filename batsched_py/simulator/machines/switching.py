"""Switching: power states, which change at once between computing ones, in time to and from sleep."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.platform import PlatformHost
from batsched_py.protocol.commands import SetResourceState
from batsched_py.protocol.events import ResourceStateChanged
from batsched_py.simulator.context import Context
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.machines import COMPUTING, IDLE, SLEEPING, SWITCHING_OFF, SWITCHING_ON, members
from batsched_py.simulator.outputs.tracing import TO_COMPUTING, TO_SLEEP
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import RANK_END


class SwitchRequest(Struct):
    """One SET_RESOURCE_STATE, acknowledged when all its hosts are done."""

    hosts: int
    pstate: int
    #: Hosts that are still switching.
    waiting: int


class Switching:
    """The pstate of each host. Without a meter (no energy) they stay as they began."""

    __slots__ = (
        "_context",
        "_machines",
        "_meter",
        "_pstates",
        "_queue",
        "_tables",
        "_tracer",
        "follow_speeds",
        "host_switches",
        "requests",
        "speeds",
    )

    def __init__(self, context: Context, hosts: Sequence[PlatformHost]) -> None:
        self._context, self._machines, self._queue = context, context.machines, context.queue
        self._meter, self._tracer = context.meter, context.tracer
        #: Told of computing hosts whose speed has changed.
        self.follow_speeds: Callable[[int], None] = _nobody_computes
        #: Host -> speed in each pstate; pstate now; speed now.
        self._tables = [host.speeds for host in hosts]
        self._pstates = [host.pstate for host in hosts]
        self.speeds = [host.speeds[host.pstate] for host in hosts]
        self.requests = 0
        self.host_switches = 0

    @property
    def busy(self) -> bool:
        """True while a host is on its way to or from sleep."""
        in_state = self._machines.hosts_in
        return bool(in_state[SWITCHING_ON] | in_state[SWITCHING_OFF])

    def computing_pstate(self, hosts: int) -> int:
        """Those of the hosts whose pstate runs jobs: all of them if energy is not counted."""
        if self._meter is None:
            return hosts
        models = self._meter.models
        return sum(1 << host for host in members(hosts) if models[host].computes(self._pstates[host]))

    def request(self, command: SetResourceState) -> None:
        """Begin to switch; BrokenRuleError for what makes Batsim abort or never answer."""
        hosts, pstate = command.hosts.bits, int(command.state)
        if self._meter is None:
            raise BrokenRuleError("needs energy to be counted (-E)", hosts=hosts)
        if hosts & ~self._machines.all:
            raise BrokenRuleError("names a host that does not exist", hosts=hosts & ~self._machines.all)
        sleeping, waking = self._sort_out(self._meter, hosts, pstate)
        self.requests += 1
        self.host_switches += hosts.bit_count()
        self._meter.settle_all(self._queue.now)
        if self._tracer is not None:
            self._tracer.switch(hosts, TO_SLEEP if sleeping else TO_COMPUTING)
        request = SwitchRequest(hosts, pstate, sleeping | waking)
        self._depart(self._meter, request, sleeping, IDLE, SWITCHING_OFF)
        self._depart(self._meter, request, waking, SLEEPING, SWITCHING_ON)
        self._change(self._meter, request, hosts & ~request.waiting)
        if not request.waiting:
            self._acknowledge(request)
        if self._tracer is not None:
            self._tracer.count_states()

    def _sort_out(self, meter: EnergyMeter, hosts: int, pstate: int) -> tuple[int, int]:
        """(hosts that go to sleep, hosts that wake up); the others change at once."""
        in_state = self._machines.hosts_in
        sleeping = waking = 0
        for host in members(hosts):
            bit = 1 << host
            model = meter.models[host]
            if pstate >= len(self._tables[host]):
                raise BrokenRuleError(f"has no pstate {pstate}", hosts=bit)
            if pstate in model.virtual:
                raise BrokenRuleError(f"cannot be put into pstate {pstate}: it only models a transition", hosts=bit)
            if bit & (in_state[SWITCHING_ON] | in_state[SWITCHING_OFF]):
                raise BrokenRuleError(f"is switching already ({self._machines.states(bit)})", hosts=bit)
            sleeps_now, will_sleep = self._pstates[host] in model.sleeps, pstate in model.sleeps
            if sleeps_now and will_sleep:
                raise BrokenRuleError("sleeps already; it can only be switched to a computing pstate", hosts=bit)
            if will_sleep and bit & in_state[COMPUTING]:
                raise BrokenRuleError("cannot sleep while a job runs there", hosts=bit)
            sleeping |= bit if will_sleep else 0
            waking |= bit if sleeps_now else 0
        return sleeping, waking

    def _depart(self, meter: EnergyMeter, request: SwitchRequest, hosts: int, source: str, state: str) -> None:
        """Pass through the virtual pstate; a transition lasts one flop at its speed, by SimGrid's convention."""
        #: (virtual pstate, duration) -> hosts: those of a kind arrive together.
        groups: dict[tuple[int, float], int] = {}
        for host in members(hosts):
            sleeps = meter.models[host].sleeps
            virtual = sleeps[request.pstate].off if state == SWITCHING_OFF else sleeps[self._pstates[host]].on
            key = virtual, 1.0 / self._tables[host][virtual]
            groups[key] = groups.get(key, 0) | 1 << host
        now = self._queue.now
        # A host may begin the simulation in a sleeping pstate, which Batsim calls idle.
        idle = hosts & self._machines.hosts_in[IDLE]
        self._machines.move(idle, IDLE, state, now)
        self._machines.move(hosts & ~idle, source, state, now)
        for (virtual, duration), group in groups.items():
            meter.set_pstate(members(group), virtual, now, 1.0)
            self._queue.at(now + duration, RANK_END, self._arrive, (request, group))

    def _change(self, meter: EnergyMeter, request: SwitchRequest, hosts: int) -> None:
        """Hosts that compute already compute at another speed."""
        now = self._queue.now
        for host in members(hosts):
            self._pstates[host] = request.pstate
            self.speeds[host] = self._tables[host][request.pstate]
        meter.set_pstate(members(hosts), request.pstate, now)
        if hosts & self._machines.hosts_in[COMPUTING]:
            self.follow_speeds(hosts)

    def _arrive(self, arrival: tuple[SwitchRequest, int]) -> None:
        """Some hosts woke up or fell asleep; each tells the server."""
        request, hosts = arrival
        assert self._meter is not None  # noqa: S101  # checked when the switch was requested
        now = self._queue.now
        for host in members(hosts):
            self._pstates[host] = request.pstate
            self.speeds[host] = self._tables[host][request.pstate]
        self._meter.set_pstate(members(hosts), request.pstate, now, 0.0)
        self._machines.move(hosts & self._machines.hosts_in[SWITCHING_OFF], SWITCHING_OFF, SLEEPING, now)
        self._machines.move(hosts & self._machines.hosts_in[SWITCHING_ON], SWITCHING_ON, IDLE, now)
        for host in members(hosts):
            self._context.mailbox.post(self._done, (request, host), host)

    def _done(self, done: tuple[SwitchRequest, int]) -> None:
        """The server hears of one host; the last one brings the acknowledgement."""
        request, host = done
        request.waiting &= ~(1 << host)
        if not request.waiting:
            self._acknowledge(request)
            if self._tracer is not None:
                self._tracer.count_states()

    def _acknowledge(self, request: SwitchRequest) -> None:
        assert self._meter is not None  # noqa: S101  # checked when the switch was requested
        self._meter.settle_all(self._queue.now)
        if self._tracer is not None:
            self._tracer.switch(request.hosts, request.pstate)
        self._context.emit(ResourceStateChanged(self._queue.stamp, HostSet(request.hosts), str(request.pstate)))


def _nobody_computes(hosts: int) -> None:
    """Until somebody wants to be told."""

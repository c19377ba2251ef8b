"""The energy meter: joules consumed by the hosts, accumulated as lazily as in SimGrid's energy plugin."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.addition import add_up
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.machines.power_model import PowerModel


class EnergyMeter:
    """The joules consumed by each host, computed from its draw.

    A host's energy is updated on reads (`settle`), for the whole time since the last update, at the draw at the time of
    the read. A change of draw between two reads therefore also applies to the time before the change: SimGrid's host
    energy plugin does the same, and the figures of real Batsim include this effect.

    Attributes:
        held: host seconds of the jobs that have ended.
        computed: the part of them in which the job's task computed.
    """

    def __init__(self, models: Sequence[PowerModel], pstates: Sequence[int]) -> None:
        self.models = models
        self.held = self.computed = 0.0
        #: Host -> its pstate; during a switch, the virtual pstate of the transition.
        self.pstates = list(pstates)
        #: Host -> current watts, joules until `_since`, time of the last update; a host not updated since `_epoch`
        #: counts as updated then.
        self._watts = [model.watts[pstate].idle for model, pstate in zip(models, pstates, strict=True)]
        self._joules = [0.0] * len(models)
        self._since = [0.0] * len(models)
        #: Host -> share of its speed used by its tasks, and their number; at 0 tasks the share is reset, without
        #: residue.
        self._loads = [0.0] * len(models)
        self._running = [0] * len(models)
        #: Totals of all hosts, so that reading them needs no iteration: time of the last read of all, joules until then
        #: and of hosts updated since, watts, and joules of those hosts that `_draw` counts twice.
        self._epoch = 0.0
        self._total = 0.0
        self._draw = add_up(self._watts)
        self._ahead = 0.0
        #: Watts of all hosts at the minimum computing load of their pstates: Batsim's "wattmin".
        self.least_watts = add_up(model.watts[pstate].epsilon for model, pstate in zip(models, pstates, strict=True))

    def joules(self, hosts: Sequence[int], now: float) -> float:
        """Return the joules of these hosts since the start of the simulation."""
        return add_up(self._joules[host] + self._watts[host] * (now - self._since[host]) for host in hosts)

    def total(self, now: float) -> float:
        """Return the joules of all hosts since the start of the simulation."""
        return self._total + self._draw * (now - self._epoch) - self._ahead

    def unfit(self, hosts: int) -> int:
        """Return the hosts (bits) among these whose pstate cannot run jobs."""
        return sum(1 << host for host in members(hosts) if not self.models[host].computes(self.pstates[host]))

    def settle_all(self, now: float) -> float:
        """Update all hosts to the current time; return their total joules."""
        self._total = self.total(now)
        self._epoch, self._ahead = now, 0.0
        return self._total

    def settle(self, hosts: Sequence[int], now: float) -> None:
        """Update these hosts to the current time."""
        for host in hosts:
            self._catch_up(host)
            joules = self._watts[host] * (now - self._since[host])
            self._joules[host] += joules
            self._since[host] = now
            self._total += joules
            self._ahead += joules

    def load(self, hosts: Sequence[int], loads: Sequence[float]) -> None:
        """Begin a task that uses these shares of the hosts' speeds."""
        for host, load in zip(hosts, loads, strict=True):
            self._running[host] += 1
            self._loads[host] += load
            self._redraw(host)

    def unload(self, hosts: Sequence[int], loads: Sequence[float]) -> None:
        """End a task that `load` began."""
        for host, load in zip(hosts, loads, strict=True):
            self._running[host] -= 1
            self._loads[host] = self._loads[host] - load if self._running[host] else 0.0
            self._redraw(host)

    def set_pstate(self, hosts: Sequence[int], pstate: int, now: float, load: float | None = None) -> None:
        """Update the hosts and change their pstate; `load` replaces their load (1 in a transition, 0 afterwards)."""
        self.settle(hosts, now)
        for host in hosts:
            watts = self.models[host].watts
            self.least_watts += watts[pstate].epsilon - watts[self.pstates[host]].epsilon
            self.pstates[host] = pstate
            if load is not None:
                self._loads[host] = load
            self._redraw(host)

    def _catch_up(self, host: int) -> None:
        """Update the host to the epoch, the last update of all hosts, if its own update is older."""
        if self._since[host] < self._epoch:
            self._joules[host] += self._watts[host] * (self._epoch - self._since[host])
            self._since[host] = self._epoch

    def _redraw(self, host: int) -> None:
        """Recompute the draw of the host, for the whole time since its last update."""
        self._catch_up(host)
        model = self.models[host]
        watts = model.watts[self.pstates[host]].at(self._loads[host] / model.cores)
        more = watts - self._watts[host]
        self._draw += more
        self._ahead += more * (self._since[host] - self._epoch)
        self._watts[host] = watts

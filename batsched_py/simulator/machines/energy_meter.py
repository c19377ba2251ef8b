"""The energy meter: joules that the hosts consume, charged as lazily as SimGrid's energy plugin charges them."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.addition import add_up
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.machines.power_model import PowerModel


class EnergyMeter:
    """Joules consumed by each host, from what it draws.

    A host is charged when somebody looks (`settle`), for all the time since it was last charged, at what it draws
    *then*. So a draw that changes while nobody looks counts for the time before the change too: SimGrid's host energy
    plugin does the same, and the figures of real Batsim contain it.

    Attributes:
        held: host seconds of the jobs that have ended.
        computed: those of them in which the job's task computed anything.
    """

    def __init__(self, models: Sequence[PowerModel], pstates: Sequence[int]) -> None:
        self.models = models
        self.held = self.computed = 0.0
        #: Host -> its pstate; while it switches, the virtual one of the transition.
        self.pstates = list(pstates)
        #: Host -> watts now, joules until `_since`, time of that. Who was not charged since `_epoch` is until then.
        self._watts = [model.watts[pstate].idle for model, pstate in zip(models, pstates, strict=True)]
        self._joules = [0.0] * len(models)
        self._since = [0.0] * len(models)
        #: Host -> share of its speed that its tasks use, and their number; nothing is left of a load when it is 0.
        self._loads = [0.0] * len(models)
        self._running = [0] * len(models)
        #: All hosts together, kept apart so that a look at all of them costs no walk over them: when that was last,
        #: joules until then and of hosts charged since, watts, and joules of those hosts that `_draw` counts twice.
        self._epoch = 0.0
        self._total = 0.0
        self._draw = add_up(self._watts)
        self._ahead = 0.0
        #: Watts of all hosts if each did as little as its pstate allows while it computes: Batsim's "wattmin".
        self.least_watts = add_up(model.watts[pstate].epsilon for model, pstate in zip(models, pstates, strict=True))

    def joules(self, hosts: Sequence[int], now: float) -> float:
        """Return the joules of these hosts since the start of the simulation."""
        return add_up(self._joules[host] + self._watts[host] * (now - self._since[host]) for host in hosts)

    def total(self, now: float) -> float:
        """Return the joules of all hosts since the start of the simulation."""
        return self._total + self._draw * (now - self._epoch) - self._ahead

    def unfit(self, hosts: int) -> int:
        """Return those of the hosts (bits) whose pstate runs no jobs."""
        return sum(1 << host for host in members(hosts) if not self.models[host].computes(self.pstates[host]))

    def settle_all(self, now: float) -> float:
        """Charge all hosts up to now; return what they have consumed."""
        self._total = self.total(now)
        self._epoch, self._ahead = now, 0.0
        return self._total

    def settle(self, hosts: Sequence[int], now: float) -> None:
        """Charge these hosts up to now."""
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
        """Charge the hosts and change their pstate; `load` replaces that of their tasks (1 in a transition, then 0)."""
        self.settle(hosts, now)
        for host in hosts:
            watts = self.models[host].watts
            self.least_watts += watts[pstate].epsilon - watts[self.pstates[host]].epsilon
            self.pstates[host] = pstate
            if load is not None:
                self._loads[host] = load
            self._redraw(host)

    def _catch_up(self, host: int) -> None:
        """Charge the host up to the epoch, at which all were charged, if that is later than its own time."""
        if self._since[host] < self._epoch:
            self._joules[host] += self._watts[host] * (self._epoch - self._since[host])
            self._since[host] = self._epoch

    def _redraw(self, host: int) -> None:
        """Compute anew what the host draws, for all the time since it was charged."""
        self._catch_up(host)
        model = self.models[host]
        watts = model.watts[self.pstates[host]].at(self._loads[host] / model.cores)
        more = watts - self._watts[host]
        self._draw += more
        self._ahead += more * (self._since[host] - self._epoch)
        self._watts[host] = watts

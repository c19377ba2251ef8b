"""The meter: joules that the hosts consume, from what each draws now."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.simulator.power import PowerModel


class Meter:
    """Joules consumed by each host, from what it draws now."""

    __slots__ = (
        "_joules",
        "_loads",
        "_pstates",
        "_running",
        "_since",
        "_total",
        "_total_draw",
        "_total_since",
        "_watts",
        "models",
    )

    def __init__(self, models: Sequence[PowerModel], pstates: Sequence[int]) -> None:
        self.models = models
        self._pstates = list(pstates)
        #: Host -> watts now, joules until `_since`, time of that.
        self._watts = [model.watts[pstate].idle for model, pstate in zip(models, pstates, strict=True)]
        self._joules = [0.0] * len(models)
        self._since = [0.0] * len(models)
        #: Host -> share of its speed that its tasks use, and their number; nothing is left of a load when it is 0.
        self._loads = [0.0] * len(models)
        self._running = [0] * len(models)
        #: All hosts together, kept apart so that asking for it does not cost a walk over the hosts.
        self._total = 0.0
        self._total_draw = sum(self._watts)
        self._total_since = 0.0

    def joules(self, hosts: Sequence[int], now: float) -> float:
        """Consumed by these hosts since the start of the simulation."""
        return sum(self._joules[host] + self._watts[host] * (now - self._since[host]) for host in hosts)

    def total(self, now: float) -> float:
        """Consumed by all hosts since the start of the simulation."""
        return self._total + self._total_draw * (now - self._total_since)

    def load(self, hosts: Sequence[int], loads: Sequence[float], now: float) -> None:
        """A task begins that uses these shares of the hosts' speeds."""
        for host, load in zip(hosts, loads, strict=True):
            self._running[host] += 1
            self._loads[host] += load
        self._redraw(hosts, now)

    def unload(self, hosts: Sequence[int], loads: Sequence[float], now: float) -> None:
        """That task has ended."""
        for host, load in zip(hosts, loads, strict=True):
            self._running[host] -= 1
            self._loads[host] = self._loads[host] - load if self._running[host] else 0.0
        self._redraw(hosts, now)

    def set_pstate(self, hosts: Sequence[int], pstate: int, now: float, load: float | None = None) -> None:
        """The hosts change their pstate; `load` replaces what their tasks use (1 in a transition, 0 afterwards)."""
        for host in hosts:
            self._pstates[host] = pstate
            if load is not None:
                self._loads[host] = load
        self._redraw(hosts, now)

    def _redraw(self, hosts: Sequence[int], now: float) -> None:
        self._total, self._total_since = self.total(now), now
        for host in hosts:
            self._joules[host] += self._watts[host] * (now - self._since[host])
            self._since[host] = now
            watts = self.models[host].watts[self._pstates[host]].at(self._loads[host])
            self._total_draw += watts - self._watts[host]
            self._watts[host] = watts

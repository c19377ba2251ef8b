"""The recorder of a trace during a simulation."""

from __future__ import annotations

from batsched_py.results.tracing import PSTATE, EnergyRows, StateRows, Trace
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.machines import Machines
from batsched_py.simulator.time.event_queue import EventQueue


class Tracer:
    """The recorder of a trace during a simulation, whose methods are called immediately after machines change."""

    def __init__(
        self, machines: Machines, meter: EnergyMeter | None, queue: EventQueue, *, machine_states: bool
    ) -> None:
        self._machines, self._meter, self._queue = machines, meter, queue
        self._states = StateRows() if machine_states else None
        self._energy = None if meter is None else EnergyRows()
        self.trace = Trace(self._states, self._energy, [])
        if meter is not None:  # the pstates at the start, lowest first
            for pstate in sorted(set(meter.pstates)):
                hosts = sum(1 << host for host, own in enumerate(meter.pstates) if own == pstate)
                self.trace.pstates.append((0.0, hosts, pstate))

    def job(self, kind: str) -> None:
        """Add rows at the start or end of a job."""
        self.count_states()
        if self._energy is not None:
            self._measure(kind)

    def switch(self, hosts: int, pstate: int) -> None:
        """Add rows when hosts begin to switch (TO_COMPUTING, TO_SLEEP), and when all of them have reached a pstate."""
        if self._energy is not None:
            self.trace.pstates.append((self._queue.now, hosts, pstate))
            self._measure(PSTATE)

    def count_states(self) -> None:
        """Add a row with the number of hosts in each state."""
        states = self._states
        if states is not None:
            states.times.append(self._queue.now)
            states.counts.extend(self._machines.census())
            states.unavailable.append(self._machines.unavailable_count)

    def _measure(self, kind: str) -> None:
        assert self._meter is not None  # noqa: S101  # without it there are no rows of energy
        assert self._energy is not None  # noqa: S101  # as above
        now, energy = self._queue.now, self._energy
        energy.times.append(now)
        energy.joules.append(self._meter.total(now))
        energy.kinds.append(kind)
        energy.least_watts.append(self._meter.least_watts)

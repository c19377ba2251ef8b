"""Verbs of the Plan for recurring actions, which continue until stopped: periodic calls, energy, the simulation.

Batsim 5 has commands for them. For earlier versions they are booked, and the session requests single calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final, SupportsFloat, SupportsIndex

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.protocol import events
from batsched_py.protocol.batsim5.triggers import period_fault
from batsched_py.protocol.commands import (
    CallPeriodically,
    Command,
    CreateProbe,
    KillJob,
    RejectJob,
    StopCalls,
    StopProbe,
    StopSimulation,
)
from batsched_py.protocol.dialect import Dialect
from batsched_py.scheduling.arguments import Text, number_of, whole_of
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import seconds

if TYPE_CHECKING:
    from batsched_py.state.state import State

#: Name of the probe, and in earlier versions of the periodic calls, of `watch_energy`.
ENERGY: Final = "energy of all hosts"
_STOPPED: Final = "the simulation was stopped"


class RecurringVerbs(ABC):
    """The verbs for recurring actions."""

    __slots__ = ()

    dialect: Dialect
    timestamp: float
    _state: State
    commands: list[Command]

    @abstractmethod
    def _send(self, command: Command) -> None:
        """Send a command."""

    @abstractmethod
    def _forget(self, job_id: str) -> None:
        """Remove the records of a job."""

    def call_every(self, period: SupportsFloat, name: Text, times: SupportsIndex | None = None) -> None:
        """Request a call at each multiple of `period` seconds, `times` times or until `stop_calls(name)`.

        Multiples count from the start of the simulation, so the first call may come before a whole period has passed.
        The RequestedCall has `name` as its `call_id`. The period must be whole milliseconds, and of two active periods
        one must be a multiple of the other. The calls end with the last job.
        """
        period = number_of("call every", period)
        times = None if times is None else whole_of("call every: times", times)
        if not isinstance(name, str):
            raise PlanError(f"call every {period!r} s: the name must be a text, not {shown(name)}")
        what = f"call every {period!r} s ({displayed(name)})"
        if not name or name == ENERGY:
            raise PlanError(f"{what}: the name must be {'another' if name else 'not empty'}")
        if name in self._state.periodic:
            raise PlanError(f"{what}: calls of this name go on")
        self._check_period(what, period, times)
        self._order(CallPeriodically(self.timestamp, name, period, times))

    def stop_calls(self, name: str) -> None:
        """End the calls requested by `call_every`."""
        if name not in self._state.periodic or name == ENERGY:
            raise PlanError(f"stop calls {shown(name)}: no such calls go on")
        self._end_calls(name)

    def watch_energy(self, period: SupportsFloat) -> None:
        """Request the energy consumed so far at each multiple of `period` seconds, until `stop_watching`.

        It arrives as an Answer, whose `consumed_energy` is the joules of all hosts. Batsim must run with energy.
        Periods follow the rules of `call_every`. In Batsim 5 it is a probe, whose first values arrive at the second
        multiple; in earlier versions a query at each multiple. It ends with the last job.
        """
        period = number_of("watch energy", period)
        what = f"watch energy every {period!r} s"
        if self._watches:
            raise PlanError(f"{what}: it is watched already")
        self._check_period(what, period, None)
        self.check_energy(what)
        if self.dialect.is_v5:
            hosts = HostSet(self._state.hosts.all)
            self._send(CreateProbe(self.timestamp, ENERGY, hosts, period, None, "sum"))
        else:
            self._order(CallPeriodically(self.timestamp, ENERGY, period))

    def stop_watching(self) -> None:
        """End `watch_energy`."""
        if not self._watches:
            raise PlanError("stop watching: the energy is not watched")
        if self.dialect.is_v5:
            self._send(StopProbe(self.timestamp, ENERGY))
        else:
            self._end_calls(ENERGY)

    def stop(self) -> None:
        """End the simulation now: the algorithm is not called again.

        In Batsim 5, waiting and running jobs are abandoned, and its jobs file has no rows for running ones. Earlier
        versions cannot be stopped: there all jobs are killed or rejected, including later ones.
        """
        if self._state.stopped:
            raise PlanError(f"stop: {_STOPPED} before")
        if self.dialect.is_v5:
            self._send(StopSimulation(self.timestamp))
        else:
            self._state.apply(StopSimulation(self.timestamp))
            self.wind_up()

    def wind_up(self) -> None:
        """Kill and reject all jobs, and end recurring actions, after `stop`; for the engine."""
        state = self._state
        running = tuple(job_id for job_id, run in state.running.items() if not run.killed)
        if running:
            self._send(KillJob(self.timestamp, running))
        for job in [*state.queue, *state.held.jobs.values()]:
            self._send(RejectJob(self.timestamp, job.id))
            self._forget(job.id)
        if state.registration_open:
            self._send(events.Notify(self.timestamp, events.REGISTRATION_FINISHED))
        self.end_recurring()

    def end_recurring(self) -> None:
        """End periodic calls and probes, so that they do not keep the simulation going; for the engine."""
        for name in list(self._state.periodic):
            self._end_calls(name)
        for name in list(self._state.probes):
            self._send(StopProbe(self.timestamp, name))

    def check_energy(self, what: str) -> None:
        """Raise PlanError if Batsim evidently cannot report consumed energy; for the engine."""
        for host in self._state.hosts.by_id.values():
            if not host.pstate_count:
                raise PlanError(f"{what}: host {host.id} describes no power (property wattage_per_state)")
        if not self._state.counts_energy:
            raise PlanError(f"{what}: run Batsim with --energy-host")

    @property
    def _watches(self) -> bool:
        return ENERGY in self._state.probes or ENERGY in self._state.periodic

    def _end_calls(self, name: str) -> None:
        self._order(StopCalls(self.timestamp, name))

    def _order(self, command: CallPeriodically | StopCalls) -> None:
        """Send a command on periodic calls, which the session makes itself for other versions than Batsim 5."""
        if self.dialect.is_v5:
            self._send(command)
        else:
            self._state.apply(command)

    def _check_period(self, what: str, period: float, times: int | None) -> None:
        fault = period_fault(period, times)
        if fault is not None:
            raise PlanError(f"{what}: {fault}")
        state = self._state
        for other in (*(calls.period for calls in state.periodic.values()), *state.probes.values()):
            short, long = sorted((round(period * 1000), round(other * 1000)))
            if long % short:
                raise PlanError(
                    f"{what}: of it and {seconds(other)} s, which goes on, one must be a multiple of the other"
                )

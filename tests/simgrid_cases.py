"""Scenarios of platforms and profiles that real Batsim 4.2.1 ran, and what the simulator makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from batsched_py.api import HostSet, NoOptions, Plan, Scheduler, View
from batsched_py.errors import DeadlockError
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.simgrid_xml import read_platform

#: Times and joules of Batsim have six decimals.
TOLERANCE = 2e-6


class Placed(Scheduler[NoOptions]):
    """Starts each job when it arrives, on the hosts and with the mapping that it names, and kills it at `kill_at`."""

    name = "placed"
    oversubscribes = True

    def decide(self, view: View, plan: Plan) -> None:
        """Start and kill what is due."""
        for job in list(view.queue):
            mapping = {int(executor): int(place) for executor, place in job.members.get("mapping", {}).items()}
            plan.start(job, HostSet.parse(job.members["hosts"].replace(" ", ",")), mapping=mapping or None)
            if "kill_at" in job.members:
                plan.wake_at(job.members["kill_at"])
        plan.kill([one.job for one in view.running if view.now >= one.job.members.get("kill_at", view.now + 1)])


class Ending(Struct, frozen=True):
    """How the jobs of a scenario end, by their names.

    Attributes:
        finish: the time at which each job ends; others never end.
        states: final states, but those of jobs that complete successfully.
        joules: the energy of each job; empty if it is not counted.
    """

    finish: Mapping[str, float]
    states: Mapping[str, str] = {}
    joules: Mapping[str, float] = {}

    def differences(self, other: Ending) -> list[str]:
        """Return one line for each difference."""
        lines = [
            f"{job}: {self.states[job]}, not {state}"
            for job, state in other.states.items()
            if self.states.get(job, state) != state
        ]
        lines += [
            f"{job} {'ends' if job in self.finish else 'never ends'}"
            for job in sorted(self.finish.keys() ^ other.finish.keys())
        ]
        for mine, theirs, unit in ((self.finish, other.finish, "s"), (self.joules, other.joules, "J")):
            for job in mine.keys() & theirs.keys():
                if abs(mine[job] - theirs[job]) > TOLERANCE * (1 + abs(theirs[job])):
                    lines.append(f"{job}: {mine[job]:.6f} {unit}, not {theirs[job]:.6f} {unit}")
        return sorted(lines)


def play(
    platform: Path, workloads: Sequence[Workload], settings: Settings, scheduler: type[Scheduler[Any]] = Placed
) -> tuple[Ending, str]:
    """Return how the jobs end here, and the line of a deadlock, "" without one. All errors of inputs are raised."""
    simulation, why = Simulation(read_platform(platform), workloads, settings), ""
    session = Session(scheduler, {}, compute_sharing=settings.compute_sharing)
    try:
        records: Sequence[JobRecord] = simulation.run(session.answer, clock=lambda: 0.0).jobs
    except DeadlockError as error:
        records, why = simulation.records, str(error)
    return Ending(
        {_name(one): one.finish for one in records},
        {_name(one): one.state for one in records if one.state != COMPLETED_SUCCESSFULLY},
        {_name(one): one.energy for one in records} if settings.energy else {},
    ), why


def _name(record: JobRecord) -> str:
    return record.job.id.partition("!")[2]

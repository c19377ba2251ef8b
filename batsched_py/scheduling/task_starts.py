"""Starts of tasks that share hosts: their places, their checks, and the commands for Batsim."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.model.job_demand import JobDemand
from batsched_py.planning.policies.packing import PACKED_SELECTIONS
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.task_gpus import mapping_of
from batsched_py.scheduling.arguments import id_of
from batsched_py.scheduling.placed import Placed, check_placed
from batsched_py.scheduling.task_placer import TaskPlacer
from batsched_py.state.state import State
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import unknown


class TaskStarts:
    """The starts of tasks in one run, for the Plan."""

    __slots__ = ("_placers", "_said", "_state", "_warn")

    def __init__(self, state: State, warn: Callable[[str], None]) -> None:
        self._state, self._warn = state, warn
        #: Name of a selection -> its placer.
        self._placers: dict[str, TaskPlacer] = {}
        #: True after the warning about whole hosts.
        self._said = False

    def place(self, demand: JobDemand, packing: str, among: HostSet | None) -> Placed | None:
        """Return the places of all tasks; None if there is no room now. PlanError for an unknown selection."""
        placer = self._placers.get(packing)
        if placer is None:
            if packing not in PACKED_SELECTIONS:
                raise PlanError(f"place: packing {shown(packing)}: {unknown(str(packing), PACKED_SELECTIONS)}")
            placer = self._placers[packing] = TaskPlacer(self._state, PACKED_SELECTIONS[packing])
        places = placer.place(demand, None if among is None else among.bits)
        return None if places is None else Placed(places)

    def started(self, job: Job, placed: Placed, timestamp: float, dialect: Dialect) -> ExecuteJob:
        """Return the command that starts a job, after checking that all its tasks have room. PlanError."""
        id_of("start", job)
        check_placed(self._state, job, placed, may_share=self._state.shares_rooms and not dialect.is_wrench)
        return ExecuteJob(timestamp, job.id, placed.hosts, mapping_of(placed.places), places=placed.places)

    def sent(self, command: ExecuteJob) -> ExecuteJob:
        """Return the command as the peer reads it: Batsim knows no GPUs."""
        return command if self._state.counts_rooms else replace(command, places=())

    def note_whole(self, job: Job) -> None:
        """Warn, once in a run, that a job with a demand gets whole hosts."""
        if not self._said:
            self._said = True
            self._warn(f"{displayed(job.id)} requests parts of hosts and gets whole ones, as do others like it")

"""Consumption: what one running job makes its hosts draw, task after task, and the joules consumed meanwhile."""

from __future__ import annotations

from typing import Final

from batsched_py.simulator.machines import members
from batsched_py.simulator.meter import Meter
from batsched_py.simulator.stage import Stage
from batsched_py.simulator.timeline import RANK_END, Ticket
from batsched_py.simulator.work import Task, Work, tasks

DELAY_IN_SEQUENCE: Final = "energy: hosts idle in a composed profile's delays, which SimGrid charges like the next task"


class Consumption:
    """From a job's start (construction) to its end (`stop`). Delays draw nothing beyond the idle host."""

    __slots__ = ("_before", "_hosts", "_meter", "_stage", "_task", "_tasks", "_ticket", "_timeline")

    def __init__(self, stage: Stage, meter: Meter, hosts: int, work: Work) -> None:
        self._stage, self._meter, self._timeline = stage, meter, stage.timeline
        self._hosts = members(hosts)
        self._before = meter.joules(self._hosts, stage.timeline.now)
        self._tasks = tasks(work)
        #: The task that draws now, and when the next one begins; None if there is none.
        self._task: Task | None = None
        self._ticket: Ticket | None = None
        self._next(None)

    def stop(self) -> float:
        """The job has ended: joules its hosts have consumed since it began, whoever made them."""
        if self._ticket is not None:
            self._timeline.cancel(self._ticket)
        self._unload()
        return self._meter.joules(self._hosts, self._timeline.now) - self._before

    def _next(self, _nothing: None) -> None:
        before = self._task
        self._unload()
        self._ticket = None
        task = next(self._tasks, None)
        if task is None:
            return
        self._task = task
        if task.loads:
            if before is not None and not before.loads and len(self._hosts) > 1:
                self._stage.approximations.add(DELAY_IN_SEQUENCE)
            self._meter.load(self._hosts, task.loads, self._timeline.now)
        self._ticket = self._timeline.at(self._timeline.now + task.duration, RANK_END, self._next, None)

    def _unload(self) -> None:
        if self._task is not None and self._task.loads:
            self._meter.unload(self._hosts, self._task.loads, self._timeline.now)
        self._task = None

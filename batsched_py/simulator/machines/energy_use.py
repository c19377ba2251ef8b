"""Power draw and energy of the hosts of one running job, task after task."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.simulator.jobs.work import Task, Work, tasks, tasks_from
from batsched_py.simulator.machines.energy_meter import EnergyMeter
from batsched_py.simulator.machines.machines import members
from batsched_py.simulator.time.event_queue import RANK_END, EventQueue, Ticket

# The reference is SimGrid's energy, not physical energy. Its plugin updates a host only on reads, for the whole time
# since the last read, at the current draw. Thus a delay between two parallel tasks counts as idle on one host and like
# the next task on the others: 198 645 J of 29.6 MJ in one recorded run. Therefore the times of updates (`settle`)
# affect the results, and are the same as in Batsim; with them the joules equal those of all recorded runs (ADR 12).
#
# Between two events the meter contains the loads of exactly the running tasks, because each `load` is followed by one
# `unload` of the same amounts, which `_loads` and `_task` store. `HostDraw` is for tasks with variable rates,
# `EnergyUse` for a precomputed sequence, with an entry in the queue for each step. Cost: O(hosts of the
# task) for each step.


class HostDraw:
    """The draw of the hosts of a running job that announces the beginnings and ends of its tasks."""

    __slots__ = ("_before", "_hosts", "_loads", "_meter", "_queue", "_since", "_task")

    def __init__(self, meter: EnergyMeter, queue: EventQueue, hosts: int) -> None:
        self._meter, self._queue = meter, queue
        self._hosts = members(hosts)
        meter.settle_all(queue.now)
        self._before = meter.joules(self._hosts, queue.now)
        #: The running task, and the used share of the speed of each of its hosts; () without load.
        self._task: Task | None = None
        self._loads: Sequence[float] = ()
        #: Start time of this load.
        self._since = queue.now

    def begin(self, task: Task) -> None:
        """Begin a task, without load until `load` is called."""
        self._task = task
        if task.alone:
            self._meter.settle(task.hosts, self._queue.now)

    def load(self, loads: Sequence[float]) -> None:
        """Set the used shares of the speeds of the task's hosts from now on."""
        self._unload()
        assert self._task is not None  # noqa: S101  # it has begun
        self._meter.load(self._task.hosts, loads)
        self._loads, self._since = loads, self._queue.now

    def end(self) -> None:
        """End the task."""
        assert self._task is not None  # noqa: S101  # it has begun
        self._meter.settle(self._task.hosts or self._hosts[:1], self._queue.now)
        self._unload()
        self._task = None

    def stop(self) -> float:
        """End the job; return the joules consumed by its hosts since its start, from all causes."""
        self._meter.settle_all(self._queue.now)
        self._unload()
        return self._meter.joules(self._hosts, self._queue.now) - self._before

    def _unload(self) -> None:
        if self._task is not None and self._loads:
            self._meter.unload(self._task.hosts, self._loads)
            if any(self._loads):
                self._meter.computed += len(self._hosts) * (self._queue.now - self._since)
        self._loads = ()


class EnergyUse:
    """The draw of a job's hosts from its start (construction) to its end (`stop`); delays add nothing to the idle draw.

    The meter updates hosts at the same times as SimGrid: all hosts when any job starts or ends; those of a parallel
    task when it ends, and when it begins if it has one executor; the job's first host when a delay ends.
    """

    __slots__ = ("_before", "_began", "_hosts", "_index", "_meter", "_queue", "_since", "_task", "_tasks", "_ticket")

    def __init__(self, meter: EnergyMeter, queue: EventQueue, hosts: int, work: Work) -> None:
        self._meter, self._queue = meter, queue
        self._hosts = members(hosts)
        meter.settle_all(queue.now)
        self._before = meter.joules(self._hosts, queue.now)
        self._tasks = tasks(work)
        #: The running task, the number of previous tasks, its start; None before the first and after the last.
        self._task: Task | None = None
        self._index = -1
        self._began = 0.0
        #: Start time of its load at the current speeds.
        self._since = queue.now
        self._ticket: Ticket | None = None
        self._next(None)

    def stop(self) -> float:
        """End the job; return the joules consumed by its hosts since its start, from all causes."""
        if self._ticket is not None:
            self._queue.cancel(self._ticket)
        self._meter.settle_all(self._queue.now)
        self._unload()
        return self._meter.joules(self._hosts, self._queue.now) - self._before

    def follow(self, work: Work) -> float:
        """Continue at other speeds; return the seconds of `work` that correspond to the completed work."""
        now = self._queue.now
        before, rest = tasks_from(work, self._index)
        task, new = self._task, next(rest, None)
        if task is None or new is None:
            return work.duration
        into = new.seconds_as_far_as(task, now - self._began)
        self._unload()
        if self._ticket is not None:
            self._queue.cancel(self._ticket)
        self._task, self._tasks, self._began = new, rest, now - into
        self._since = now
        if new.loads:
            self._meter.load(new.hosts, new.loads)
        self._ticket = self._queue.at(self._began + new.duration, RANK_END, self._next, None)
        return before + into

    def _next(self, _nothing: None) -> None:
        now, ended = self._queue.now, self._task
        if ended is not None:
            self._meter.settle(ended.hosts or self._hosts[:1], now)
        self._unload()
        self._ticket = None
        self._index += 1
        self._task = task = next(self._tasks, None)
        if task is None:
            return
        self._began = self._since = now
        if task.alone:
            self._meter.settle(task.hosts, now)
        if task.loads:
            self._meter.load(task.hosts, task.loads)
        self._ticket = self._queue.at(now + task.duration, RANK_END, self._next, None)

    def _unload(self) -> None:
        if self._task is not None and self._task.loads:
            self._meter.unload(self._task.hosts, self._task.loads)
            if any(self._task.loads):
                self._meter.computed += len(self._hosts) * (self._queue.now - self._since)
        self._task = None

"""Contending jobs: running jobs that others may slow down, simulated task by task, because their ends are unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar

from batsched_py.bits import lowest_one
from batsched_py.protocol.events import Progress
from batsched_py.simulator.contention.activities import Activity
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import ProfileExecution
from batsched_py.simulator.jobs.live_jobs import LiveJob
from batsched_py.simulator.jobs.replay import TraceReplay
from batsched_py.simulator.jobs.work import Task, Work, tasks_with_paths
from batsched_py.simulator.machines.energy_use import HostDraw
from batsched_py.simulator.time.event_queue import PRECISION, RANK_END, RANK_WATCH, Ticket


class ContendingJob:
    """A running job whose tasks share links or hosts with those of other jobs."""

    __slots__ = (
        *("_activity", "_context", "_deadline", "_draw", "_end", "_execution", "_live", "_path", "_previous", "_queue"),
        "_replay",
        *("_since", "_steps", "_task", "_ticket", "_watch", "_work", "lost"),
    )

    #: It never waits for a message.
    waits: ClassVar[bool] = False

    def __init__(
        self,
        context: Context,
        execution: ProfileExecution,
        live: LiveJob,
        work: Work,
        *,
        end: Callable[[LiveJob], None],
    ) -> None:
        """Take the job and its work; `end` is called at completion or at the walltime, after `live` has its code."""
        self._context, self._queue, self._execution = context, context.queue, execution
        self._live, self._work, self._end = live, work, end
        #: The tasks that have not begun.
        self._steps = tasks_with_paths(work)
        #: The running task, the profiles around it with the indices of their steps, and its start time.
        self._task: Task | None = None
        self._path: tuple[tuple[str, int], ...] = ()
        self._since = 0.0
        #: The task before it and its path.
        self._previous: tuple[tuple[tuple[str, int], ...], Task] | None = None
        #: The running parallel task; the ticket for the end of the running delay; that for the walltime.
        self._activity: Activity | None = None
        self._ticket: Ticket = 0
        self._watch: Ticket = 0
        #: The trace that is replayed.
        self._replay: TraceReplay | None = None
        self._deadline = math.inf
        #: None if energy is not counted.
        self._draw: HostDraw | None = None
        #: Delay in seconds of the previous tasks by other jobs; after the stop, of all tasks.
        self.lost = 0.0

    @property
    def demands(self) -> Sequence[ActivityDemand]:
        """The demand of its parallel task, or those of the ranks of a trace; none during a delay."""
        if self._replay is not None:
            return self._replay.demands
        return () if self._task is None else self._task.demands

    @property
    def replays(self) -> bool:
        """True during the replay of a trace, whose ranks run on all its hosts."""
        return self._replay is not None

    def begin(self) -> None:
        """Start at the current instant."""
        queue, walltime, meter = self._queue, self._live.job.walltime, self._context.meter
        if meter is not None:
            self._draw = HostDraw(meter, queue, self._live.hosts.bits)
        if walltime is not None:
            self._deadline = queue.now + walltime
            self._watch = queue.at(self._deadline, RANK_WATCH, self._walltime_over, None)
        self._begin_next()

    def follow_speeds(self) -> None:
        """Recompute the end of the task after a change of speed of some of the hosts."""
        if self._activity is not None and self._context.fluid is not None:
            self._context.fluid.follow_speeds(self._activity)

    def kill(self) -> tuple[int, Progress]:
        """Cancel its end; return the return code and the progress of the job, which is stopped next."""
        path, task, share = self._path, self._task, self._share()
        assert task is not None  # noqa: S101  # it runs
        if task.replay is not None:
            return self._kill_replay(task, path)
        at_border = self._previous is not None and self._since == self._queue.now
        if self._previous is not None and at_border and not self._context.generation.counts_next_step:
            (path, task), share = self._previous, 1.0
        progress = Progress(task.profile, round(share, 6))
        for profile, step in reversed(path):
            progress = Progress(profile, None, step, progress)
        self._release()
        return task.killed_code, progress

    def _kill_replay(self, task: Task, path: tuple[tuple[str, int], ...]) -> tuple[int, Progress]:
        """Return the return code and the progress of a trace, which has none."""
        progress = Progress(task.profile, None, -1)
        for profile, step in reversed(path):
            progress = Progress(profile, None, step, progress)
        return task.killed_code, progress

    def stop(self) -> float:
        """Clean up after any kind of end; return the joules consumed by its hosts, 0 without energy accounting."""
        if self._watch:
            self._queue.cancel(self._watch)
            self._watch = 0
        if self._ticket:
            self._queue.cancel(self._ticket)
            self._ticket = 0
        if self._activity is not None and self._context.fluid is not None:
            self.lost += self._context.fluid.lost(self._activity)
            self._activity.mute()
        if self._replay is not None:
            self._replay.stop()
            self._replay = None
        return 0.0 if self._draw is None else self._draw.stop()

    @property
    def release(self) -> Callable[[], None] | None:
        """Release its resources; None without a running task. At the walltime, a task runs until the notification."""
        return None if self._activity is None else self._release

    def _release(self) -> None:
        if self._activity is not None and self._context.fluid is not None:
            self._context.fluid.stop(self._activity)
            self.lost += self._activity.lost
            self._activity = None

    def _share(self) -> float:
        """Return the completed share of the current task's work."""
        if self._activity is not None and self._context.fluid is not None:
            return self._context.fluid.progress(self._activity)
        assert self._task is not None  # noqa: S101  # it runs
        return self._task.progress(self._queue.now - self._since)

    def _begin_next(self) -> None:
        """Begin the next task; end the job if there is none."""
        following = next(self._steps, None)
        if following is None:
            self._finish(self._work.return_code)
            return
        self._path, self._task = following
        task, fluid, self._since = self._task, self._context.fluid, self._queue.now
        if self._draw is not None:
            self._draw.begin(task)
        if task.replay is not None:
            first = lowest_one(self._live.hosts.bits)
            end, job_id = self._end_replay, self._live.job.id
            self._replay = replay = TraceReplay(
                self._context, self._execution, task, task.replay, end, first=first, job_id=job_id
            )
            replay.begin()
            return
        if task.demand is None or fluid is None:
            self._sleep(task)
            return
        if fluid.crosses(task.demand) and self._context.lose is not None:
            self._context.lose(self._live.job.id)
            return
        self._activity = fluid.begin(
            task.demand,
            self._end_task,
            deadline=self._deadline,
            on_pace=None if self._draw is None else self._load,
        )

    def _end_replay(self) -> None:
        """Begin the next task, unless the walltime is reached at the same instant."""
        self._replay = None
        if self._queue.now > self._deadline - PRECISION:
            self._walltime_over(None)
        else:
            self._end_task()

    def _sleep(self, task: Task) -> None:
        """Begin a delay; the walltime ends one that would not end before it."""
        due = self._queue.now + task.duration
        if due > self._deadline - PRECISION:
            self._ticket = self._queue.at(self._deadline, RANK_END, self._walltime_over, None)
        else:
            self._ticket = self._queue.at(due, RANK_END, self._end_delay, None)

    def _load(self, seconds: float) -> None:
        """Set the load of the hosts for a task whose total duration at the current rate is `seconds`."""
        if self._draw is not None and self._task is not None:
            self._draw.load(self._execution.loads(self._task, seconds))

    def _end_delay(self, _: None) -> None:
        self._ticket = 0
        self._end_task()

    def _end_task(self) -> None:
        if self._draw is not None:
            self._draw.end()
        assert self._task is not None  # noqa: S101  # it has ended just now
        if self._activity is not None:
            self.lost += self._activity.lost
        self._previous, self._activity = (self._path, self._task), None
        self._begin_next()

    def _walltime_over(self, _: None) -> None:
        self._finish(None)

    def _finish(self, code: int | None) -> None:
        self._live.code = code
        self._end(self._live)

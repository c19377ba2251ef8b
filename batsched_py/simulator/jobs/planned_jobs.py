"""Planned jobs: running jobs whose end is known at their start, unless their hosts change speed.

Jobs that others may slow down are in `contending_jobs`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from batsched_py.protocol.events import Progress
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import ProfileExecution, Profiles, ending
from batsched_py.simulator.jobs.live_jobs import LiveJob
from batsched_py.simulator.jobs.work import Task, Work, last_task, progress_at, rank_of_end, task_at
from batsched_py.simulator.machines.energy_use import EnergyUse
from batsched_py.simulator.time.event_queue import RANK_END, RANK_WATCH, Ticket


class PlannedJob:
    """A running job without messages to the scheduler that no other job slows down."""

    __slots__ = (
        "_ahead",
        "_context",
        "_end",
        "_energy_use",
        "_execution",
        "_live",
        "_profiles",
        "_ticket",
        "_watch",
        "_work",
    )

    #: These jobs never wait for a message.
    waits: ClassVar[bool] = False
    #: These jobs share no resources, and others do not delay them.
    release: ClassVar[None] = None
    lost: ClassVar[float] = 0.0
    #: Traces are replayed by contending jobs.
    replays: ClassVar[bool] = False

    def __init__(
        self,
        context: Context,
        execution: ProfileExecution,
        live: LiveJob,
        profiles: Profiles,
        work: Work,
        *,
        end: Callable[[LiveJob], None],
    ) -> None:
        """Take the job, and its `work` at the current speeds of its hosts.

        `end` is called when the job completes or reaches its walltime, after its code has been stored in `live`.
        """
        self._context, self._execution, self._live, self._profiles, self._end = context, execution, live, profiles, end
        self._work = work
        #: Seconds by which the work is ahead of the clock after changes of speed.
        self._ahead = 0.0
        #: The ticket for the end; for a parallel task as long as its walltime, also that for the walltime.
        self._ticket: Ticket = 0
        self._watch: Ticket = 0
        #: None if energy is not counted.
        self._energy_use: EnergyUse | None = None

    @property
    def demands(self) -> Sequence[ActivityDemand]:
        """The demand of its parallel task; none during a delay."""
        return task_at(self._work, self._context.queue.now - self._live.start + self._ahead).demands

    def begin(self) -> None:
        """Start at the current instant."""
        queue, work, walltime = self._context.queue, self._work, self._live.job.walltime
        now = queue.now
        if self._context.meter is not None:
            self._energy_use = EnergyUse(self._context.meter, queue, self._live.hosts.bits, work)
        duration, code = ending(work, walltime)
        self._live.code = code
        self._ticket = queue.at(now + duration, _rank_of_end(work, code, duration), self._end, self._live)
        if duration == walltime and code is not None:
            self._watch = queue.at(now + duration, RANK_WATCH, self._walltime_over, None)

    def follow_speeds(self) -> None:
        """Recompute the end after a change of speed of some of the hosts, unless the job consists of delays."""
        if self._energy_use is None or not self._live.site.executors:
            return
        queue, walltime = self._context.queue, self._live.job.walltime
        self._work = work = self._execution.work(self._live.profile, self._profiles, self._live.site)
        done, elapsed = self._energy_use.follow(work), queue.now - self._live.start
        self._ahead = done - elapsed
        left, code = ending(work, None if walltime is None else walltime - elapsed, done)
        self._live.code = code
        queue.cancel(self._ticket)
        self._ticket = queue.at(queue.now + left, _rank_of_end(work, code, done + left), self._end, self._live)

    def kill(self) -> tuple[int, Progress]:
        """Cancel its end; return the return code and the progress of the job, which is stopped next."""
        self._context.queue.cancel(self._ticket)
        elapsed = self._context.queue.now - self._live.start + self._ahead
        progress = progress_at(self._work, elapsed, next_at_border=self._context.generation.counts_next_step)
        return task_at(self._work, elapsed).killed_code, progress

    def stop(self) -> float:
        """Clean up after any kind of end; return the joules consumed by its hosts, 0 without energy accounting."""
        if self._watch:
            self._context.queue.cancel(self._watch)
        return 0.0 if self._energy_use is None else self._energy_use.stop()

    def _walltime_over(self, _: None) -> None:
        """End at the walltime, at the instant at which the job would also complete."""
        self._context.queue.cancel(self._ticket)
        self._live.code, self._watch = None, 0
        self._end(self._live)


def _rank_of_end(work: Work, code: int | None, elapsed: float) -> int:
    """Return the rank of the end of a job after `elapsed` seconds of work; without a code the walltime stops it."""
    if type(work) is Task and work.is_delay:  # the usual case, for which no further check is needed
        return RANK_END
    if code is None:
        return rank_of_end(task_at(work, elapsed), stopped=True)
    return rank_of_end(last_task(work), stopped=False)

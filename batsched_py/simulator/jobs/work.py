"""Work: the activity of a job on its hosts, as a tree of tasks whose durations are known at its start."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from msgspec import Struct

from batsched_py.addition import add_up
from batsched_py.model.replay import Smpi, UsageTrace
from batsched_py.protocol.events import Progress
from batsched_py.simulator.contention.demand import ActivityDemand
from batsched_py.simulator.time.event_queue import RANK_END, RANK_TASK_END, RANK_WATCH


class Task(Struct, frozen=True):
    """A delay or a parallel task.

    Attributes:
        profile: name of its profile.
        duration: duration in seconds.
        return_code: return code when it completes.
        hosts: hosts of a parallel task, ascending; none for a delay.
        loads: used share of the speed of each host.
        alone: whether it is a parallel task of one executor.
        latency: seconds before it advances, independent of speeds.
        is_delay: whether it must end *before* the walltime; a parallel task may end with it (E10, as observed).
        demand: needs of a parallel task; None for a delay.
        contends: whether others may slow it down; then `duration` is that without other tasks.
        replay: trace that it replays, whose end is not known at the start; `duration` is then a lower bound.
        rank_hosts: host of each rank of a trace.
    """

    profile: str
    duration: float
    return_code: int = 0
    hosts: tuple[int, ...] = ()
    loads: tuple[float, ...] = ()
    alone: bool = False
    latency: float = 0.0
    is_delay: bool = True
    demand: ActivityDemand | None = None
    contends: bool = False
    replay: UsageTrace | Smpi | None = None
    rank_hosts: tuple[int, ...] = ()

    @property
    def demands(self) -> tuple[ActivityDemand, ...]:
        """The demand of a parallel task; none for a delay."""
        return () if self.demand is None else (self.demand,)

    @property
    def killed_code(self) -> int:
        """Return code of a job that is killed in this task."""
        return -1 if self.is_delay or self.replay is not None else -2

    def progress(self, elapsed: float) -> float:
        """Return the completed share of the work after `elapsed` seconds; 0 during the latency."""
        busy = self.duration - self.latency
        if elapsed >= self.duration or not busy:
            return 1.0 if elapsed >= self.duration else 0.0
        return max(0.0, elapsed - self.latency) / busy

    def seconds_as_far_as(self, other: Task, elapsed: float) -> float:
        """Return the seconds after which this task has the progress of `other`, at other speeds, after `elapsed`."""
        busy = other.duration - other.latency
        if elapsed <= other.latency or not busy:
            return elapsed
        return self.latency + (elapsed - other.latency) / busy * (self.duration - self.latency)


class TaskSequence(Struct, frozen=True):
    """A sequence of steps, repeated `repeat` times; `duration` includes all repetitions.

    `contends` is true if it is for one of the steps.
    """

    profile: str
    duration: float
    return_code: int
    steps: tuple[Work, ...]
    repeat: int
    contends: bool = False

    @property
    def round(self) -> float:
        """Duration of one repetition."""
        return self.duration / self.repeat


Work = Task | TaskSequence


def task_at(work: Work, elapsed: float) -> Task:
    """Return the task running `elapsed` seconds after the start; between two tasks, the one that ends."""
    while isinstance(work, TaskSequence):
        _, work, elapsed = _step_at(work, elapsed)
    return work


def progress_at(work: Work, elapsed: float, *, next_at_border: bool = False) -> Progress:
    """Return the progress of the work for JOB_KILLED (E9); steps are counted through all repetitions.

    Between two steps it is that of the ending one; with `next_at_border`, as in Batsim 1, of the beginning one.
    """
    if isinstance(work, Task):
        return Progress(work.profile, round(work.progress(elapsed), 6))
    index, step, into = _step_at(work, elapsed, next_at_border)
    return Progress(work.profile, None, index, progress_at(step, into, next_at_border=next_at_border))


def last_task(work: Work) -> Task:
    """Return the task that ends the work."""
    while isinstance(work, TaskSequence):
        work = work.steps[-1]
    return work


def rank_of_end(task: Task, *, stopped: bool) -> int:
    """Return the rank of the end of a task within an instant; `stopped` means by the job's walltime.

    A delay is a sleep, which a shorter walltime shortens. A parallel task is a computation; the check of its walltime
    follows the ends of all computations.
    """
    if task.is_delay:
        return RANK_END
    return RANK_WATCH if stopped else RANK_TASK_END


def tasks(work: Work) -> Iterator[Task]:
    """Yield each task, in order of execution."""
    if isinstance(work, Task):
        yield work
        return
    for _ in range(work.repeat):
        for step in work.steps:
            yield from tasks(step)


def tasks_with_paths(
    work: Work, path: tuple[tuple[str, int], ...] = ()
) -> Iterator[tuple[tuple[tuple[str, int], ...], Task]]:
    """Yield (path, task) in order of execution; the path is the profiles around the task and the step in each.

    Steps are counted through all repetitions, as `progress_at` does.
    """
    if isinstance(work, Task):
        yield path, work
        return
    for repetition in range(work.repeat):
        for position, step in enumerate(work.steps, repetition * len(work.steps)):
            yield from tasks_with_paths(step, (*path, (work.profile, position)))


def tasks_from(work: Work, index: int) -> tuple[float, Iterator[Task]]:
    """Return (duration of the first `index` tasks in seconds, the other tasks in order of execution)."""
    rest = tasks(work)
    return add_up(task.duration for task in islice(rest, index)), rest


def _step_at(work: TaskSequence, elapsed: float, next_at_border: bool = False) -> tuple[int, Work, float]:
    """Return the index through all repetitions, the step, and the seconds into it."""
    rounds = min(int(elapsed / work.round), work.repeat - 1) if work.round else 0
    if rounds and elapsed == rounds * work.round and not next_at_border:
        rounds -= 1
    into = elapsed - rounds * work.round
    for position, step in enumerate(work.steps):
        if into < step.duration or (into == step.duration and not next_at_border) or position == len(work.steps) - 1:
            return rounds * len(work.steps) + position, step, into
        into -= step.duration
    raise AssertionError("a sequence has steps")

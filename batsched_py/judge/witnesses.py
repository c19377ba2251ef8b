"""Witnesses of what an algorithm does besides deciding: output, changed jobs, clocks, random numbers, lines, memory."""

from __future__ import annotations

import io
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from inspect import getfile
from types import FrameType
from typing import Any, Final

from batsched_py.model.job import Job
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: Functions of the module `time` that read a clock, and of `random` that draw from the shared generator.
_CLOCKS: Final = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns", "process_time")
_DRAWS: Final = (
    "random", "randint", "randrange", "choice", "choices", "shuffle", "sample", "uniform", "gauss", "expovariate",
    "getrandbits", "normalvariate", "triangular", "betavariate", "randbytes",
)  # fmt: skip
#: A look at a job: its own members, and the members of the job object as text.
_Look = tuple[object, ...]


class Witness:
    """Observations of an algorithm.

    Attributes:
        changed: id of the first job that a decision changed; "" if there is none.
        changed_at: time of that decision.
        seconds: duration of each decision.
        lines: number of waiting jobs -> lines of the algorithm's file that a decision executed, if these are counted.
        promises: job -> the earliest start that was promised.
        clocks: the first clock that was read by user code; "" if none was.
        draws: the first function that drew unseeded random numbers for user code; "" if none did.
        output: what was written to standard output.

    Lines are counted with at least `count_from` waiting jobs; with None they are not.
    """

    def __init__(self, *, count_from: int | None = None) -> None:
        self.changed, self.changed_at = "", 0.0
        self.seconds: list[float] = []
        self.lines: dict[int, int] = {}
        self.promises: dict[str, float] = {}
        self.clocks = self.draws = ""
        self.output = io.StringIO()
        self._count_from = count_from

    def watched(self, scheduler: type[Scheduler[Any]]) -> type[Scheduler[Any]]:
        """Return a class that decides as the given one, and is seen at each decision."""
        witness, folder = self, os.path.dirname(getfile(scheduler)) + os.sep

        def decide(this: Scheduler[Any], view: View, plan: Plan) -> None:
            before = witness.looks(view)
            waiting, began = len(view.queue), time.perf_counter()
            count = LineCount(folder) if witness.counts(waiting) else None
            with redirect_stdout(witness.output):
                if count is None:
                    scheduler.decide(this, view, plan)
                else:
                    with count.counting():
                        scheduler.decide(this, view, plan)
            witness.seconds.append(time.perf_counter() - began)
            if count is not None:
                witness.lines[waiting] = max(count.lines, witness.lines.get(waiting, 0))
            witness.compare(before, view)
            for job_id, promise in plan.promises.items():
                witness.promises[job_id] = min(promise.start, witness.promises.get(job_id, promise.start))

        made: type[Scheduler[Any]] = type(scheduler.__name__, (scheduler,), {"decide": decide})
        made.__module__, made.__qualname__ = scheduler.__module__, scheduler.__qualname__
        return made

    def counts(self, waiting: int) -> bool:
        """Return True if lines of a decision with so many waiting jobs are counted, which takes long."""
        return self._count_from is not None and waiting >= self._count_from

    def looks(self, view: View) -> Mapping[str, tuple[Job, _Look]]:
        """Return a look at each waiting and running job."""
        return {job.id: (job, _look(job)) for job in _jobs(view)}

    def compare(self, before: Mapping[str, tuple[Job, _Look]], view: View) -> None:
        """Note the first job that looks different from before."""
        if self.changed:
            return
        for job_id, (job, look) in before.items():
            if _look(job) != look:
                self.changed, self.changed_at = job_id, view.now
                return

    @contextmanager
    def watching(self, folder: str) -> Iterator[None]:
        """Note clocks and random numbers that code in files of this folder uses; load the algorithm within."""
        seeded = False

        def noted(name: str, real: Callable[..., Any], attribute: str) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                if _called_from(folder) and not getattr(self, attribute) and not (attribute == "draws" and seeded):
                    setattr(self, attribute, name)
                return real(*args, **kwargs)

            return call

        def seed(*args: Any, **kwargs: Any) -> None:
            nonlocal seeded
            seeded = seeded or bool(args and args[0] is not None) or bool(kwargs)
            real_seed(*args, **kwargs)

        real_seed = random.seed
        kept: list[tuple[Any, str, Any]] = [(time, name, getattr(time, name)) for name in _CLOCKS]
        kept += [(random, name, getattr(random, name)) for name in _DRAWS]
        kept.append((random, "seed", real_seed))
        for module, name, real in kept[:-1]:
            attribute = "clocks" if module is time else "draws"
            setattr(module, name, noted(f"{module.__name__}.{name}", real, attribute))
        random.seed = seed
        try:
            yield
        finally:
            for module, name, real in kept:
                setattr(module, name, real)


class LineCount:
    """A count of the executed lines of files in a folder, without installed packages in it.

    Lines are counted instead of seconds, because they are the same in each run and on each machine.
    """

    def __init__(self, folder: str) -> None:
        self.lines = 0
        self._folder = folder

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count until the end of the block."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)

    def _enter(self, frame: FrameType, event: str, argument: Any) -> Any:
        del event, argument
        file = frame.f_code.co_filename
        return self._count if file.startswith(self._folder) and "site-packages" not in file else None

    def _count(self, frame: FrameType, event: str, argument: Any) -> Any:
        del frame, argument
        if event == "line":
            self.lines += 1
        return self._count


class MemoryCount:
    """Bytes that lines of one file have allocated and not freed, after each so many messages."""

    def __init__(self, file: str, every: int) -> None:
        self.sizes: list[int] = []
        self._file, self._every, self._messages = file, every, 0

    def note(self, *_: object) -> None:
        """Count one message."""
        self._messages += 1
        if self._messages % self._every == 0:
            shown = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, self._file)])
            self.sizes.append(sum(trace.size for trace in shown.traces))


def _jobs(view: View) -> Iterable[Job]:
    yield from view.queue
    for running in view.running:
        yield running.job


def _look(job: Job) -> _Look:
    return job.id, job.submit_time, job.size, job.walltime, job.profile, repr(job.members)


def _called_from(folder: str) -> bool:
    """Return True if the caller of the caller is code in this folder."""
    return sys._getframe(2).f_code.co_filename.startswith(folder)  # the only way to know a caller

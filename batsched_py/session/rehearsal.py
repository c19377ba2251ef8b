"""A rehearsal: a simulation of an algorithm's decisions if each job ends when expected and no more jobs arrive.

A new object of the algorithm gets a copy of the state with the same waiting and running jobs, adopts the promises of
the real one, and decides until the job in question starts. The real run is not changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from batsched_py.model.job import Job
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.protocol.dialect import Dialect
from batsched_py.protocol.events import (
    COMPLETED_WALLTIME_REACHED,
    Event,
    JobCompleted,
    JobSubmitted,
    RequestedCall,
    SimulationBegins,
)
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.running import Running
from batsched_py.state.state import State

# The alternatives are a copy of the algorithm's state, which is unknown for algorithms of users, and a plan by
# conservative backfilling (ADR 16), which is exact for conservative algorithms only. So an algorithm declares that it
# can be rehearsed, and hands its promises to a new object by `resume`; a subclass must declare it again, as it may keep
# more.
#
# The copy of the state is made of events, through the same `apply` as the real one, and is advanced twice, so that no
# job counts as having just arrived. It is played with walltimes, which is what a promise means. Failed, sleeping and
# switching hosts make the question unanswerable, since their return is not known.
#
# Cost: O(jobs) for the copy, and a decision for each end of a job until the answer, at most MOST_MESSAGES.

#: Maximum number of simulated messages for one query; after these, no answer is given.
MOST_MESSAGES: Final = 10_000


class CannotSayError(Exception):
    """The rehearsal cannot predict the start of the job."""


class Rehearsal:
    """One query about the current state of a run.

    Args:
        scheduler: the algorithm, whose `foresight` is "rehearsal".
        begins: the first event of the run.
        state: the current state, which is only read.
        dialect: the protocol's version.
        delay: seconds from a request to the start of jobs, given by the decision clock.

    Raises CannotSayError if hosts have failed, sleep or switch: their return is not known.
    """

    def __init__(
        self, scheduler: Scheduler[Any], begins: SimulationBegins, state: State, dialect: Dialect, delay: float
    ) -> None:
        if state.hosts.down or state.control:
            raise CannotSayError
        self._delay = delay
        self._state = _copy(begins, state)
        self._view = View(self._state)
        self._plan = Plan(self._state, None)
        self._plan.dialect = dialect
        self._scheduler = type(scheduler)(scheduler.options)
        self._scheduler.setup(self._view)
        self._scheduler.resume(scheduler, self._view)
        #: batsched, whose estimates WRENCH expects, adds its delay to walltimes.
        self._end_of: Callable[[Running], float] = scheduler.expected_end if dialect.is_wrench else _end

    def start_of(self, job: Job) -> float:
        """Return when a waiting or newly submitted job would start; infinity for never. CannotSayError."""
        state, now = self._state, self._state.now
        arrived: list[Event] = [] if job.id in state.queue else [JobSubmitted(now, job.id, job)]
        self._decide(now, arrived)
        for _ in range(MOST_MESSAGES):
            if job.id in state.running:
                return state.running[job.id].start
            if job.id not in state.queue:  # it was rejected
                return math.inf
            ends = min(map(self._end_of, state.running.values()), default=math.inf)
            now = max(now, min(ends, min(state.wakeups, default=math.inf)))
            if now == math.inf:
                return math.inf
            self._decide(now, self._due(now))
        raise CannotSayError

    def _due(self, now: float) -> list[Event]:
        """Return the events of an instant: ends of jobs at their walltimes, and calls."""
        running, wakeups, end_of = self._state.running.values(), self._state.wakeups, self._end_of
        happened: list[Event] = [
            JobCompleted(now, run.job.id, COMPLETED_WALLTIME_REACHED, hosts=run.hosts)
            for run in running
            if end_of(run) <= now
        ]
        return [*happened, RequestedCall(now)] if any(time <= now for time in wakeups) else happened

    def _decide(self, now: float, events: list[Event]) -> None:
        scheduler, view = self._scheduler, self._view
        self._state.advance(now)
        self._plan.begin(now + self._delay)
        for event in events:
            self._state.apply(event)
        for event in events:
            scheduler.observe(event, view)
        scheduler.decide(view, self._plan)


def foresight_of(scheduler: Scheduler[Any]) -> str:
    """Return how waits are estimated. A subclass does not inherit a rehearsal, because it may keep more state."""
    kind = type(scheduler)
    if kind.estimate_wait is not Scheduler.estimate_wait:
        return "walltimes"
    return "walltimes" if kind.foresight == "rehearsal" and not is_rehearsed(kind) else kind.foresight


def is_rehearsed(kind: type[Scheduler[Any]]) -> bool:
    """Return whether a new object of an algorithm decides as an old one would, from what it sees and adopts."""
    return kind.foresight == "rehearsal" and "foresight" in kind.__dict__


def _end(run: Running) -> float:
    """Return the end of a job at its walltime."""
    return run.end


def _copy(begins: SimulationBegins, state: State) -> State:
    """Return a state with the same waiting and running jobs, and without new arrivals."""
    copy = State(holds=False)
    copy.apply(begins)
    for run in state.running.values():
        copy.apply(JobSubmitted(run.job.submit_time, run.job.id, run.job))
        copy.apply(ExecuteJob(run.start, run.job.id, run.hosts, places=run.places))
    for job in state.queue:
        copy.apply(JobSubmitted(job.submit_time, job.id, job))
    copy.static_over = copy.all_submitted = True
    copy.advance(state.now)
    copy.advance(state.now)
    return copy

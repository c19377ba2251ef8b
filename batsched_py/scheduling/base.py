"""The base class of algorithms, with one obligation: `decide`; and the waiting time that it answers by default."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_args

from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Slot
from batsched_py.planning.policies.ordering import Order
from batsched_py.protocol.events import Event
from batsched_py.scheduling.options import NoOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View

#: Waiting jobs that are thought of; each is planned, as conservative backfilling would, to answer one question.
FORESEEN: Final = 1000

Options = TypeVar("Options")


class Scheduler(ABC, Generic[Options]):
    """An algorithm. Subclass it as `class Mine(Scheduler[MyOptions])` and write `decide`.

    Attributes:
        name: what users type after `-s`.
        source: where the algorithm comes from; shown by `batsched-py describe`.
        needs_walltime: jobs without a walltime are rejected before the algorithm sees them. Where an option rules over
            it, `__init__` sets it for the object.
        needs_energy: the platform must describe power states, or the run does not begin.
        needs_dynamic_jobs: the algorithm submits jobs, so Batsim must run with --enable-dynamic-jobs; algorithms
            that do not ask for it have registration finished for them.
        uses_dynamic_jobs: the algorithm submits jobs if Batsim runs with --enable-dynamic-jobs, and does without if
            not; finishing registration is its own task.
        foresight: how the waiting time of a job is estimated. "rehearsal" is for an algorithm whose decisions depend on
            the View, and on what `resume` takes over, alone: they are played ahead as if each job took its walltime.
            "walltimes": the promised start, or that of conservative backfilling. "promises": the promised start, or
            no answer.
        needs_profiles: the algorithm reads profiles of jobs that have not come, or steps of composed ones. Batsim 5
            then sends all at the beginning, as it does to algorithms that submit jobs; to others, each with its job.
        reads_waits: the algorithm compares how long jobs have waited, so that the latency of Batsim's messages may
            change decisions. `__init__` sets it for an object with an option that is a dynamic order.
        oversubscribes: the algorithm puts several executors on a host (`plan.start` with a mapping); otherwise jobs
            that ask for more than the platform's hosts are rejected before the algorithm sees them. Where it depends on
            the platform, `setup` sets it for the object.
        heeds_constraints: the algorithm reads the member `constraint` of jobs by itself; otherwise a warning tells if
            jobs have one and no option `constraint` is there for it.
    """

    name: ClassVar[str]
    source: ClassVar[str] = ""
    needs_walltime: bool = False
    needs_energy: ClassVar[bool] = False
    needs_dynamic_jobs: ClassVar[bool] = False
    uses_dynamic_jobs: ClassVar[bool] = False
    foresight: ClassVar[Literal["rehearsal", "walltimes", "promises"]] = "walltimes"
    needs_profiles: ClassVar[bool] = False
    reads_waits: bool = False
    oversubscribes: bool = False
    heeds_constraints: ClassVar[bool] = False
    #: The class between the brackets of `Scheduler[...]`.
    options_type: ClassVar[type[Any]] = NoOptions

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in cls.__dict__.get("__orig_bases__", ()):  # its own, not those of the class that it extends
            arguments = [argument for argument in get_args(base) if isinstance(argument, type)]
            if arguments:
                cls.options_type = arguments[0]

    def __init__(self, options: Options) -> None:
        self.options = options
        if _has_dynamic_order(options):
            self.reads_waits = True

    def setup(self, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Prepare; called once, when the hosts are known and before the first decision."""
        return

    def observe(self, event: Event, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Look at an event; called for each of a message, after all were applied and before `decide`.

        The last event is a SimulationEnds; the message that has it asks for no decision.
        """
        return

    def resume(self, former: Any, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Take over what another object of this class has decided about the jobs of the view; called after `setup`.

        By default there is nothing but the view.
        """
        return

    def estimate_wait(self, job: Job, view: View, plan: Plan) -> float | None:
        """Return the seconds until a job would start, asked for by Batsim after `decide`; None if it never would.

        The job may be one that nobody has submitted. By default it is the start that it was promised, or that
        conservative backfilling would find for it; an algorithm that knows better overrides this.
        """
        return waiting_time(job, view, plan)

    def cancel(self, job_id: str, view: View, plan: Plan) -> bool:
        """Take a job back, as an external event asks for; called before `decide`. Return False if it has ended.

        By default a job that waits is rejected, and one that runs is killed.
        """
        job = view.queue.get(job_id)
        if job is not None:
            plan.reject(job, "it was cancelled")
            return True
        running = view.job(job_id)
        if running is None:
            return False
        plan.kill(running)
        return True

    def check_request(self, kind: str, members: Mapping[str, Any], now: float) -> object:  # noqa: ARG002
        """Raise an InputError if an external event would be refused that somebody wants to bring about now.

        It may return what it has read of the event, for the site.

        A live site asks this before it accepts a request, from a thread of its own: nothing may be changed. Without a
        method of its own an algorithm takes no event of this kind: LookupError.
        """
        raise LookupError(f"{self.name} takes no {kind}")

    def tables(self, view: View) -> Iterable[Table]:  # noqa: ARG002  (a hook: subclasses read it)
        """Return tables of the run, which are written beside Batsim's as PREFIX_NAME.csv; called once, after its end.

        There are none by default.
        """
        return ()

    def live_tables(self, view: View) -> Iterable[Table]:  # noqa: ARG002  (a hook: subclasses read it)
        """Return tables of how things are between two messages, for a live site; there are none by default.

        Rows may be a list that only grows: it is not copied.
        """
        return ()

    @abstractmethod
    def decide(self, view: View, plan: Plan) -> None:
        """Read the view, write the plan; called once for each message.

        One instant may take several messages, so never conclude that all of it is known.
        """


def _has_dynamic_order(options: object) -> bool:
    """Return whether an option is an order of jobs that may change with time."""
    names = [field.name for field in fields(options)] if is_dataclass(options) else []
    values = [getattr(options, name) for name in names]
    return any(isinstance(value, Order) and value.dynamic for value in values)


def waiting_time(job: Job, view: View, plan: Plan) -> float | None:
    """Return the seconds until a job starts, which need not have been submitted; None if it can never start.

    A job that holds a promise starts then. Any other is expected to start where conservative backfilling would
    put it: after the promises that were made, and after the jobs before it in the queue (at most FORESEEN), each at its
    earliest start by the walltimes of those before. A job that nobody has submitted comes after all.
    """
    if job.id not in view.queue and view.job(job.id) is not None:
        return 0.0  # it runs
    promise = plan.promises.get(job.id)
    start = _start(job, view, plan) if promise is None else promise.start
    return max(0.0, start - view.now) if start < math.inf else None


def _start(job: Job, view: View, plan: Plan) -> float:
    """Return its earliest start, infinite if there is none; the availability is left as it was."""
    future = view.availability()
    kept: list[Slot] = []
    try:
        for other in islice(view.queue, FORESEEN):
            if other.id == job.id:
                break
            slot = _place(other, plan, future)
            if slot is not None and slot.end > max(slot.start, future.now):
                future.reserve(slot)
                kept.append(slot)
        found = future.earliest(job.size, job.limit)
        return math.inf if found is None else found.start
    finally:
        for slot in kept:
            future.release(slot)


def _place(job: Job, plan: Plan, future: Availability) -> Slot | None:
    """Return where a waiting job is expected to run; None if that is reserved already, or nowhere."""
    promise = plan.promises.get(job.id)
    if not isinstance(promise, Slot):
        return future.earliest(job.size, job.limit)
    free = future.free_during(max(promise.start, future.now), promise.end)
    return promise if promise.hosts <= free else None

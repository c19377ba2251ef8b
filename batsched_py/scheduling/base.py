"""The base class of algorithms, whose only required method is `decide`, and the default estimate of waiting times."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any, ClassVar, Final, Generic, Literal, TypeVar, get_args

from batsched_py.errors import OptionError
from batsched_py.model.job import Job
from batsched_py.model.table import Table
from batsched_py.planning.future.availability import Availability
from batsched_py.planning.future.promises import Slot
from batsched_py.planning.policies.ordering import Order
from batsched_py.protocol.events import Event
from batsched_py.scheduling.options import NoOptions
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.queue_requests import QueueRequest
from batsched_py.scheduling.view import View
from batsched_py.state.running import Running

#: Maximum number of waiting jobs that are planned, as by conservative backfilling, to answer one query.
FORESEEN: Final = 1000
#: Why a waiting job is rejected that its user cancelled.
CANCELLED: Final = "it was cancelled"

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
        observes: False if `observe` is not called, as for a class that does not define it. `__init__` sets it for an
            object whose options leave nothing to observe.
        oversubscribes: the algorithm puts several executors on a host (`plan.start` with a mapping); otherwise jobs
            that ask for more than the platform's hosts are rejected before the algorithm sees them. Where it depends on
            the platform, `setup` sets it for the object.
        places_tasks: the algorithm puts tasks of jobs with demands on parts of hosts (`plan.place`); otherwise these
            jobs have whole hosts, of which a warning tells.
        counts_shares: with compute sharing, the algorithm itself counts what jobs without demands use of their hosts,
            so that tasks of other jobs may run there, too; otherwise such jobs have them whole.
        heeds_constraints: the algorithm reads the member `constraint` of jobs by itself; otherwise a warning tells if
            jobs have one and no option `constraint` is there for it.
        heeds_conditions: the algorithm reads the conditions of jobs on other jobs (`depends_on`, `singleton`, `array`)
            by itself; otherwise the engine holds jobs until these are fulfilled.
        lease_terms: the terms of leases that the algorithm obeys; a live site refuses requests with others.
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
    observes: bool = False
    oversubscribes: bool = False
    places_tasks: ClassVar[bool] = False
    counts_shares: ClassVar[bool] = False
    heeds_constraints: ClassVar[bool] = False
    heeds_conditions: ClassVar[bool] = False
    lease_terms: ClassVar[tuple[str, ...]] = ()
    #: The class between the brackets of `Scheduler[...]`.
    options_type: ClassVar[type[Any]] = NoOptions

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.observes = cls.observe is not Scheduler.observe
        for base in cls.__dict__.get("__orig_bases__", ()):  # its own, not those of the class that it extends
            arguments = [argument for argument in get_args(base) if isinstance(argument, type)]
            if arguments:
                cls.options_type = arguments[0]

    def __init__(self, options: Options) -> None:
        self.options = options
        if _has_dynamic_order(options):
            self.reads_waits = True

    def setup(self, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Prepare the algorithm; called once, when the hosts are known, before the first decision."""
        return

    def observe(self, event: Event, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Observe an event; called for each event of a message, after all are applied and before `decide`.

        The last event is a SimulationEnds; its message needs no decision.
        """
        return

    def resume(self, former: Any, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Adopt the decisions of another object of this class about the jobs of the view; called after `setup`.

        By default there are none.
        """
        return

    def change_options(self, options: Options, view: View) -> None:  # noqa: ARG002  (a hook: subclasses read it)
        """Decide by other options from the next message on; OptionError for one that cannot change during a run.

        By default none can. An algorithm whose `foresight` is "rehearsal" is replaced by a new object instead.
        """
        raise OptionError(f"options of {self.name} cannot change during a run")

    def binding(self, view: View) -> str:  # noqa: ARG002  (a hook: subclasses read it)
        """Return why no other algorithm can go on with the jobs of the view; "" if one can.

        It is asked unless its `foresight` is "rehearsal": then the View is all that another algorithm needs.
        """
        return f"{self.name} has plans that no other algorithm knows"

    def estimate_wait(self, job: Job, view: View, plan: Plan) -> float | None:
        """Estimate the seconds until a job starts, for a query of Batsim after `decide`; None if it never will.

        The job need not have been submitted. By default, the estimate is its promised start, or its start by
        conservative backfilling; algorithms with better knowledge override this.
        """
        return waiting_time(job, view, plan)

    def expected_end(self, run: Running) -> float:
        """Return when a running job is expected to end, by default at its walltime, in estimates for WRENCH."""
        return run.end

    def cancel(self, job_id: str, view: View, plan: Plan) -> bool:
        """Cancel a job at the request of an external event; called before `decide`. Return False if it has ended.

        By default, a waiting job is rejected, and a running one is killed.
        """
        job = view.queue.get(job_id)
        if job is not None:
            plan.reject(job, CANCELLED)
            return True
        running = view.job(job_id)
        if running is None:
            return False
        plan.kill(running)
        return True

    def change_job(self, change: QueueRequest, view: View, plan: Plan) -> bool:  # noqa: ARG002  (a hook: subclasses read it)
        """Hold, release or prioritise a job at the request of an external event; called before `decide`.

        By default, it returns False: the algorithm cannot, which a warning tells. One that can returns True, warns of
        changes that are not possible now, and accepts the kinds of events in `check_request`.
        """
        return False

    def check_request(self, kind: str, members: Mapping[str, Any], now: float) -> object:  # noqa: ARG002
        """Check an external event before it happens; InputError if the algorithm would refuse it.

        It may return its reading of the event, for the site.

        A live site calls this before it accepts a request, from another thread: it may not change anything. The default
        is LookupError: the kind is unsupported.
        """
        raise LookupError(f"{self.name} takes no {kind}")

    def tables(self, view: View) -> Iterable[Table]:  # noqa: ARG002  (a hook: subclasses read it)
        """Return tables of the run, none by default; called once, after its end.

        They are written next to Batsim's as files PREFIX_NAME.csv.
        """
        return ()

    def live_tables(self, view: View) -> Iterable[Table]:  # noqa: ARG002  (a hook: subclasses read it)
        """Return tables of the current state between two messages, for a live site; by default there are none.

        Rows may be a list that only grows: it is not copied.
        """
        return ()

    @abstractmethod
    def decide(self, view: View, plan: Plan) -> None:
        """Read the view, write the plan; called once for each message.

        One instant may take several messages, so never assume that all of its events are known.
        """


def _has_dynamic_order(options: object) -> bool:
    """Return whether an option is an order of jobs that may change with time."""
    names = [field.name for field in fields(options)] if is_dataclass(options) else []
    values = [getattr(options, name) for name in names]
    return any(isinstance(value, Order) and value.dynamic for value in values)


def waiting_time(job: Job, view: View, plan: Plan) -> float | None:
    """Estimate the seconds until a job starts, which need not have been submitted; None if it can never start.

    A job with a promise starts at that time. Any other job starts where conservative backfilling would place it: after
    the promises, and after the jobs before it in the queue (at most FORESEEN), each at its earliest start by the
    walltimes of those before. A job that has not been submitted comes after all others.
    """
    if job.id not in view.queue and view.job(job.id) is not None:
        return 0.0  # it runs
    promise = plan.promises.get(job.id)
    start = _start(job, view, plan) if promise is None else promise.start
    return max(0.0, start - view.now) if start < math.inf else None


def _start(job: Job, view: View, plan: Plan) -> float:
    """Return its earliest start, infinity if there is none; the availability is restored afterwards."""
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
    """Return the slot at which a waiting job is expected to run; None if it is already reserved, or does not exist."""
    promise = plan.promises.get(job.id)
    if not isinstance(promise, Slot):
        return future.earliest(job.size, job.limit)
    free = future.free_during(max(promise.start, future.now), promise.end)
    return promise if promise.hosts <= free else None

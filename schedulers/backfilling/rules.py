"""The rules of a backfilling algorithm: all decisions in which these algorithms differ.

The rules are the only extension point of the loop (`loop.BackfillLoop`). `BackfillRules` are those of EASY and
conservative backfilling; other algorithms pass a subclass that overrides some decisions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, Generic, TypeVar

from msgspec.structs import replace

from batsched_py.api import HostSet, Job, Placed, Placement, Plan, Running, View, too_few
from batsched_py.planning.future.promise_book import Gaps, PromiseBook
from batsched_py.planning.future.promises import Choose, Claim, RoomSlot, Shadow, Slot
from batsched_py.planning.future.room_book import RoomGaps
from batsched_py.planning.policies.ordering import FCFS
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.planning.run_times.catalogue import REQUEST
from batsched_py.schedulers.backfilling.options import OvertakingOptions, PromiseOptions
from batsched_py.schedulers.backfilling.predicted_runs import PredictedRuns

# The loop knows promises and the order of visits, the rules know jobs and hosts; all algorithms that backfill differ in
# their rules alone. Before, they overrode seven to eleven of the loop's thirty methods, and each change of the loop had
# to respect all of them (ADR 26). The loop is compiled, the rules are not, as subclasses of users' own inherit from
# them (ADR 39).
#
# The loop relies on this: `duration` of a job stays the same while its promise stands, unless the loop is called with
# `disturbed`; `earliest` returns a start that breaks no promise in the book; `hosts` and `choose` return hosts that are
# free; only `start` starts a job. `hold` explains a job that waits and decides nothing.
#
# `earliest` begins with a shortcut: without promises a job that fits now starts now, and the availability is not asked,
# which costs something from its first use on. On a machine with enough room it is never made.
#
# Promises are of numbers of hosts unless the choice of hosts may fail where enough are free (constraints, `contiguous`,
# a function): then a number would promise a start at which the job cannot run, and the options must say `reserve=hosts`
# (ADR 19).

Options = TypeVar("Options", bound=PromiseOptions)
Overtakers = TypeVar("Overtakers", bound=OvertakingOptions)
#: A Shadow has no end; it suffices for a single promise.
Promise = Slot | Claim | Shadow | RoomSlot


class BackfillRules(Generic[Options]):
    """The hosts and durations of jobs, their promises, and the jobs that may start."""

    #: True if jobs that arrive together are served in separate passes.
    one_by_one = False
    #: True if promises need not follow the order, which decides only who improves first when hosts are released.
    in_turn = False
    #: True if tasks of jobs with demands are placed on parts of hosts; otherwise such jobs get whole hosts.
    packs = False
    #: The reason why that is impossible with these options.
    packs_not = ""
    #: Ids of waiting jobs that the loop ignores.
    excluded: Container[str] = frozenset[str]()
    #: A method that sorts jobs in the order of service; None: in order of arrival.
    in_serving_order: Callable[[Iterable[Job]], Iterable[Job]] | None = None
    #: The predictions of run times; None if walltimes count.
    predicted: PredictedRuns | None = None
    #: A method that returns whether a job that fits into the gaps may start; None: each may.
    may_overtake: Callable[[Job, HostSet, PromiseBook[Any], View], bool] | None = None

    def __init__(self, options: Options, view: View, depth: float) -> None:
        """Prepare the placement; `depth` is the number of blocked jobs with promises."""
        self.options, self.depth = options, depth
        self.placement = Placement(options, view)
        #: True for promises of specific hosts, False for numbers of hosts.
        self.on_hosts = options.on_hosts
        if options.predictor is not REQUEST:
            self.predicted = PredictedRuns(options, view)
        #: True if running jobs are expected to end at other times than by their walltimes.
        self.ends_differ = bool(options.slack) or self.predicted is not None
        self.constrained = options.constraint.rule is not None
        #: True if a job may find no hosts although enough are free.
        self.needs_specific_hosts = not options.by_number
        #: The choice of hosts; None: the lowest, which needs no call.
        lowest = options.selection is SELECTIONS["lowest"] and type(self).choose is BackfillRules.choose
        self.picks: Choose | None = None if lowest else self.choose
        #: True if `earliest` is the search of the book, among all hosts, for jobs with demands.
        self.searches_rooms = type(self).earliest is BackfillRules.earliest and not self.constrained

    # Hosts and durations.

    def duration(self, job: Job) -> float:
        """Return the expected occupation of its hosts in seconds: walltime or predicted run time, and the slack."""
        return (job.limit if self.predicted is None else self.predicted.expected(job)) + self.options.slack

    def choose(self, free: HostSet, size: int) -> HostSet | None:
        """Select hosts for a job of this size; None if it should rather wait."""
        return self.placement.choose(free, size)

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Select hosts on which the job may run; None if it should rather wait."""
        return self.choose(free & self.placement.eligible_now(job) if self.constrained else free, job.size)

    def where(self, job: Job, promise: Promise, plan: Plan) -> HostSet | Placed | None:
        """Return the hosts or places of a promise, and for a number of hosts some on which the job may run."""
        if isinstance(promise, RoomSlot):
            return Placed(promise.places)
        return self.hosts(job, plan.free) if promise.hosts is None else promise.hosts

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job."""
        plan.start(job, hosts)
        if self.ends_differ:
            run = view.run(job.id)
            if run is not None:
                self._begin(job, view)
                view.availability().adjust(hosts, run.end, view.now + self.duration(job))

    def start_tasks(self, job: Job, placed: Placed, view: View, plan: Plan) -> None:
        """Start the job on parts of hosts."""
        plan.start(job, placed)
        if self.ends_differ:
            self._begin(job, view)
            view.availability().adjust_tasks(job.id, view.now + self.duration(job))

    def _begin(self, job: Job, view: View) -> None:
        """Record the start of a predicted job."""
        if self.predicted is not None:
            self.predicted.begin(job, view.now, self.options.slack)

    def expected_end(self, run: Running) -> float:
        """Return the end of a running job by its walltime or by its prediction, which may be past, and the slack."""
        if self.predicted is None:
            return run.start + self.duration(run.job)
        return self.predicted.end_of(run, self.options.slack)

    # Promises.

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return the first start that breaks no promise if all predictions are exact; None for never."""
        if job.demand is not None and self.packs:
            return self._earliest_room(job, book, view, plan)
        if not book.entries:  # no promise to break: the future is not needed
            free = plan.free
            if self.picks is None and not self.constrained:
                hosts = free.first(job.size)
            else:
                hosts = self.hosts(job, free) if job.size <= len(free) else None
            if hosts is not None:
                return Slot(view.now, math.inf, hosts)
        if not self.constrained:
            return book.earliest(job, None, self.picks)
        eligible = self.placement.eligible(job)
        if self.placement.varies:  # hosts that are free, but not suitable now
            eligible -= plan.free - self.placement.eligible_now(job)
        return book.earliest(job, eligible, self.picks)

    def _earliest_room(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return the first places of the tasks of a job, as `earliest`."""
        if not book.entries and job.demand is not None:
            placed = self.placement.place(job, plan)
            if placed is not None:
                return RoomSlot(view.now, math.inf, placed.places, job.demand)
        if not self.constrained:
            return book.earliest(job)
        eligible = self.placement.eligible(job)
        if self.placement.varies:
            eligible -= view.all_hosts - view.unavailable - self.placement.eligible_now(job)
        return book.earliest(job, eligible)

    def hold(self, job: Job, view: View, plan: Plan) -> None:
        """Record the reason why the job does not start now: it lacks hosts, or would break a promise."""
        if job.demand is not None and self.packs:
            self._hold_tasks(job, plan)
            return
        free = plan.free
        count = len(free)
        if job.size > count:
            plan.hold(job, too_few(job.size, count), "hosts")
        elif self.hosts(job, free) is not None:
            plan.hold(job, f"needs {job.size} of {count} free hosts, and would break a promise", "promise")
        else:
            plan.hold(job, self.placement.why_not(job, free), "constraint")

    def _hold_tasks(self, job: Job, plan: Plan) -> None:
        """Record the reason why the tasks of a job do not start now."""
        if self.placement.place(job, plan) is None:
            plan.hold(job, self.placement.why_not(job, plan.free), "resource")
        else:
            plan.hold(job, "needs room that is free, and would break a promise", "promise")

    def calls_at(self, first_start: float) -> bool:
        """Return whether the loop must be called at the first promised start."""
        return True

    # The jobs to consider.

    def may_start(self, view: View, plan: Plan) -> bool:
        """Return whether a job may start, so that waiting jobs need to be considered."""
        return bool(plan.free) or bool(view.part)

    def overtakers(self, gaps: Gaps, view: View) -> Sequence[Job]:
        """Return all waiting jobs that may fit into the gaps, possibly with others, in order of arrival.

        Predictions have no index: all jobs that are small enough are visited.
        """
        if isinstance(gaps, RoomGaps):
            return list(view.queue)
        if self.predicted is not None:
            return view.queue.up_to(gaps.left)
        if self.constrained:
            return self.placement.jobs.within(gaps, view.now)
        return view.queue.within(gaps.limits(), view.now)

    def in_backfill_order(self, jobs: Sequence[Job], view: View) -> Iterable[Job]:
        """Return jobs that hold no promise in the order in which they may overtake."""
        return jobs


class OvertakingRules(BackfillRules[Overtakers]):
    """Rules of backfilling in which some jobs hold no promise, with options for the order of these."""

    def __init__(self, options: Overtakers, view: View, depth: float) -> None:
        super().__init__(options, view, depth)
        self.one_by_one = options.arrivals == "one_by_one"
        self.backfill_order = options.backfill_order.with_ties(options.ties)

    def in_backfill_order(self, jobs: Sequence[Job], view: View) -> Iterable[Job]:
        """Sort by the option's order, with predictions instead of walltimes."""
        order = self.backfill_order
        if order is FCFS:
            return jobs
        if self.predicted is None:
            return order.sorted(jobs, view.now)
        by_id = {job.id: job for job in jobs}
        expected = (replace(job, walltime=self.duration(job)) for job in jobs)
        return [by_id[job.id] for job in order.sorted(expected, view.now)]

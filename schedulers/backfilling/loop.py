"""Backfilling: the first blocked jobs hold a promise, and whoever breaks none may overtake them."""

import math
from collections.abc import Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from batsched_py.api import (
    TOLERANCE,
    Claim,
    HostSet,
    Job,
    Placement,
    Plan,
    Scheduler,
    Shadow,
    Slot,
    View,
    too_few,
)
from batsched_py.planning.future.agenda import Agenda, Entry
from batsched_py.planning.future.gaps import CountGaps, Gaps, HostGaps
from batsched_py.planning.future.promises import Choose
from batsched_py.planning.policies.ordering import FCFS, Line
from batsched_py.planning.policies.selection import SELECTIONS
from batsched_py.schedulers.backfilling.options import OvertakingOptions, PromiseOptions
from batsched_py.schedulers.backfilling.repairs import Repairs

Options = TypeVar("Options", bound=PromiseOptions)
Overtakers = TypeVar("Overtakers", bound=OvertakingOptions)
#: Of the options given to the loop any promise may come; a Shadow has no end, and is enough where there is but one.
Promise = Slot | Claim | Shadow


class Blocked(Struct):
    """A job that could not start, and its promise; None if no start can be foreseen."""

    job: Job
    promise: Promise | None
    #: Its place in the agenda, if there is one and it has a promise.
    entry: Entry | None = None


class Backfilling(Scheduler[Options]):
    """The loop of all backfilling: EASY is depth 1, conservative backfilling any depth.

    When hosts were released each promised job, in order, gives its promise back and takes the earliest start there is
    now, which is never later; then the others, in order, start or are promised a start, until `depth` hold a promise;
    the rest overtake if they break none. When nothing was released only what arrived is looked at: who could not start
    before cannot start now.

    In an order other than that of arrival whoever comes may be served before those who hold a promise. So whenever
    something may start all promises are made again in that order, and a start may move to later.

    To make an algorithm of one's own, override what decides who overtakes first (`in_backfill_order`), for how long a
    job runs (`duration`) and where (`choose`), or what happens when one is started (`start`).
    """

    needs_walltime = True

    #: How many blocked jobs hold a promise.
    depth: float = math.inf
    #: Promises are made of these very hosts, not of a number of them.
    on_hosts = False
    #: Jobs that arrive together are looked at in passes of their own.
    one_by_one = False

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.needs_walltime = options.walltimes == "required"
        #: Those who wait, in an order other than that of arrival; None: the queue is in order.
        self.line = None if options.order is FCFS else Line(options.order)

    def setup(self, view: View) -> None:
        """Nobody is promised anything."""
        self.placement = Placement(self.options, view)
        self.on_hosts = self.on_hosts or self.options.reserve == "hosts"
        self.constrained = self.options.constraint.rule is not None
        #: A job may find no hosts where enough are free.
        self.particular = not self.options.by_number
        #: Job id -> the blocked job, in the order in which they are served; at most `depth`.
        self.blocked: dict[str, Blocked] = {}
        #: Their promises, if there may be several.
        self.agenda = Agenda() if self.depth > 1 else None
        #: The one promise is on a number of hosts, and a Shadow: it says the same as a Claim, but nothing is reserved,
        #: and nobody needs to be called.
        self.shadow = self.agenda is None and not self.on_hosts
        #: How hosts are picked; None: the lowest, for which nobody need be asked.
        lowest = self.options.selection is SELECTIONS["lowest"] and type(self).choose is Backfilling.choose
        self.picks: Choose | None = None if lowest else self.choose
        #: What is free until when, by the promises; None if it must be found anew.
        self.gaps: Gaps | None = None
        #: The availability's disruptions when promises were last renewed.
        self.undisturbed = -1
        #: Ids of the jobs that have just arrived and whose pass is still to come.
        self.unseen: set[str] = set()
        #: When failed hosts are expected back.
        self.repairs = Repairs(self.options.repair_time)

    # What makes one algorithm differ from another.

    def in_backfill_order(self, jobs: Sequence[Job], view: View) -> Iterable[Job]:
        """The jobs that hold no promise, in the order in which they may overtake."""
        return jobs

    def duration(self, job: Job) -> float:
        """For how long the job is expected to hold its hosts, in seconds: its walltime, and the slack."""
        return job.limit + self.options.slack

    def choose(self, free: HostSet, size: int) -> HostSet | None:
        """Hosts of these for a job of this size; None if it had better wait."""
        return self.placement.choose(free, size)

    def hosts(self, job: Job, free: HostSet) -> HostSet | None:
        """Hosts of these on which the job may run; None if it had better wait."""
        return self.choose(free & self.placement.eligible(job) if self.constrained else free, job.size)

    def start(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Start the job."""
        plan.start(job, hosts)
        if self.options.slack:
            view.availability().predict(hosts, view.now + self.duration(job))

    def why_blocked(self, job: Job, view: View, plan: Plan) -> str:
        """Why the job, which waits, does not start now: it lacks hosts, or would break a promise."""
        free, count = plan.free, len(plan.free)
        if job.size > count:
            return too_few(job.size, count)
        if self.hosts(job, free) is not None:
            return f"needs {job.size} of {count} free hosts, and would break a promise"
        return self.placement.why_not(job, free)

    # The loop.

    def decide(self, view: View, plan: Plan) -> None:
        """Serve all that wait if something was released, else who arrived."""
        if self.particular:
            self.placement.refuse(view, plan)
        released = self.released(view)
        if self.one_by_one and len(view.arrived) > 1:
            self.pass_for_each(view.arrived, released, view, plan)
        elif self.line is not None:
            self.decide_in_order(self.line, view.arrived, released, view, plan)
        elif released:
            self.serve_all(view, plan)
        else:
            self.serve_arrived(view.arrived, view, plan)
        if self.blocked:
            if not self.shadow:
                self.call_for_promises(view, plan)
            if self.repairs.next_late < math.inf:
                self.repairs.call_when_late(view, plan)

    def call_for_promises(self, view: View, plan: Plan) -> None:
        """Be called at the first promised start, unless the end of work tells of it."""
        first = self.first_start()
        if view.now < first < math.inf and not view.availability().end_told_by(first):
            plan.wake_at(first)

    def released(self, view: View) -> bool:
        """Who could not start before may now, or a promise cannot be kept: hosts changed, or their repair is late."""
        changed = view.hosts_changed or self.repairs.next_late < math.inf
        return (changed and self.repairs.foresee(view)) or (not self.shadow and view.due(self.first_start()))

    def may_start(self, view: View, plan: Plan) -> bool:
        """Some job may start, so that it is worth looking at those who wait."""
        return bool(plan.free)

    def first_start(self) -> float:
        """The first promised start that must be kept without any work's end; infinite if there is none."""
        if self.agenda is not None:
            return self.agenda.first_start
        for each in self.blocked.values():  # there is at most one
            if isinstance(each.promise, Slot):
                return each.promise.start
        return math.inf

    def pass_for_each(self, arrived: Sequence[Job], released: bool, view: View, plan: Plan) -> None:
        """One pass for what was released and the first job that arrived, then one for each other job."""
        self.unseen.update(job.id for job in arrived)
        for job in arrived:
            self.unseen.remove(job.id)
            if self.line is not None:
                self.decide_in_order(self.line, [job], released, view, plan)
            elif released:
                self.serve_all(view, plan)
            else:
                self.serve_arrived([job], view, plan)
            released = False

    def serve_arrived(self, arrived: Sequence[Job], view: View, plan: Plan) -> None:
        """Nothing was released: start who arrived, promise a start, or let overtake."""
        if arrived:
            full = len(self.blocked) >= self.depth
            self.overtake(arrived if full else list(self.serve(arrived, view, plan)), view, plan)

    def decide_in_order(self, line: Line, arrived: Sequence[Job], released: bool, view: View, plan: Plan) -> None:
        """As `decide`; if nothing was released, who comes after those who hold a promise changes nothing for them."""
        now, order = view.now, line.order
        line.join(arrived, now)
        if not self.may_start(view, plan) or not (released or arrived or order.dynamic):
            return
        last = list(self.blocked.values())[-1:]
        latest = order.key(last[0].job, now) if last else -math.inf
        if released or order.dynamic or any(order.key(job, now) < latest for job in arrived):
            self.serve_all(view, plan)
        else:
            self.serve(order.sorted(arrived, now), view, plan)
            self.overtake([job for job in arrived if self.may_overtake(job, view)], view, plan)

    def serve_all(self, view: View, plan: Plan) -> None:
        """Renew promises, in an order other than that of arrival by making all again; then serve the others."""
        if self.line is None:
            self.renew(view, plan)
            if len(self.blocked) < len(view.queue):
                self.serve(self.seen(view.queue) if self.unseen else view.queue, view, plan)
        else:
            self.gaps = None
            for job_id in self.blocked:
                plan.promises.pop(job_id, None)  # another may be promised something in its place
            self.withdraw_all(view)
            self.serve(self.seen(self.line.jobs(view.queue, view.now)), view, plan)
        if self.depth <= len(self.blocked) < len(view.queue) and plan.free.bits:
            self.overtake(self.overtakers(view), view, plan)

    def seen(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Those of these jobs whose pass has come."""
        return [job for job in jobs if job.id not in self.unseen] if self.unseen else jobs

    def renew(self, view: View, plan: Plan) -> None:
        """Each blocked job, in order: start it if it fits now, else promise it the earliest start there is now."""
        self.gaps = None
        if self.agenda is None:  # there is at most one, and it is served first
            self.withdraw_all(view)
            return
        future = view.availability()
        if self.particular or self.undisturbed != future.disruptions or len(self.agenda) < len(self.blocked):
            self.renew_each(view, plan)
        else:
            self.compress(self.agenda, view, plan)
        self.undisturbed = future.disruptions

    def renew_each(self, view: View, plan: Plan) -> None:
        """Recompute every promise in order; infeasible ones may move later.

        If a failure is why a promise moves, the promises that come after it are withdrawn first: nobody is delayed by
        a job that is served later.
        """
        waiting = list(self.blocked.values())
        for position, each in enumerate(waiting):
            self.withdraw(each, view)
            if view.unavailable and self.moves_later(each, view, plan):
                for other in waiting[position + 1 :]:
                    self.withdraw(other, view)
                    plan.promises.pop(other.job.id, None)  # it may be promised nothing now
                self.serve([each.job for each in waiting[position:] if each.job.id in view.queue], view, plan)
                return
            if each.job.id in view.queue:
                self.admit(each.job, view, plan)

    def moves_later(self, withdrawn: Blocked, view: View, plan: Plan) -> bool:
        """The job cannot start by the start that it was promised."""
        before, after = withdrawn.promise, self.earliest(withdrawn.job, view, plan)
        return before is not None and (after is None or after.start > max(before.start, view.now) + TOLERANCE)

    def compress(self, agenda: Agenda, view: View, plan: Plan) -> None:
        """All hold a promise, and only hosts were given back: each can be kept, or made better."""
        for entry in agenda.compress(view.availability(), self.picks):
            self.blocked[entry.owner].promise = entry.promise
            plan.promise(self.blocked[entry.owner].job, entry.promise)
        self.start_due(agenda, view, plan)

    def start_due(self, agenda: Agenda, view: View, plan: Plan) -> None:
        """Start in order those whose time has come and whose hosts are free; if others' are late, they wait for them.

        Who starts late ends late. As long as that is no more than Batsim's messages take, the promises of those who
        follow stand, and they wait as long in turn; otherwise all promises are made anew.
        """
        late = False
        for entry in agenda.starting(view.now + TOLERANCE):
            job, promise = self.blocked[entry.owner].job, entry.promise
            if isinstance(promise, Slot):
                hosts = promise.hosts if promise.hosts <= plan.free else None
            else:
                hosts = self.hosts(job, plan.free)
            if hosts is None or job.id not in view.queue:
                late = late or promise.end <= view.now or job.id not in view.queue
                continue
            future = view.availability()
            future.release(promise)
            agenda.drop(entry)
            del self.blocked[job.id]
            self.start(job, hosts, view, plan)
            if view.now > promise.start and agenda:
                late = late or view.now > promise.start + TOLERANCE
                future.predict(hosts, promise.end)
        if late:
            for job_id in self.blocked:
                plan.promises.pop(job_id, None)
            self.withdraw_all(view)

    def withdraw_all(self, view: View) -> None:
        """Nobody is promised anything any more: those who wait are served anew."""
        if self.shadow:
            self.blocked.clear()
            return
        for each in list(self.blocked.values()):
            self.withdraw(each, view)

    def serve(self, jobs: Iterable[Job], view: View, plan: Plan) -> Iterable[Job]:
        """Start jobs or promise them a start, in order, until `depth` are blocked; those that are left."""
        blocked, depth = self.blocked, self.depth
        if len(blocked) >= depth:
            return jobs
        jobs = iter(jobs)
        for job in jobs:
            if job.id not in blocked:
                self.admit(job, view, plan)
                if len(blocked) >= depth:
                    break
        return jobs

    def admit(self, job: Job, view: View, plan: Plan) -> None:
        """Start the job if it breaks no promise; else promise it its earliest start."""
        promise = self.earliest(job, view, plan)
        if promise is not None and promise.start <= view.now:
            hosts = promise.hosts if isinstance(promise, Slot) else self.hosts(job, plan.free)
            if hosts is not None:
                self.start(job, hosts, view, plan)
                self.gaps = None
                return
        self.block(job, promise, view, plan)

    def earliest(self, job: Job, view: View, plan: Plan) -> Promise | None:
        """The first start that breaks no promise, if all work takes as long as is expected; None if there is none."""
        free = plan.free
        if not self.blocked:  # no promise to break, no need to look ahead
            if self.picks is None and not self.constrained:
                hosts = free.first(job.size)
            else:
                hosts = self.hosts(job, free) if job.size <= len(free) else None
            if hosts is not None:
                return Slot(view.now, math.inf, hosts)
        future = view.availability()
        if self.on_hosts:
            among = self.placement.eligible(job) if self.constrained else None
            return future.earliest(job.size, self.duration(job), among, self.picks)
        if self.shadow:
            return future.shadow(job.size) or Shadow(math.inf, 0)
        return future.earliest_count(job.size, self.duration(job))

    def block(self, job: Job, promise: Promise | None, view: View, plan: Plan) -> None:
        """The job waits, and its promise is kept from the others."""
        blocked = self.blocked[job.id] = Blocked(job, promise)
        self.gaps = None
        plan.hold(job, self.why_blocked(job, view, plan))
        if promise is None:
            return
        plan.promise(job, promise)
        if self.shadow:
            return
        if isinstance(promise, (Slot, Claim)):
            view.availability().reserve(promise)
            if self.agenda is not None:
                blocked.entry = self.agenda.add(job.id, job.size, self.duration(job), promise)

    def withdraw(self, blocked: Blocked, view: View) -> None:
        """The job is blocked no more; others may use what it was promised."""
        del self.blocked[blocked.job.id]
        if isinstance(blocked.promise, (Slot, Claim)):
            view.availability().release(blocked.promise)
        if blocked.entry is not None and self.agenda is not None:
            self.agenda.drop(blocked.entry)

    def overtakers(self, view: View) -> Sequence[Job]:
        """Each waiting job without a promise that breaks none if no other overtakes before it."""
        found, blocked = view.queue.within(self.find_gaps(view).limits(), view.now), self.blocked
        return [job for job in (self.seen(found) if self.unseen else found) if job.id not in blocked]

    def may_overtake(self, job: Job, view: View) -> bool:
        """The job waits and holds no promise."""
        return job.id in view.queue and job.id not in self.blocked

    def overtake(self, jobs: Sequence[Job], view: View, plan: Plan) -> None:
        """Start those that break no promise."""
        if not jobs:
            return
        now, gaps = view.now, self.gaps or self.find_gaps(view)
        left = gaps.left
        for job in self.in_backfill_order(jobs, view) if len(jobs) > 1 else jobs:
            size = job.size
            if size > left:
                continue
            end = now + self.duration(job)
            hosts = gaps.find(size, end, self.picks, self.placement.eligible(job) if self.constrained else None)
            if hosts is not None:
                self.start(job, hosts, view, plan)
                gaps.take(hosts, end)
                left -= size
                if not left:
                    return

    def find_gaps(self, view: View) -> Gaps:
        """What is free now, and until when."""
        if self.gaps is None:
            self.gaps = self.new_gaps(view)
        return self.gaps

    def new_gaps(self, view: View) -> Gaps:
        future = view.availability()
        free, now = future.free, view.now
        if self.on_hosts:
            return HostGaps(free, future.host_falls())
        if self.shadow:
            falls = [(now, future.room)]
            for each in self.blocked.values():
                if isinstance(each.promise, Shadow):
                    falls.append((each.promise.start, each.promise.spare))
            return CountGaps(free, falls)
        return CountGaps(free, future.count_falls())


class Overtaking(Backfilling[Overtakers]):
    """Backfilling in which some hold no promise, and an option says who of them comes first."""

    def setup(self, view: View) -> None:
        super().setup(view)
        self.one_by_one = self.options.arrivals == "one_by_one"

    def in_backfill_order(self, jobs: Sequence[Job], view: View) -> Iterable[Job]:
        """As the option says."""
        order = self.options.backfill_order
        return jobs if order is FCFS else order.sorted(jobs, view.now)

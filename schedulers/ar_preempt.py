"""Advance reservations: jobs that start at an instant, for which best-effort jobs may be preempted."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from batsched_py.api import Event, HostSet, Job, Placed, Plan, Slot, View, counted, option, seconds
from batsched_py.leases.api import MEMBER, START_TERMS, FieldError, LeaseKind, read_terms
from batsched_py.leases.preemption import Preemption
from batsched_py.leases.segments import Segments
from batsched_py.planning.future.promise_book import PromiseBook
from batsched_py.planning.future.reservations import Reservation, Reservations
from batsched_py.schedulers.backfilling.algorithms import Backfilling
from batsched_py.schedulers.backfilling.options import PromiseOptions
from batsched_py.schedulers.backfilling.rules import BackfillRules, Promise

# Hosts are chosen twice (ADR 18). At the arrival of a reservation, since it must be accepted or rejected then, and
# best-effort jobs must be backfilled around it; and at its instant, since jobs end early and hosts fail meanwhile. Jobs
# are killed only for the second choice: those that have ended by then need not be, and no work is lost for a
# reservation that is rejected later. With the same KTH-SP2 jobs `leases`, which decides at the request, kills three
# times as many (456 instead of 151; ADR 28).
#
# Between two decisions the book of reservations has exactly the accepted jobs that have not started and still have time
# left, `starts` all of them that have not started, and no best-effort promise touches a reservation. When a reservation
# comes or is near, all promises are withdrawn first and made again last (`begin_anew`, `serve_anew`): a promise has no
# right against a reservation.
#
# A kill takes Batsim some time, so a reservation with a margin of 0 starts late by it; `tolerance` says what is not
# worth a warning.

NO_HOSTS = HostSet()


@dataclass(frozen=True, slots=True)
class ArPreemptOptions(PromiseOptions):
    """Options of preemption for advance reservations, and of the promises of best-effort jobs."""

    reserve: Literal["hosts"] = option("hosts", "best-effort jobs are promised these very hosts")
    walltimes: Literal["required"] = option("required", "without them nothing can be reserved")
    preempt: Literal["requeue", "none"] = option("requeue", "kill best-effort jobs and submit them again, or do not")
    victims: Literal["youngest", "oldest"] = option("youngest", "which of them are killed first, by their start")
    margin: float = option(0.0, "seconds before a reservation at which they are killed", minimum=0)
    tolerance: float = option(1e-3, "seconds by which Batsim's messages may be late without a warning", minimum=0)
    depth: int = option(1, "how many blocked best-effort jobs hold a promise", minimum=0)

    def __post_init__(self) -> None:
        if not self.plain:
            self.refuse("is not for ar_preempt: reservations are made on the lowest hosts")
        self.refuse_predictor("ar_preempt: a job that runs longer than predicted would run into a reservation")
        if self.signal is not None:
            raise ValueError("signal is not for ar_preempt: reservations start at their instants")
        super(ArPreemptOptions, self).__post_init__()


class BestEffortRules(BackfillRules[ArPreemptOptions]):
    """The rules of backfilling around reservations."""

    def __init__(self, options: ArPreemptOptions, view: View, depth: float, segments: Segments) -> None:
        super().__init__(options, view, depth)
        self.segments = segments
        #: Id of an accepted job -> its requested start.
        self.starts: dict[str, float] = {}
        self.excluded = self.starts
        #: Seconds from the request to the start of jobs, given by the decision clock.
        self.delay = 0.0

    def duration(self, job: Job) -> float:
        """Return the walltime of a job, counted from the time of the decision."""
        return super().duration(job) + self.delay

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return the first start without a conflict with reservations and promises."""
        return book.earliest(job)

    def calls_at(self, first_start: float) -> bool:
        """Return False if a reservation begins before, at which promises are renewed."""
        return min(self.starts.values(), default=math.inf) > first_start

    def in_serving_order(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Return jobs in the order of service, with preempted jobs at the position of their first segment."""
        if not self.segments:
            return jobs
        return sorted(jobs, key=lambda job: self.segments.first(job).submit_time)


class ArPreempt(Backfilling[ArPreemptOptions]):
    """Start advance reservations at their instants; backfill best-effort jobs around them.

    A job with `"lease": {"start": t}` is given hosts for [t, t + walltime) when it arrives, or rejected with the
    reason. One with `"start": "now"` starts when it arrives or is rejected. All others are best effort: backfilled in
    order of arrival, and never started into a reservation. For a reservation that finds too few hosts best-effort jobs
    that run then, and are not `"preemptible": false`, are killed when it begins and submitted again as `id#1`.
    """

    name = "ar_preempt"
    places_tasks = True
    source = (
        "Haizea's policy without suspension: Sotomayor, Keahey, Foster, Combining batch execution and leasing using"
        " virtual machines, HPDC 2008"
    )
    uses_dynamic_jobs = True
    lease_terms = START_TERMS

    rules: BestEffortRules

    def make_rules(self, view: View) -> BestEffortRules:
        return BestEffortRules(self.options, view, self.options.depth, self.preemption.segments)

    def setup(self, view: View) -> None:
        """Begin without reservations."""
        #: Reservations of accepted jobs that have not started, under the ids of these jobs.
        self.book = Reservations(view.availability())
        #: The preemption of best-effort jobs for them.
        self.preemption = Preemption(
            view,
            self.book,
            wanted=self.options.preempt == "requeue",
            oldest_first=self.options.victims == "oldest",
            margin=self.options.margin,
            tolerance=self.options.tolerance,
        )
        #: Ids of jobs for which hosts were freed `margin` seconds before.
        self.prepared: set[str] = set()
        super().setup(view)
        self.starts = self.rules.starts

    def observe(self, event: Event, view: View) -> None:
        """Record killed jobs, to submit them again."""
        self.preemption.observe(event)

    def decide(self, view: View, plan: Plan) -> None:
        """Handle reservations first, then backfill jobs around them."""
        self.book.expire()
        self.rules.delay = plan.timestamp - view.now
        leases = [job for job in view.arrived if MEMBER in job.members]
        segments_came = self.preemption.segments.meet(view.arrived)
        if segments_came or leases or self.preemption.to_repeat or self.pressing(view):
            self.loop.begin_anew(view, plan)
            self.repair(view, plan)
            for job in leases:
                self.admit_lease(job, view, plan)
            for job_id in self.near(view):
                self.prepare(job_id, view, plan)
            self.preemption.repeat(plan)  # after the starts, which each command delays in Batsim
            self.preemption.foresee()
            self.loop.serve_anew(view, plan)
        else:
            super().decide(view, plan)
        self.call(view, plan)
        self.finish_registration(view, plan)

    def cancel(self, job_id: str, view: View, plan: Plan) -> bool:
        """Cancel a job, and release its reservation."""
        if self.starts.pop(job_id, None) is not None:
            self.prepared.discard(job_id)
            if job_id in self.book:
                self.withhold(job_id, view)
        return super().cancel(job_id, view, plan)

    def pressing(self, view: View) -> bool:
        """Return whether to check reservations: one is near, or hosts have become available or unavailable."""
        return bool(self.starts) and (view.hosts_changed or bool(self.near(view)))

    def near(self, view: View) -> list[str]:
        """Return accepted jobs that begin within the margin or are overdue, in order of their requested starts."""
        margin, tolerance = self.options.margin, self.options.tolerance
        found = [job_id for job_id, start in self.starts.items() if view.due(start - margin, tolerance)]
        return sorted(found, key=lambda job_id: self.starts[job_id])

    def admit_lease(self, job: Job, view: View, plan: Plan) -> None:
        """Reserve hosts for a new job, start it or reject it, according to its terms."""
        try:
            terms = read_terms(job)
        except FieldError as error:
            self.refuse(job, str(error), plan)
            return
        if terms.kind is LeaseKind.IMMEDIATE:
            self.start_now(job, view, plan)
        elif terms.start is not None:
            self.accept(job, terms.start, view, plan)

    def start_now(self, job: Job, view: View, plan: Plan) -> None:
        free = view.availability().free_during(view.now, view.now + self.rules.duration(job))
        hosts = self.rules.choose(free, job.size)
        if job.demand is not None:
            places = view.availability().room_now(job.demand, self.rules.duration(job), self.rules.placement.packer())
            if places is None:
                self.refuse(
                    job, f"it must start now, and {view.shortage(job) or 'others have reserved its room'}", plan
                )
            else:
                plan.start(job, Placed(places))
        elif hosts is None:
            found = counted(len(free), "is free", "are free")
            self.refuse(job, f"it must start now on {counted(job.size, 'host')}, {found} for its walltime", plan)
        else:
            plan.start(job, hosts)

    def accept(self, job: Job, start: float, view: View, plan: Plan) -> None:
        """Reserve exactly at `start`, or reject the job."""
        if start < view.now - self.options.tolerance:
            self.refuse(job, f"it must start at {seconds(start)}, which is past", plan)
            return
        self.preemption.warn_once(plan)
        room = self.preemption.find_room(job, start)
        if isinstance(room, str):
            self.refuse(job, room, plan)
        else:
            self.starts[job.id] = start
            self.keep(job, room[0], view, plan)

    def keep(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        """Reserve these hosts for an accepted job; work that still holds them will have ended or be stopped."""
        start = self.starts[job.id]
        slot = Slot(start, max(start, view.now) + job.limit, hosts)
        self.put(Reservation(job.id, slot))
        plan.promise(job, slot)
        plan.hold(job, f"is to start at {seconds(start)} on {hosts}", "instant")

    def put(self, reservation: Reservation) -> None:
        fault = self.book.add(reservation, over=reservation.slot.hosts)
        assert fault is None, f"{reservation}: {fault}"  # noqa: S101  # its room was found, or it was there before

    def withhold(self, job_id: str, view: View) -> None:
        """Remove a reservation from the book, to move it; no running job is marked for preemption by it any longer."""
        self.book.remove(job_id)
        self.preemption.foresee()

    def repair(self, view: View, plan: Plan) -> None:
        """Move reservations from unavailable hosts to others, if possible; at their start they must be moved."""
        down = view.availability().down
        for reservation in list(self.book) if down else ():
            if reservation.slot.hosts.bits & down:
                job = view.queue.get(reservation.id)
                assert job is not None  # noqa: S101  # no other code removes it from the queue
                self.withhold(job.id, view)
                self.prepared.discard(job.id)
                room = self.preemption.find_room(job, self.starts[job.id])
                if isinstance(room, str):
                    self.put(reservation)
                    gone = HostSet(reservation.slot.hosts.bits & down)
                    plan.hold(job, f"{gone} of its hosts went down; on others: {room}", "instant")
                else:
                    self.keep(job, room[0], view, plan)

    def prepare(self, job_id: str, view: View, plan: Plan) -> None:
        """Start a due job if its hosts are free; else free hosts for it."""
        job, found = view.queue.get(job_id), self.book.get(job_id)
        assert job is not None  # noqa: S101  # no other code removes it from the queue
        due = view.due(self.starts[job_id], self.options.tolerance)
        hosts = NO_HOSTS
        if found is not None:  # else its reservation is over
            self.withhold(job_id, view)
            hosts = found.slot.hosts
        if due:
            others = view.availability().free_during(view.now, view.now + job.limit)
            ready = hosts if hosts and hosts <= plan.free else self.preemption.first_hosts(job, others)
            if ready is not None:
                self.begin(job, ready, view, plan)
                return
        if found is not None and (self.will_leave(hosts, view) if due else job_id in self.prepared):
            self.put(found)
        else:
            self.take(job, found, view, plan)

    def will_leave(self, hosts: HostSet, view: View) -> bool:
        """Return whether these hosts are up and will be free without killing a job."""
        return self.are_up(hosts, view) and not self.preemption.in_the_way(hosts, view.now + self.options.tolerance)

    def are_up(self, hosts: HostSet, view: View) -> bool:
        return not hosts.bits & view.availability().down

    def take(self, job: Job, before: Reservation | None, view: View, plan: Plan) -> None:
        """Select the hosts of a job whose start is near again, and kill the jobs on them."""
        start = self.starts[job.id]
        room = self.preemption.find_room(job, start)
        if not isinstance(room, str):
            self.prepared.add(job.id)
            self.preemption.stop(room[1], plan)
            self.keep(job, room[0], view, plan)
        elif before is not None and self.are_up(before.slot.hosts, view):
            self.prepared.add(job.id)
            begin = max(start, view.now + self.options.tolerance)
            self.preemption.stop(self.preemption.in_the_way(before.slot.hosts, begin), plan)
            self.put(before)
        elif before is not None and not view.due(start, self.options.tolerance):
            self.put(before)
        else:
            del self.starts[job.id]
            lost = "its time has gone by" if before is None else f"its hosts {before.slot.hosts} cannot be had"
            self.refuse(job, f"{lost}, and on others {room}", plan)

    def begin(self, job: Job, hosts: HostSet, view: View, plan: Plan) -> None:
        start = self.starts.pop(job.id)
        self.prepared.discard(job.id)
        late = view.now - start
        if late > self.options.tolerance:
            text = f"{job.id} starts {seconds(late)} s after {seconds(start)}, its planned start"
            plan.warn(f"{text}: its hosts were reported free late")
        self.start_on(job, hosts, plan)
        self.preemption.will_end(job, start + job.limit)

    def start_on(self, job: Job, hosts: HostSet, plan: Plan) -> None:
        """Start a job on its reserved hosts, or its tasks on parts of them."""
        placed = None if job.demand is None else self.rules.placement.place_on(job, hosts, plan)
        plan.start(job, hosts if placed is None else placed)

    def refuse(self, job: Job, why: str, plan: Plan) -> None:
        """Reject a job with a reason for the user, which Batsim 4 writes to its jobs file."""
        self.prepared.discard(job.id)
        note = "".join(character if character.isprintable() else " " for character in why.replace('"', "'"))
        if plan.dialect.keeps_metadata:
            plan.set_metadata(job, note)
        plan.reject(job, why)

    def call(self, view: View, plan: Plan) -> None:
        """Request a call at the next relevant time, unless there is an earlier call."""
        margin, tolerance = self.options.margin, self.options.tolerance
        instants = [time for start in self.starts.values() for time in (start - margin, start)]
        next_one = min((time for time in instants if not view.due(time, tolerance)), default=None)
        if next_one is not None and not any(view.now < call <= next_one for call in view.wakeups):
            plan.wake_at(next_one)

    def finish_registration(self, view: View, plan: Plan) -> None:
        """Finish registration once no job can be preempted. It may be reopened for Batsim 1, which announces no end."""
        if not view.registration_open or self.preemption.in_progress:
            return
        all_came = view.all_submitted or plan.dialect.name == "v1.4"
        if not self.preemption.active or (all_came and not self.starts):
            plan.finish_registration()

"""The backfilling loop: the first blocked jobs hold promises, and jobs that break none of these may overtake them.

EASY is depth 1, conservative backfilling any depth. The differences between algorithms are in their rules, the promises
in a promise book. The loop only decides which jobs are considered when:

* After a release of hosts, each promised job, in order, returns its promise and takes the earliest start, which is
  never later; then the others, in order, start or are promised a start, until `depth` jobs hold a promise; the rest
  overtake if they break none.
* Without a release, only new jobs are considered: jobs that could not start before cannot start now.
* In an order other than that of arrival, a new job may be served before jobs with promises. Therefore, whenever a job
  may start, all promises are made again in that order, and starts may move to later times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from batsched_py.api import TOLERANCE, HostSet, Job, OptionError, Placed, Plan, View
from batsched_py.planning.future.promise_book import Entry, PromiseBook, ShadowBook
from batsched_py.planning.future.reserving_books import CountBook, HostBook, ReservingBook
from batsched_py.planning.future.room_book import RoomBook, RoomGaps
from batsched_py.planning.policies.ordering import FCFS, Line
from batsched_py.schedulers.backfilling.predicted_runs import predict_end
from batsched_py.schedulers.backfilling.repairs import Repairs
from batsched_py.schedulers.backfilling.rules import BackfillRules

# Sources: EASY is Lifka (1995), conservative backfilling and its compression Mu'alem and Feitelson (2001). Both are one
# loop: the first `depth` blocked jobs hold promises, all others may start if they break none.
#
# Between two messages `_blocked` has at most `depth` jobs that wait, in the order of serving, and no other job could
# start at the last message. Nothing becomes possible without a release (a job ended, hosts returned, a promised start
# has come), so that an arrival costs a look at the arriving job alone. In an order other than that of arrival this does
# not hold: a new job may be served before those with promises, and then all are made again.
#
# A promise never moves to later as long as predictions hold. It must when work ends late, hosts fail or predictions
# change; the book shows this (`stands`), and promises are made anew one by one. If hosts have failed, promises of later
# jobs are withdrawn before an earlier one is made anew: otherwise the earlier job would find its hosts promised to a
# later one.
#
# Batsim's messages take time, so a promised start comes a little late, and its job ends late by as much. Within
# TOLERANCE the promises that follow stand, and their jobs wait in turn; making all anew at each latency would move them
# for nothing.
#
# Cost: an arrival costs O(log n) with EASY and one search with conservative backfilling. A release costs one search for
# EASY's promise, or one for each promise that may improve; then the k jobs small and short enough to overtake are
# visited (`View.queue.within`), not all that wait. A call for each hook costs 5.6 % more instructions a message with
# `easy` (ADR 26), so hooks that no subclass overrides are None.


class BackfillLoop:
    """The backfilling of one run, by given rules."""

    def __init__(self, rules: BackfillRules[Any], view: View, kind: type[PromiseBook[Any]] | None = None) -> None:
        """Begin without promises; the default kind of promises is the cheapest sufficient one."""
        self._rules = rules
        kind = kind or (HostBook if rules.on_hosts else CountBook if rules.depth > 1 else ShadowBook)
        self._take(kind(view.availability, rules.duration))
        #: Waiting jobs in an order other than that of arrival; None: the queue is in order.
        self._order = rules.options.serving_order
        self._line = None if rules.in_turn or self._order is FCFS else Line(self._order)
        #: Ids of new jobs whose pass has not begun.
        self._unseen: set[str] = set()
        #: Expected returns of failed hosts.
        self._repairs = Repairs(rules.options.repair_time)

    def _take(self, book: PromiseBook[Any]) -> None:
        """Take a book for the promises from now on."""
        self._book: PromiseBook[Any] = book
        #: The same book if it reserves: its promises can be compressed, and their starts may need calls.
        self._reserving: ReservingBook[Any] | None = book if isinstance(book, ReservingBook) else None
        #: Job id -> a job that could not start, and its promise, in the order of serving; at most `depth`.
        self._blocked: dict[str, Entry[Any]] = book.entries

    @property
    def head(self) -> Job | None:
        """The first blocked job, if there is one."""
        first = next(iter(self._blocked.values()), None)
        return None if first is None else first.job

    def resume(self, former: BackfillLoop, view: View) -> None:
        """Adopt the promises of another loop for the jobs of this view, none of which is new."""
        rules = self._rules
        if isinstance(former._book, RoomBook):
            self._promise_rooms(view)
        book = self._book
        if rules.ends_differ:
            for run in view.running:
                predict_end(run, rules.expected_end(run), view)
        if self._line is not None:
            self._line.join(view.queue, view.now)
        for entry in former._blocked.values():
            book.keep(entry.job, entry.promise)
        if self._reserving is not None:
            self._reserving.note_renewal()

    # Decisions.

    def decide(self, view: View, plan: Plan, *, disturbed: bool = False) -> None:
        """Serve all waiting jobs after a release or if the rules were `disturbed`, else the new ones."""
        rules = self._rules
        if rules.needs_specific_hosts:
            rules.placement.refuse(view, plan)
        released = self._released(view) or disturbed
        if disturbed and rules.depth > 1 and self._line is None:
            self._forget_all(plan)  # one by one, a job might be promised a start behind jobs that are served later
        if self._takes_rooms(view):
            self._promise_rooms(view)
            released = True
        if rules.one_by_one and len(view.arrived) > 1:
            self._pass_for_each(view.arrived, released, view, plan)
        else:
            self._pass(view.arrived, released, view, plan)
        if self._blocked:
            self._call(view, plan)

    def begin_anew(self, view: View, plan: Plan) -> None:
        """Withdraw all promises, for algorithms that reserve hosts themselves before they serve jobs again."""
        self._repairs.foresee(view)
        if self._takes_rooms(view):
            self._promise_rooms(view)
        self._forget_all(plan)
        if self._line is not None:
            self._line.join(view.arrived, view.now)

    def serve_anew(self, view: View, plan: Plan) -> None:
        """Serve all waiting jobs, after `begin_anew`."""
        self._serve_all(view, plan)
        self._call(view, plan)

    def renew(self, view: View, plan: Plan) -> None:
        """Start each blocked job that fits now, in order; else promise it the earliest start."""
        book = self._reserving
        if book is None or self._rules.depth <= 1:  # there is at most one, and it is served first
            if not (isinstance(book, RoomBook) and self._remains_first(book, view, plan)):
                self._book.withdraw_all()
            return
        book.forget_gaps()
        if self._rules.needs_specific_hosts or not book.stands:
            self._renew_each(view, plan)
        else:
            for job, promise in book.compress(self._rules.picks):
                plan.promise(job, promise)
            self._start_due(book, view, plan)
        book.note_renewal()

    def _remains_first(self, book: RoomBook, view: View, plan: Plan) -> bool:
        """Keep the only promise, if it would be made again as it is; return whether that is certain."""
        first, rules, head = next(iter(book.entries.values()), None), self._rules, next(iter(view.queue), None)
        plain = rules.searches_rooms and rules.in_serving_order is None
        if first is None or first.job is not head or head.id in rules.excluded or not (plain and book.is_same(first)):
            return False
        book.forget_gaps()
        rules.hold(first.job, view, plan)
        return True

    def _takes_rooms(self, view: View) -> bool:
        """Return whether the first jobs with demands have arrived, and their tasks are placed."""
        packs = self._rules.packs and not isinstance(self._book, RoomBook)
        return packs and any(job.demand is not None for job in view.arrived)

    def _promise_rooms(self, view: View) -> None:
        """Promise rooms instead of hosts or numbers of them, from the first job with a demand on.

        Numbers of hosts become specific hosts at the same starts. A promise that reserves nothing is made anew.
        """
        if self._rules.packs_not:
            raise OptionError(self._rules.packs_not)
        rooms = RoomBook(view.availability, self._rules.duration, self._rules.placement.packer())
        if self._reserving is not None:
            rooms.adopt(self._reserving)
        self._take(rooms)

    # Passes.

    def _released(self, view: View) -> bool:
        """Return whether jobs that could not start before may start now, or a promise cannot be kept."""
        repairs, released = self._repairs, view.hosts_changed
        if repairs.next_late < math.inf or (released and (repairs.failed_since or view.unavailable.bits)):
            released = repairs.foresee(view)
        return released or (self._reserving is not None and view.due(self._reserving.first_start))

    def _call(self, view: View, plan: Plan) -> None:
        """Request calls at the first promised start, unless an end of work coincides with it, and for late repairs."""
        if self._reserving is not None:
            first = self._reserving.first_start
            calls = view.now < first < math.inf and self._rules.calls_at(first)
            if calls and not view.availability().end_announced_by(first):
                plan.wake_at(first)
        if self._repairs.next_late < math.inf:
            self._repairs.call_when_late(view, plan)

    def _pass_for_each(self, arrived: Sequence[Job], released: bool, view: View, plan: Plan) -> None:
        """Make one pass for the release and the first new job, then one for each other new job."""
        self._unseen.update(job.id for job in arrived)
        for job in arrived:
            self._unseen.remove(job.id)
            self._pass([job], released, view, plan)
            released = False

    def _pass(self, arrived: Sequence[Job], released: bool, view: View, plan: Plan) -> None:
        if self._line is not None:
            self._pass_in_order(self._line, arrived, released, view, plan)
        elif released and self._rules.in_turn:
            self._improve_in_turn(arrived, view, plan)
        elif released:
            self._serve_all(view, plan)
        elif arrived:
            full = len(self._blocked) >= self._rules.depth
            self._overtake(arrived if full else list(self._serve(arrived, view, plan)), view, plan)

    def _pass_in_order(self, line: Line, arrived: Sequence[Job], released: bool, view: View, plan: Plan) -> None:
        """Make a pass in the order of the line; without releases, arrivals after the last promise do not change any."""
        now, order = view.now, line.order
        line.join(arrived, now)
        if not self._rules.may_start(view, plan) or not (released or arrived or order.dynamic):
            return
        last = next(reversed(self._blocked.values()), None)
        latest = (-math.inf, "") if last is None else (order.key(last.job, now), order.tie(last.job))
        if released or order.dynamic or any((order.key(job, now), order.tie(job)) < latest for job in arrived):
            self._serve_all(view, plan)
        else:
            self._serve(order.sorted(arrived, now), view, plan)
            left = [job for job in arrived if job.id in view.queue and job.id not in self._blocked]
            self._overtake(left, view, plan)

    def _serve_all(self, view: View, plan: Plan) -> None:
        """Renew promises (in an order other than that of arrival, make all again), then serve the others."""
        queue, blocked = view.queue, self._blocked
        if self._line is None:
            self.renew(view, plan)
            if len(blocked) < len(queue):
                self._serve(self._seen(queue), view, plan)
        else:
            self._forget_all(plan)
            self._serve(self._seen(self._line.jobs(queue, view.now)), view, plan)
        if self._rules.depth <= len(blocked) < len(queue) and (plan.free.bits or view.part.bits):
            found = self._rules.overtakers(self._book.gaps(), view)
            self._overtake([job for job in self._seen(found) if job.id not in blocked], view, plan)

    def _improve_in_turn(self, arrived: Sequence[Job], view: View, plan: Plan) -> None:
        """Let each waiting job in the order, new ones too, give its promise back and take its earliest start."""
        for gone in [entry for job_id, entry in self._blocked.items() if job_id not in view.queue]:
            self._book.withdraw(gone)
        book, order, now = self._book, self._order, view.now
        if isinstance(book, HostBook) and book.stands and not (arrived or self._rules.needs_specific_hosts):
            book.sort(lambda job: (order.key(job, now), order.tie(job)), anew=order.dynamic)
            self.renew(view, plan)
            return
        for job in order.sorted((job for job in view.queue if job.id not in self._rules.excluded), now):
            entry = self._blocked.get(job.id)
            if entry is not None:
                book.withdraw(entry)
            self._admit(job, view, plan)
        if self._reserving is not None:
            self._reserving.note_renewal()

    def _seen(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Return the jobs whose pass has begun."""
        return [job for job in jobs if job.id not in self._unseen] if self._unseen else jobs

    # Promises.

    def _renew_each(self, view: View, plan: Plan) -> None:
        """Recompute every promise in order; infeasible ones may move to later times.

        If a promise moves because of a failure, the promises after it are withdrawn first: no job is delayed by one
        that is served later.
        """
        waiting = list(self._blocked.values())
        for position, entry in enumerate(waiting):
            self._book.withdraw(entry)
            if view.unavailable and self._moves_later(entry, view, plan):
                for other in waiting[position + 1 :]:
                    self._book.withdraw(other)
                    plan.withdraw_promise(other.job.id)  # it may get no new promise
                self._serve([each.job for each in waiting[position:] if each.job.id in view.queue], view, plan)
                return
            if entry.job.id in view.queue:
                self._admit(entry.job, view, plan)

    def _moves_later(self, withdrawn: Entry[Any], view: View, plan: Plan) -> bool:
        """Return whether the job cannot start at its promised start."""
        before, after = withdrawn.promise, self._rules.earliest(withdrawn.job, self._book, view, plan)
        return before is not None and (after is None or after.start > max(before.start, view.now) + TOLERANCE)

    def _start_due(self, book: ReservingBook[Any], view: View, plan: Plan) -> None:
        """Start due jobs whose hosts are free, in order; others wait for hosts that are late.

        A job that starts late ends late. If the delay is within the latency of Batsim's messages, later promises
        remain, and their jobs wait as long in turn; otherwise all promises are made again.
        """
        late = False
        for entry, promise in book.starting(view.now + TOLERANCE):
            job = entry.job
            hosts = self._rules.where(job, promise, plan)
            if hosts is None or job.id not in view.queue or not self._is_free(job, hosts, plan):
                late = late or promise.end <= view.now or job.id not in view.queue
                continue
            book.withdraw(entry)
            self._start(job, hosts, view, plan)
            if view.now > promise.start and self._blocked:
                late = late or view.now > promise.start + TOLERANCE
                if isinstance(hosts, Placed):
                    view.availability().predict_tasks(job.id, promise.end)
                else:
                    view.availability().predict(hosts, promise.end)
        if late:
            self._forget_all(plan)

    def _is_free(self, job: Job, hosts: HostSet | Placed, plan: Plan) -> bool:
        """Return whether a job can start on these hosts, or at these places."""
        return plan.has_room(job, hosts) if isinstance(hosts, Placed) else hosts <= plan.free

    def _start(self, job: Job, hosts: HostSet | Placed, view: View, plan: Plan) -> None:
        if isinstance(hosts, Placed):
            self._rules.start_tasks(job, hosts, view, plan)
        else:
            self._rules.start(job, hosts, view, plan)

    def _forget_all(self, plan: Plan) -> None:
        """Withdraw all promises, also from the plan, because other jobs may get promises instead."""
        for job_id in self._blocked:
            plan.withdraw_promise(job_id)
        self._book.withdraw_all()

    # Jobs.

    def _serve(self, jobs: Iterable[Job], view: View, plan: Plan) -> Iterable[Job]:
        """Start jobs or promise them a start, in order, until `depth` are blocked; return the remaining ones."""
        blocked, depth, excluded = self._blocked, self._rules.depth, self._rules.excluded
        if len(blocked) >= depth:
            return jobs
        reorder = self._rules.in_serving_order
        jobs = iter(jobs if reorder is None or self._line is not None else reorder(jobs))
        for job in jobs:
            if job.id not in blocked and job.id not in excluded:
                self._admit(job, view, plan)
                if len(blocked) >= depth:
                    break
        return jobs

    def _admit(self, job: Job, view: View, plan: Plan) -> None:
        """Start the job if that breaks no promise; else promise it its earliest start."""
        rules, book = self._rules, self._book
        promise = rules.earliest(job, book, view, plan)
        if promise is not None and promise.start <= view.now:
            hosts = rules.where(job, promise, plan)
            if hosts is not None:
                self._start(job, hosts, view, plan)
                book.forget_gaps()
                return
        rules.hold(job, view, plan)
        book.keep(job, promise)
        if promise is not None:
            plan.promise(job, promise)

    def _overtake(self, jobs: Sequence[Job], view: View, plan: Plan) -> None:
        """Start the jobs that break no promise."""
        if not jobs:
            return
        rules, now, gaps = self._rules, view.now, self._book.gaps()
        if isinstance(gaps, RoomGaps):
            self._overtake_in_rooms(jobs, gaps, view, plan)
            return
        left, excluded, may_overtake = gaps.left, rules.excluded, rules.may_overtake
        ordered = rules.in_backfill_order(jobs, view) if len(jobs) > 1 else jobs
        for job in rules.placement.jobs.with_room(ordered, gaps) if rules.constrained else ordered:
            size = job.size
            if size > left or job.id in excluded:
                continue
            end = now + rules.duration(job)
            hosts = gaps.find(size, end, rules.picks, rules.placement.eligible_now(job) if rules.constrained else None)
            if hosts is not None and (may_overtake is None or may_overtake(job, hosts, self._book, view)):
                rules.start(job, hosts, view, plan)
                gaps.take(hosts, end)
                left -= size
                if not left:
                    return

    def _overtake_in_rooms(self, jobs: Sequence[Job], gaps: RoomGaps, view: View, plan: Plan) -> None:
        """Start the jobs that break no promise, on whole hosts or parts of them."""
        rules, now, may_overtake = self._rules, view.now, self._rules.may_overtake
        for job in rules.in_backfill_order(jobs, view) if len(jobs) > 1 else jobs:
            if job.id in rules.excluded:
                continue
            end, demand = now + rules.duration(job), job.demand
            among = rules.placement.eligible_now(job) if rules.constrained else None
            found: HostSet | Placed | None
            if demand is None:
                found = gaps.find(job.size, end, rules.picks, among)
            else:
                places = gaps.find_tasks(demand, end, among)
                found = None if places is None else Placed(places)
            if found is not None:
                hosts = found.hosts if isinstance(found, Placed) else found
                if may_overtake is None or may_overtake(job, hosts, self._book, view):
                    self._start(job, found, view, plan)
                    gaps.take(hosts, end)

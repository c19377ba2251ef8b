"""Slurm's decisions about the jobs of a workload: the controller of `batsched_py.slurm` with Batsim."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal

from batsched_py.api import Claim, Event, Job, OptionError, Plan, Scheduler, View
from batsched_py.schedulers.slurm.enactment import SUBMITS_AGAIN, EndedJob, SlurmEnactment
from batsched_py.schedulers.slurm.options import SlurmOptions
from batsched_py.slurm.accounts import Qos
from batsched_py.slurm.adapter.files import TimedCommand
from batsched_py.slurm.adapter.nodes import (
    ClusterNodes,
    check_capacities,
    match_nodes,
    platform_configuration,
    with_types,
)
from batsched_py.slurm.adapter.submissions import JobSubmissions, Refusal
from batsched_py.slurm.configuration import UNLIMITED, SlurmConfiguration
from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.decisions import Decision
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.reservation_file import past_line

# The controller acts at ticks of its threads, Batsim sends messages at events and at requested calls. Each decision
# therefore lets the threads act up to just before now, hands over what the message says, lets them act at now, and asks
# for a call at the next tick. A tick and an event of the same instant: the event is first, as one message has all
# events of its instant.


class Slurm(Scheduler[SlurmOptions]):
    """Decide as Slurm: its main scheduler, backfill, priorities, limits, preemption and reservations.

    A job's member `slurm` has its options of sbatch (docs/slurm.md). The hosts of the platform are the nodes of the
    option `conf`, by name. A job that is preempted and requeued is killed and submitted again as `id#1`.
    """

    name = "slurm"
    places_tasks = True
    heeds_conditions = True
    uses_dynamic_jobs = True
    foresight = "promises"
    source = "Slurm 22.05: slurm.conf(5), sched_config and other pages of its documentation, and recordings"

    def setup(self, view: View) -> None:
        """Begin with an idle cluster."""
        options = self.options
        configuration, nodes = self._cluster(view)
        accounts = options.accounts()
        _check_preemption(configuration, accounts.qos.values(), view, options.conf_name)
        self._nodes = nodes
        phases = options.phases(accounting=configuration.accounting)
        self.controller = SlurmController(configuration, accounts, phases)
        reservations = options.advance_reservations(configuration)
        self.controller.cluster.reservations.all.extend(one for one in reservations if one.end > view.now)
        self.submissions = JobSubmissions(
            self.controller, stops_at_strangers=options.strangers == "stop", dump=self._dump_name()
        )
        self.enactment = SlurmEnactment(view, nodes, options.launch_delay)
        #: Ends and commands that the controller does not know yet, by the instant at which it will.
        self._news: list[tuple[float, int, EndedJob | TimedCommand]] = []
        self._order = count()
        for command in options.timed_commands():
            self._later(command.at, command)
        self._may_requeue = "REQUEUE" in _modes(configuration, accounts.qos.values()) or bool(self._news)
        #: True until the first job with a demand.
        self._is_unchecked = options.conf is not None
        self._has_unlimited = False
        #: Key -> reason and planned start, as they were passed on.
        self._reasons: dict[str, str] = {}
        self._promised: dict[str, float] = {}
        self._passes = 0
        #: Warnings for the first decision; none afterwards.
        self._hints = [*options.hints(), *filter(None, [past_line(reservations, view.now)])]
        #: Since when nothing has happened on the empty cluster; None otherwise.
        self._idle_since: float | None = None

    def _cluster(self, view: View) -> tuple[SlurmConfiguration, ClusterNodes]:
        options = self.options
        configuration = options.configuration()
        if configuration is not None:
            return configuration, match_nodes(configuration, view, options.conf_name)
        configuration, nodes = platform_configuration(view, is_linear=options.select != "cons_tres")
        return with_types(configuration, options.scheduler, options.select), nodes

    def _dump_name(self) -> str:
        return self.options.conf_name if self.options.dump is None else self.options.dump.name

    def observe(self, event: Event, view: View) -> None:
        """Note ends of jobs."""
        self.enactment.observe(event)

    def decide(self, view: View, plan: Plan) -> None:
        """Let the controller act up to now, and carry out its decisions."""
        for hint in self._hints:
            plan.warn(hint)
        self._hints.clear()
        arrived = self.enactment.arrived(view.arrived)
        decisions = self._catch_up(view, plan)
        self.controller.drain(self._nodes.nodes(view.unavailable | view.asleep | view.switching), view.now)
        if arrived:
            self._submit(arrived, view, plan)
        decisions += self.controller.advance(self._instant(view))
        self.enactment.enact(decisions, self.submissions.by_key, plan)
        self.enactment.proceed(plan)
        if self.controller.pass_count > self._passes:
            self._passes = self.controller.pass_count
            self._explain(view, plan)
        if not self._gives_up(view, plan, is_changed=bool(arrived or decisions)):
            self._call(view, plan)
        self._keep_registration(view, plan)

    def _instant(self, view: View) -> float:
        """Return now, or the next tick if it is due: messages may come a little early."""
        tick = self.controller.next_wake()
        return tick if tick > view.now and view.due(tick) else view.now

    def _later(self, at: float, news: EndedJob | TimedCommand) -> None:
        heapq.heappush(self._news, (at, next(self._order), news))

    def _catch_up(self, view: View, plan: Plan) -> list[Decision]:
        """Let the threads act up to just before now, with the news of the time between."""
        decisions: list[Decision] = []
        for end in self.enactment.ended:
            self._later(end.at + self.options.completion_delay, end)
        self.enactment.ended.clear()
        while self._news and self._news[0][0] < view.now:
            decisions += self.controller.advance(self._news[0][0])
            decisions += self._pass_on(plan)
        decisions += self.controller.advance(view.now, is_open=True)
        while self._news and view.due(self._news[0][0]):
            decisions += self._pass_on(plan)
        return decisions

    def _pass_on(self, plan: Plan) -> list[Decision]:
        """Pass on the first of the news."""
        at, _, news = heapq.heappop(self._news)
        if isinstance(news, TimedCommand):
            decisions, fault = self.submissions.command(news, at)
            if fault:
                plan.warn(f"command in line {news.line}: {fault}")
            return decisions
        job = news.job
        # The controller may have decided before that it ends.
        if job.ended is None and job.state != PENDING and job not in self.controller.cluster.completing:
            self.controller.ended_job(job, at, news.is_ok)
            self.enactment.jobs.pop(job.key, None)
        return []

    def _submit(self, arrived: Sequence[Job], view: View, plan: Plan) -> None:
        if self._is_unchecked and any(job.demand is not None for job in arrived):
            self._is_unchecked = False
            check_capacities(self.controller.cluster.configuration, view, self.options.conf_name)
        for found in self.submissions.submit(arrived, view.now):
            if isinstance(found, Refusal):
                plan.reject(found.job, found.why)
            else:
                self.enactment.meet(*found)
                if found[1].limit == UNLIMITED and not self._has_unlimited:
                    self._has_unlimited = True
                    rule = "has no walltime, and its partition no limit: Slurm plans with a year, also for later jobs"
                    plan.warn(f"{found[0].id} {rule}")
        for job in self.submissions.take_newly_waiting():
            plan.hold(job, "Dependency", "condition")

    def _explain(self, view: View, plan: Plan) -> None:
        """Pass on the reasons for which jobs pend, and the starts that backfill plans."""
        jobs, reasons = self.enactment.jobs, self._reasons
        for job in self.controller.cluster.pending:
            if job.reason and reasons.get(job.key) != job.reason:
                reasons[job.key] = job.reason
                current = jobs[job.key]
                if current.id in view.queue:
                    plan.hold(current, job.reason, _kind(job.reason))
        last = self.controller.backfill.last
        if last is None or last.now < view.now - 1:
            return
        planned = {one.job: one.start for one in last.plan}
        for key in [key for key in self._promised if key not in planned]:
            del self._promised[key]
            if key in jobs:
                plan.withdraw_promise(jobs[key].id)
        for key, start in planned.items():
            job = self.submissions.by_key[key]
            if job.state == PENDING and self._promised.get(key) != start and jobs[key].id in view.queue:
                self._promised[key] = start
                plan.promise(jobs[key], Claim(start, start + job.limit * 60, jobs[key].size))

    def _gives_up(self, view: View, plan: Plan, *, is_changed: bool) -> bool:
        """Reject the jobs that pend although nothing runs and nothing will change, as Slurm never would."""
        cluster = self.controller.cluster
        are_left = bool(cluster.pending or self.submissions.has_waiting)
        if cluster.running or self._news or self.enactment.in_progress or not are_left:
            self._idle_since = None
            return False
        if is_changed or self._idle_since is None:
            self._idle_since = view.now
        if view.now < self.controller.stuck_at(self._idle_since):
            return False
        if view.all_submitted and not view.expects_requests and not view.unavailable:
            for job in list(self.submissions.waiting):
                self.submissions.forget(job.id)
                plan.reject(job, "depends on a job that was not submitted")
            for pending in list(cluster.pending):
                self.controller.cancel(pending, view.now)
                self.enactment.give_up(pending, plan)
        return True

    def _call(self, view: View, plan: Plan) -> None:
        """Request a call at the next instant at which something may be decided, unless there is an earlier call."""
        instants = [self.controller.next_decision()]
        if self._idle_since is not None:
            instants.append(self.controller.stuck_at(self._idle_since))
        if self._news:
            instants.append(self._news[0][0])
        if (start := self.enactment.next_start()) is not None:
            instants.append(start)
        following = min(instants)
        if following < math.inf and not any(view.now < call <= following for call in view.wakeups):
            plan.wake_at(max(following, math.nextafter(view.now, math.inf)))

    def _keep_registration(self, view: View, plan: Plan) -> None:
        """Finish registration once no job can be requeued. It may be reopened for Batsim 1, which announces no end."""
        if not view.config.dynamic_jobs:
            return
        cluster = self.controller.cluster
        needed = self._may_requeue and bool(cluster.pending or cluster.running or self.enactment.in_progress)
        is_batsim_1 = plan.dialect.name == "v1.4"
        all_came = view.all_submitted or is_batsim_1 or not self._may_requeue
        if view.registration_open and not needed and all_came:
            plan.finish_registration()
        elif needed and is_batsim_1 and not view.registration_open:
            plan.continue_registration()

    def cancel(self, job_id: str, view: View, plan: Plan) -> bool:
        """Cancel a job at the request of an external event, as `scancel` does."""
        job = view.job(job_id)
        if job is None:
            return False
        if self.submissions.forget(job_id):
            plan.reject(job, "it was cancelled")
            return True
        found = self.enactment.find(job_id)
        if found is None:
            found = next((one for one in self.controller.cluster.pending if self._is(one, job_id)), None)
        if found is None:
            return super().cancel(job_id, view, plan)  # it has just arrived
        self.enactment.enact(self.controller.cancel(found, view.now), self.submissions.by_key, plan)
        return True

    def _is(self, job: SlurmJob, job_id: str) -> bool:
        current = self.enactment.jobs.get(job.key)
        return current is not None and current.id == job_id

    def estimate_wait(self, job: Job, view: View, plan: Plan) -> float | None:
        """Return the seconds until the start that backfill has planned; None if it has planned none."""
        promise = plan.promises.get(job.id)
        if promise is None:
            return 0.0 if view.run(job.id) is not None else None
        return max(0.0, promise.start - view.now)


def _kind(reason: str) -> Literal["condition", "instant", "own"]:
    """Return the kind of a hold with this reason."""
    if reason.startswith("Dependency"):
        return "condition"
    return "instant" if reason == "BeginTime" else "own"


def _modes(configuration: SlurmConfiguration, qos: Iterable[Qos]) -> set[str]:
    """Return the modes of preemption that may be used."""
    if configuration.preempt == "none":
        return set()
    modes = {one.preempt_mode or configuration.preempt_mode for one in configuration.partitions}
    if configuration.preempt == "qos":
        modes |= {one.preempt_mode for one in qos if one.preempt_mode is not None}
    return modes


def _check_preemption(configuration: SlurmConfiguration, qos: Iterable[Qos], view: View, file: str) -> None:
    """Raise OptionError for a way of preemption that Batsim does not offer."""
    modes = _modes(configuration, qos)
    if "SUSPEND" in modes:
        raise OptionError(
            f"option conf: {file}: PreemptMode=SUSPEND: Batsim cannot suspend a job; use REQUEUE or CANCEL"
        )
    if "REQUEUE" in modes and not view.config.dynamic_jobs:
        raise OptionError(f"option conf: {file}: PreemptMode=REQUEUE {SUBMITS_AGAIN}")

"""The controller: it is given submissions, ends and commands with their instants, and returns decisions.

Time is explicit. `next_wake` is the next instant at which one of its threads has something to do, `advance` lets them
act up to an instant. The threads act at ticks of about a second from the controller's start; submissions and ends
only make a pass due.
"""

from __future__ import annotations

from collections.abc import Callable
from math import floor, inf
from typing import Final

from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.admission import JobAdmission
from batsched_py.slurm.backfill import BackfillScheduler
from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.commands import ClusterCommands
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.decisions import Decision
from batsched_py.slurm.dependencies import longest_delay
from batsched_py.slurm.jobs import SlurmJob
from batsched_py.slurm.main_scheduler import MainScheduler
from batsched_py.slurm.pass_outcome import PassOutcome
from batsched_py.slurm.phases import ControllerPhases, ThreadTicks
from batsched_py.slurm.preemption import JobPreemption
from batsched_py.slurm.submission import BatchRequest

#: The outcome of no pass.
_NONE: Final = PassOutcome(-1, -inf, False)
#: Seconds from the start of a controller until its first main pass.
_FIRST_PASS = 3.0


class SlurmController:
    """The scheduling of one cluster."""

    def __init__(
        self,
        configuration: SlurmConfiguration,
        accounts: Accounts | None = None,
        phases: ControllerPhases | None = None,
        *,
        keeps_passes: bool = False,
    ) -> None:
        self.cluster = ClusterState(configuration, accounts or Accounts())
        self._configuration, self._options = configuration, configuration.scheduler
        self._phases = phases = phases or ControllerPhases()
        self._admission, self._commands = JobAdmission(self.cluster), ClusterCommands(self.cluster)
        preemption = JobPreemption(self.cluster)
        self.main = MainScheduler(self.cluster, preemption)
        self.backfill = BackfillScheduler(self.cluster, preemption, phases.clock)
        self.cluster.requeue_delay, self.cluster.cancel_delay = phases.requeue, phases.cancel
        self._ticks = ThreadTicks(phases.started + phases.main[0], phases.main[1])
        self._backfill_ticks = ThreadTicks(phases.started + phases.backfill[0], phases.backfill[1])
        self._now = phases.started
        #: When the last pass of the main scheduler became due, when it ran, and whether one is postponed.
        self._due_at, self._ran_at, self._full_at = phases.started + _FIRST_PASS, -inf, phases.started
        self._postponed: bool | None = None
        #: The last pass of backfill; None before the first.
        self._backfilled_at: float | None = None
        self._sweeps = phases.sweeps
        self._priorities = ThreadTicks(
            phases.started + configuration.calc_period + phases.priority, configuration.calc_period
        )
        #: The next instant of each thread that acts at fixed ticks.
        self._next_sweep, self._next_priority = self._sweeps.first, self._priorities.first
        #: Nodes that `drain` was called with.
        self._drained = 0
        #: Outcomes of the last passes: of the main scheduler that see a part of the queue or all, and of backfill.
        self._main_outcomes = {False: _NONE, True: _NONE}
        self._backfill_outcome = _NONE
        #: The number of passes that may have decided something.
        self.pass_count = 0
        #: Passes that ran, if they are kept: instant and kind.
        self.passes: list[tuple[float, str]] = []
        self._keeps_passes = keeps_passes
        #: Seconds beyond which the next pass that may decide something is not searched for, pass by pass.
        self._far = 2 * (self._options.sched_interval + self._options.bf_interval) + 60

    def submit(self, request: BatchRequest, now: float) -> int:
        """Submit a job; return its id.

        Raises:
            SlurmRefusalError: the request is refused.
        """
        if not self.cluster.pending and not self.cluster.running:
            self._pass_idle_time(now)
        self._now = max(self._now, now)
        jobs = self._admission.admit(request, now)
        for job in jobs:
            self.cluster.priorities.set_first(job, now)
            if job.is_held:
                job.priority, job.reason = 0, "JobHeldUser"
        if len(jobs) > 1:
            for job in jobs:
                job.priority = jobs[0].priority
        self.cluster.add(jobs)
        self.cluster.mark_changed(now)
        self.cluster.is_pass_due = True
        return jobs[0].id

    def _pass_idle_time(self, now: float) -> None:
        """Account for the ticks of the threads while there was nothing to do."""
        while self._full_at + self._options.sched_interval <= now:
            self._full_at = self._due_at = self._ticks.at_or_after(self._full_at + self._options.sched_interval)
        self._next_sweep, self._next_priority = self._sweeps.at_or_after(now), self._priorities.at_or_after(now)

    def ended(self, key: str, now: float, is_ok: bool = True) -> None:
        """Note that a running job has ended by itself."""
        self.ended_job(next(job for job in self.cluster.running if job.key == key), now, is_ok)

    def ended_job(self, job: SlurmJob, now: float, is_ok: bool = True) -> None:
        """Note that a running job has ended by itself."""
        self._now = max(self._now, now)
        self.cluster.end(job, "COMPLETED" if is_ok else "FAILED", now, is_ok)

    def action(self, command: str, now: float) -> list[Decision]:
        """Run a command such as `scontrol hold 5`, and return its decisions.

        Raises:
            SlurmRefusalError: the command is refused.
        """
        self._now = max(self._now, now)
        try:
            self._commands.run(command, now)
        finally:
            self.cluster.note_command()
        return self._taken()

    def cancel(self, job: SlurmJob, now: float) -> list[Decision]:
        """Remove a pending job, or end a running one, as `scancel` does; return its decisions."""
        self._now = max(self._now, now)
        if job.ended is None:
            self.cluster.stop(job, "CANCELLED", now)
        return self._taken()

    def drain(self, nodes: int, now: float) -> None:
        """Let these nodes (bits), and those that commands have drained, take no jobs; those that run there go on."""
        if nodes != self._drained:
            self._now = max(self._now, now)
            self.cluster.unavailable = self.cluster.unavailable & ~self._drained | nodes
            self._drained = nodes
            self.cluster.note_change()
            self.cluster.mark_changed(now)
            self.cluster.is_pass_due = True

    def stuck_at(self, since: float) -> float:
        """Return the instant from which jobs that pend on an empty cluster do so for good.

        Until then all threads have had their turn after the last change by time: the begin or deadline of a job, the
        edge of a reservation, a delay after the start of another job. `since` is the last event.
        """
        options, instants = self._options, [since]
        for job in self.cluster.pending:
            instants += [instant for instant in (job.begin, job.deadline) if instant is not None]
            if job.request.switches is not None:
                instants.append((job.eligible or job.submitted) + self.cluster.switches_wait(job))
            instants.append(since + longest_delay(job))
        for one in self.cluster.reservations.all:
            instants += [one.start, one.end]
        turns = options.batch_sched_delay + 2 * (options.sched_interval + options.bf_interval)
        return max(instants) + turns + (self._configuration.calc_period if self._configuration.multifactor else 0)

    def _taken(self) -> list[Decision]:
        decisions, self.cluster.decisions = self.cluster.decisions, []
        return decisions

    def next_wake(self) -> float:
        """Return the next instant at which something may be decided; infinite if there are no jobs."""
        return self._first_thread(self._due_main(), self._due_backfill())[0]

    def next_decision(self) -> float:
        """Return an instant before which `advance` decides nothing, if no event comes; infinite if it never does.

        It is later than `next_wake` while no job pends, and as long as no job is over its limit: ticks that pass until
        then can be made up for.
        """
        sweep, cluster = self._next_limit(), self.cluster
        if not cluster.pending and not cluster.completing:
            return sweep
        instants = [sweep, self._next_change()]
        if cluster.priorities.may_change:
            instants.append(self._next_priority)
        if cluster.completing:
            instants.append(cluster.completing[0].complete_at or self._now)
        return min(instants)

    def _next_limit(self) -> float:
        """Return the next instant at which a job may be over its limit, or its time of grace."""
        cluster = self.cluster
        if not cluster.running:
            return inf
        first = cluster.first_end() + self._configuration.over_time_limit * 60
        if self._configuration.preempt != "none":
            first = min([first, *(one.grace_until for one in cluster.running if one.grace_until is not None)])
        return self._sweeps.at_or_after(max(self._next_sweep, first))

    def _next_change(self) -> float:
        """Return an instant before which no pass decides anything, although passes may be due.

        It is that of a pass, or far from the next one, which may decide something.
        """
        main, outcomes, version = self._next_main(), self._main_outcomes.values(), self.cluster.version
        backfill = self._due_backfill()
        if self._postponed is not None or not all(one.holds(version, main) for one in outcomes):
            last = self._backfill_outcome
            if not last.holds(version, backfill):
                return min(main, backfill)
            # Passes of backfill may be due several times before the main scheduler.
            return main if last.holds(version, main) else self._first_change(self._now)
        until = min(one.until for one in outcomes)
        if self._configuration.backfill:
            until = min(until, self._backfill_outcome.until if self._backfill_outcome.version == version else self._now)
        if until - self._now > self._far:
            return until - self._far / 2
        return self._first_change(until)

    def _first_change(self, until: float) -> float:
        """Return the instant of the first pass, at or after an instant, that may decide something."""
        cluster = self.cluster
        phases = self._now, self._full_at, self._due_at, self._ran_at, self._backfilled_at, self._backfill_ticks
        is_due, changed_at = cluster.is_pass_due, cluster.changed_at
        found = min(self._skip(max(until, self._now) + self._far, is_open=False, is_noted=False))
        self._now, self._full_at, self._due_at, self._ran_at, self._backfilled_at, self._backfill_ticks = phases
        cluster.is_pass_due, cluster.changed_at = is_due, changed_at
        return found

    def advance(self, to: float, *, is_open: bool = False) -> list[Decision]:
        """Let all threads act up to an instant, or to just before it; return their decisions in order."""
        while True:
            at, act = self._first_thread(*self._skip(to, is_open=is_open))
            if at > to or (is_open and at == to):
                break
            self._now = at
            act(at)
        self._now = max(self._now, to)
        return self._taken()

    def _skip(self, to: float, *, is_open: bool, is_noted: bool = True) -> tuple[float, float]:
        """Account for passes that decide nothing, as those before them, up to an instant or the next other one.

        Return the instants of the next passes: of the main scheduler and of backfill.
        """
        cluster, main, backfill = self.cluster, self._due_main(), self._due_backfill()
        limit = priority = -inf  # not known yet
        while self._postponed is None and not cluster.completing:
            at = min(main, backfill)
            if at > to or (is_open and at == to):
                break
            if limit == -inf:
                limit = self._next_limit()
                priority = self._next_priority if self._configuration.multifactor else inf
            # At the instant of a recalculation of priorities, the main scheduler is before it.
            if at >= limit or at > priority or (at == priority and backfill < main):
                break
            if main <= backfill:
                is_full = at >= self._full_at + self._options.sched_interval
                outcome, kind = self._main_outcomes[is_full], "main-full" if is_full else "main"
                is_soon = at < self._ran_at + self._options.sched_min_interval / 1e6
                if is_soon or not outcome.holds(cluster.version, at):
                    break
                self._begin_main(at)
                self._now = at
                main = self._due_main()
            else:
                outcome, kind = self._backfill_outcome, "backfill"
                if not outcome.holds(cluster.version, at):
                    break
                self._now = at
                self._end_backfill(at)
            if outcome.is_change:
                cluster.mark_changed(at)
            backfill = self._due_backfill()
            if is_noted:
                self._note_pass(at, kind)
        return main, backfill

    def _first_thread(self, main: float, backfill: float) -> tuple[float, Callable[[float], None]]:
        """Return the next instant of a thread, the one that acts then, and the first of several.

        The instants of the passes are known.
        """
        cluster = self.cluster
        first, act = inf, self._sweep
        if cluster.queue.pending or cluster.running:
            first = self._next_limit()
        if main < first:
            first, act = main, self._run_main
        if (
            self._configuration.multifactor
            and self._next_priority < first
            and (cluster.queue.pending or cluster.running)
        ):
            first, act = self._next_priority, self._recalculate
        if cluster.completing and (at := cluster.completing[0].complete_at or self._now) < first:
            first, act = at, self._complete
        return (backfill, self._run_backfill) if backfill < first else (first, act)

    def _due_main(self) -> float:
        """Return the next instant of a pass of the main scheduler; infinite if there is nothing to do."""
        cluster = self.cluster
        return self._next_main() if cluster.queue.pending or cluster.running or cluster.is_pass_due else inf

    def _next_main(self) -> float:
        if self._postponed is not None:
            return self._ticks.at_or_after(max(self._now, self._ran_at + self._options.sched_min_interval / 1e6))
        due = self._full_at + self._options.sched_interval
        if self.cluster.is_pass_due:
            due = min(due, self._due_at + self._options.batch_sched_delay)
        return self._ticks.at_or_after(max(due, self._now))

    def _begin_main(self, now: float) -> bool:
        """Note a pass of the main scheduler, which may be postponed; return whether it sees all jobs."""
        is_full = now >= self._full_at + self._options.sched_interval
        self._due_at = now
        if is_full:
            self._full_at = now
        self.cluster.is_pass_due = False
        if now < self._ran_at + self._options.sched_min_interval / 1e6:
            self._postponed = is_full
        else:
            self._ran_at = now
        return is_full

    def _note_pass(self, now: float, kind: str) -> None:
        if self._keeps_passes:
            self.passes.append((now, kind))

    def _run_main(self, now: float) -> None:
        if self._postponed is None:
            is_full = self._begin_main(now)
            if self._postponed is not None:
                return
        else:
            is_full, self._postponed = self._postponed, None
        self._ran_at = now
        self.cluster.reservations.remove_ended(now)
        self._run_main_now(now, is_full)

    def _run_main_now(self, now: float, is_full: bool) -> None:
        self._note_pass(now, "main-full" if is_full else "main")
        self.pass_count += 1
        outcome = self.main.run(now, is_full)
        self._main_outcomes[is_full] = outcome
        if self.main.sees_all:
            self._main_outcomes[not is_full] = outcome

    def _complete(self, now: float) -> None:
        """Free the nodes of preempted jobs; a pass of the main scheduler follows at once."""
        self.cluster.complete(now)
        self._run_main_now(now, False)

    def _due_backfill(self) -> float:
        """Return the next instant of a pass of backfill; infinite if nothing has changed."""
        if not self._configuration.backfill:
            return inf
        interval = self._options.bf_interval
        if self._backfilled_at is None:
            return self._backfill_ticks.at_or_after(max(self._phases.started + interval, self._now))
        if self.cluster.changed_at < floor(self._backfilled_at):
            return inf
        return self._backfill_ticks.at_or_after(max(self._backfilled_at + interval, self._now))

    def _run_backfill(self, now: float) -> None:
        self._backfilled_at = now
        self.cluster.reservations.remove_ended(now)
        self._note_pass(now, "backfill")
        self.pass_count += 1
        self._backfill_outcome = self.backfill.run(now)
        self._end_backfill(now)

    def _end_backfill(self, now: float) -> None:
        """Note a pass of backfill: its thread waits from the end of the pass, so that later ticks are later."""
        self._backfilled_at = now
        if self._phases.test and self.backfill.last is not None:
            self._backfill_ticks = self._backfill_ticks.later(len(self.backfill.last.tested) * self._phases.test)

    def _sweep(self, now: float) -> None:
        """End the jobs that are over their limit or the time of grace."""
        self._next_sweep = self._sweeps.at_or_after(now + 1)
        over = self._configuration.over_time_limit * 60
        for job in list(self.cluster.running):
            if job in self.cluster.completing:
                continue
            if job.suspended_since is None and now > job.limit_end + over:
                self.cluster.stop(job, "TIMEOUT", now)
            elif job.grace_until is not None and now > job.grace_until:
                self.cluster.preempt(job, False, now)

    def _recalculate(self, now: float) -> None:
        self._next_priority = self._priorities.at_or_after(now + 1)
        cluster = self.cluster
        is_new = cluster.priorities.recalculate(cluster.pending, cluster.running, now)
        if is_new and (cluster.queue.reorder() or self._options.bf_min_prio_reserve):
            cluster.version += 1

"""The controller: it is given submissions, ends and commands with their instants, and returns decisions.

Time is explicit. `next_wake` is the next instant at which one of its threads has something to do, `advance` lets them
act up to an instant. The threads act at ticks of about a second from the controller's start; submissions and ends
only make a pass due.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, inf

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
from batsched_py.slurm.preemption import JobPreemption
from batsched_py.slurm.submission import BatchRequest

#: Seconds from the start of a controller until its first main pass.
_FIRST_PASS = 3.0


@dataclass(frozen=True, slots=True)
class ThreadTicks:
    """Instants at which a thread acts: `first`, and then each `period` seconds; at any instant if the period is 0."""

    first: float
    period: float

    def at_or_after(self, instant: float) -> float:
        """Return the first tick that is not before an instant."""
        if not self.period:
            return max(self.first, instant)
        return self.first + max(0, ceil((instant - self.first) / self.period - 1e-9)) * self.period


@dataclass(frozen=True, slots=True)
class ControllerPhases:
    """Phases of the controller's clock and threads, in seconds since time zero.

    Attributes:
        clock: absolute second of time zero, at least modulo an hour: the grid of backfill depends on it.
        started: start of the controller.
        main, backfill: delay of the first tick of these threads after the start, and their period.
        requeue, cancel: time from the preemption of a job until its nodes are free.
        sweep, priority: delay of the checks of limits and of the recalculation of priorities.
    """

    clock: int = 0
    started: float = 0.0
    main: tuple[float, float] = (0.0, 1.0)
    backfill: tuple[float, float] = (0.0, 1.0)
    requeue: float = 0.0
    cancel: float = 0.0
    sweep: float = 0.0
    priority: float = 0.0


class SlurmController:
    """The scheduling of one cluster."""

    def __init__(
        self,
        configuration: SlurmConfiguration,
        accounts: Accounts | None = None,
        phases: ControllerPhases | None = None,
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
        self._sweeps = ThreadTicks(phases.started + 30 + phases.sweep, 30)
        self._priorities = ThreadTicks(
            phases.started + configuration.calc_period + phases.priority, configuration.calc_period
        )
        #: The next instant of each thread that acts at fixed ticks.
        self._next_sweep, self._next_priority = self._sweeps.first, self._priorities.first
        #: Nodes that `drain` was called with.
        self._drained = 0
        #: Passes that ran: instant and kind.
        self.passes: list[tuple[float, str]] = []

    def submit(self, request: BatchRequest, now: float) -> int:
        """Submit a job; return its id.

        Raises:
            SlurmRefusalError: the request is refused.
        """
        if not self.cluster.pending and not self.cluster.running:
            self._pass_idle_time(now)
        self._now = max(self._now, now)
        jobs = self._admission.admit(request, now)
        self.cluster.jobs[jobs[0].id] = jobs
        for job in jobs:
            self.cluster.priorities.set_first(job, now)
            if job.is_held:
                job.priority, job.reason = 0, "JobHeldUser"
            self.cluster.pending.append(job)
        if len(jobs) > 1:
            for job in jobs:
                job.priority = jobs[0].priority
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
        self._now = max(self._now, now)
        self.cluster.end(self._running(key), "COMPLETED" if is_ok else "FAILED", now, is_ok)

    def action(self, command: str, now: float) -> list[Decision]:
        """Run a command such as `scontrol hold 5`, and return its decisions.

        Raises:
            SlurmRefusalError: the command is refused.
        """
        self._now = max(self._now, now)
        self._commands.run(command, now)
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

    def _running(self, key: str) -> SlurmJob:
        return next(job for job in self.cluster.running if job.key == key)

    def _taken(self) -> list[Decision]:
        decisions, self.cluster.decisions = self.cluster.decisions, []
        return decisions

    def next_wake(self) -> float:
        """Return the next instant at which something may be decided; infinite if there are no jobs."""
        return min(at for at, _ in self._threads())

    def next_decision(self) -> float:
        """Return an instant before which `advance` decides nothing, if no event comes; infinite if it never does.

        It is later than `next_wake` while no job pends, and as long as no job is over its limit: ticks that pass until
        then can be made up for.
        """
        cluster, over = self.cluster, self._configuration.over_time_limit * 60
        limits = [one.grace_until or one.limit_end + over for one in cluster.running]
        sweep = self._sweeps.at_or_after(max(self._next_sweep, min(limits))) if limits else inf
        if not cluster.pending and not cluster.completing:
            return sweep
        return min(sweep, *(at for at, act in self._threads() if act != self._sweep))

    def advance(self, to: float) -> list[Decision]:
        """Let all threads act up to an instant; return their decisions in order."""
        while True:
            at, act = min(self._threads(), key=lambda thread: thread[0])
            if at > to:
                break
            self._now = at
            act(at)
        self._now = max(self._now, to)
        return self._taken()

    def _threads(self) -> list[tuple[float, Callable[[float], None]]]:
        is_busy = bool(self.cluster.pending or self.cluster.running)
        threads: list[tuple[float, Callable[[float], None]]] = [
            (self._next_sweep if is_busy else inf, self._sweep),
            (self._next_main() if is_busy or self.cluster.is_pass_due else inf, self._run_main),
        ]
        if self._configuration.multifactor and is_busy:
            threads.append((self._next_priority, self._recalculate))
        if self.cluster.completing:
            threads.append((self.cluster.completing[0].complete_at or self._now, self._complete))
        if self._configuration.backfill:
            threads.append((self._next_backfill(), self._run_backfill))
        return threads

    def _next_main(self) -> float:
        if self._postponed is not None:
            return self._ticks.at_or_after(max(self._now, self._ran_at + self._options.sched_min_interval / 1e6))
        due = self._full_at + self._options.sched_interval
        if self.cluster.is_pass_due:
            due = min(due, self._due_at + self._options.batch_sched_delay)
        return self._ticks.at_or_after(max(due, self._now))

    def _run_main(self, now: float) -> None:
        if self._postponed is None:
            is_full = now >= self._full_at + self._options.sched_interval
            self._due_at = now
            if is_full:
                self._full_at = now
            self.cluster.is_pass_due = False
            if now < self._ran_at + self._options.sched_min_interval / 1e6:
                self._postponed = is_full
                return
        else:
            is_full, self._postponed = self._postponed, None
        self._ran_at = now
        self.cluster.reservations.remove_ended(now)
        self.passes.append((now, "main-full" if is_full else "main"))
        self.main.run(now, is_full)

    def _complete(self, now: float) -> None:
        """Free the nodes of preempted jobs; a pass of the main scheduler follows at once."""
        self.cluster.complete(now)
        self.passes.append((now, "main"))
        self.main.run(now, is_full=False)

    def _next_backfill(self) -> float:
        interval = self._options.bf_interval
        if self._backfilled_at is None:
            return self._backfill_ticks.at_or_after(max(self._phases.started + interval, self._now))
        after = self._backfilled_at + interval
        if self.cluster.changed_at < floor(self._backfilled_at):
            return inf
        return self._backfill_ticks.at_or_after(max(after, self._now))

    def _run_backfill(self, now: float) -> None:
        self._backfilled_at = now
        self.cluster.reservations.remove_ended(now)
        self.passes.append((now, "backfill"))
        self.backfill.run(now)

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
        self.cluster.priorities.recalculate(self.cluster.pending, self.cluster.running, now)

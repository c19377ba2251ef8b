"""Preemption: best-effort jobs that are killed for reservations, and submitted again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TypeVar

from batsched_py.hostset import HostSet
from batsched_py.leases.restarts import Restarts
from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import read_terms
from batsched_py.planning.future.reservations import Reservations
from batsched_py.protocol.events import Event
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.running import Running
from batsched_py.text.wording import counted, extent, seconds

Work = TypeVar("Work")
#: Hosts, and the jobs that must be stopped for them.
Room = tuple[HostSet, list[Job]]
#: Returns the first hosts for a job among these; None if they are not enough.
FirstHosts = Callable[[HostSet], HostSet | None]


class Preemption:
    """The choice and the restart of preempted jobs, and the expected ends of running jobs.

    A preemptible job is expected to end when the first reservation on its hosts begins. `foresee` enters these ends
    into the availability, which all plans for the future use.
    """

    def __init__(
        self,
        view: View,
        book: Reservations,
        *,
        wanted: bool = True,
        oldest_first: bool = False,
        margin: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        """Begin without preempted jobs.

        Args:
            view: the state of the run.
            book: the reservations for which jobs are stopped.
            wanted: False to disable preemption; it also needs Batsim's dynamic submission of jobs.
            oldest_first: True to stop the job that started first; by default the one that started last.
            margin: seconds before a reservation at which jobs are stopped for it.
            tolerance: the largest delay of events from Batsim, in seconds.
        """
        self._view, self._book = view, book
        self._oldest_first, self._margin, self._tolerance = oldest_first, margin, tolerance
        #: True if preemption is enabled.
        self.active = wanted and view.config.dynamic_jobs
        self._warned = self.active or not wanted
        self._restarts = Restarts()
        #: The segments of preempted jobs.
        self.segments = self._restarts.segments
        #: Id of a running job -> its last expected end, if other than the end of its walltime.
        self._foreseen: dict[str, float] = {}
        #: Id of a running job -> the end of its reservation; the job may have started slightly late.
        self._ends: dict[str, float] = {}

    @property
    def to_repeat(self) -> bool:
        """True if a preempted job can be submitted again now."""
        return self._restarts.to_repeat

    @property
    def in_progress(self) -> bool:
        """True if a preempted job has not been submitted again."""
        return self._restarts.in_progress

    def observe(self, event: Event) -> None:
        """Record ends and kills of jobs; call it for all events. A job that ended before its kill is not repeated."""
        for job_id in self._restarts.observe(event):
            self._foreseen.pop(job_id, None)
            self._ends.pop(job_id, None)

    def warn_once(self, plan: Plan) -> None:
        """Warn the user, once, if preemption is wanted but not possible."""
        if not self._warned:
            self._warned = True
            plan.warn("no job is preempted: to submit it again needs Batsim's option --enable-dynamic-jobs")

    def find_room(self, job: Job, start: float) -> Room | str:
        """Return hosts for [start, start + walltime), the lowest free ones first, and the jobs to stop for them.

        If there are too few hosts even with preemption, return the reason.
        """
        begin = max(start, self._view.now)
        end = begin + job.limit
        future = self._view.availability()
        free = future.free_during(begin, end) - HostSet(future.down)  # the return of a down host is not certain
        hosts = self.first_hosts(job, free)
        if hosts is not None:
            return hosts, []
        usable = self._view.all_hosts - self._book.held(begin, end) - HostSet(future.down)
        leaving = usable & self._leaving() if begin <= self._view.now else HostSet()
        stoppable = self._stoppable(begin)
        offered = [(run.job, run.hosts & usable) for run in stoppable]
        if job.demand is None and not self._view.part:
            room = choose_victims(job.size, free | leaving, offered)
        else:
            running, first = self._view.running, partial(self.first_hosts, job)
            room = choose_among_sharing(first, free | leaving, stoppable, running, usable)
        if room is None:
            taken = sum(len(hosts) for _, hosts in offered)
            more = f", {taken} more could be taken from best-effort jobs" if taken else ""
            stays = next((run.job for run in self._view.running if self._is_stuck(run, begin)), None)
            if stays is not None:
                more += f"; {stays.id} is not stopped: it cannot be submitted again"
            there = counted(len(free), "is free", "are free")
            size = extent(job.size, tasks=job.demand is not None)
            needed = size if job.demand is None else f"hosts for {size}"
            return f"it needs {needed} in [{seconds(start)}, {seconds(end)}), {there}{more}"
        return room

    def first_hosts(self, job: Job, hosts: HostSet) -> HostSet | None:
        """Return the lowest of these hosts, as many as a job needs if no other job uses them; None for too few."""
        if job.demand is None:
            return hosts.first(job.size)
        return self._view.later_hosts(job, hosts, self._view.packer("first_fit"), self._view.running)

    def in_the_way(self, hosts: HostSet, begin: float) -> list[Job]:
        """Return the preemptible jobs that would still run on these hosts at `begin`, in the order to stop them."""
        return [run.job for run in self._stoppable(begin) if not run.hosts.isdisjoint(hosts)]

    def stop(self, victims: Sequence[Job], plan: Plan) -> None:
        """Kill jobs that `find_room` or `in_the_way` returned; they are submitted again later."""
        self._restarts.stop(victims, self._view, plan)

    def repeat(self, plan: Plan) -> None:
        """Submit killed jobs again."""
        self._restarts.repeat(self._view, plan)

    def will_end(self, job: Job, end: float) -> None:
        """Set the expected end of a job that is started now to that of its reservation, even if it starts late."""
        self._ends[job.id] = end

    def foresee(self) -> None:
        """Update the expected ends of running jobs in the availability; call it after each change of the book."""
        for run in self._view.running:
            expected = self._expected_end(run)
            if expected != self._foreseen.get(run.job.id, run.end):
                self._foreseen[run.job.id] = expected
                if run.places:
                    self._view.availability().predict_tasks(run.job.id, expected)
                else:
                    self._view.availability().predict(run.hosts, expected)

    def _expected_end(self, run: Running) -> float:
        if run.killed:
            return self._view.now
        first = next(self._book.touching(run.hosts, self._view.now, run.end), None) if self.active else None
        if first is not None and self._preemptible(run.job):
            return max(self._view.now, first.slot.start - self._margin)
        return self._ends.get(run.job.id, run.end)

    def _stoppable(self, begin: float) -> list[Running]:
        """Return the preemptible running jobs that would still run at `begin`, in the order to stop them."""
        if not self.active:
            return []
        found = [run for run in self._view.running if run.end > begin and not run.killed and self._preemptible(run.job)]
        oldest_first = sorted(found, key=lambda run: run.start)
        return oldest_first if self._oldest_first else oldest_first[::-1]

    def _preemptible(self, job: Job) -> bool:
        return _may_be_stopped(job) and self.segments.repeatable(job, self._view) is not None

    def _is_stuck(self, run: Running, begin: float) -> bool:
        """Return whether a conflicting job is not preempted only because it cannot be submitted again."""
        may = self.active and run.end > begin and not run.killed and _may_be_stopped(run.job)
        return may and self.segments.repeatable(run.job, self._view) is None

    def _leaving(self) -> HostSet:
        """Return the hosts of jobs that are about to end: killed ones, and those past their walltime."""
        leaving = staying = 0
        for run in self._view.running:
            end = self._ends.get(run.job.id, run.end)
            if run.killed or self._view.due(end, self._tolerance):
                leaving |= run.hosts.bits
            else:
                staying |= run.hosts.bits
        return HostSet(leaving & ~staying)


def _may_be_stopped(job: Job) -> bool:
    terms = read_terms(job)
    return terms.kind is LeaseKind.BEST_EFFORT and terms.preemptible


def choose_victims(
    size: int, free: HostSet, candidates: Sequence[tuple[Work, HostSet]]
) -> tuple[HostSet, list[Work]] | None:
    """Return `size` hosts and the candidates to stop for them; None if all candidates are not enough.

    Free hosts are used first. Then candidates are added in order (each with the hosts that it would free) until there
    are enough hosts; finally those that turn out to be unnecessary are dropped.
    """
    gained, chosen = free, list[tuple[Work, HostSet]]()
    for work, hosts in candidates:
        if len(gained) >= size:
            break
        if hosts - gained:
            chosen.append((work, hosts - gained))
            gained |= hosts
    if len(gained) < size:
        return None
    for each in reversed(chosen):
        if len(gained - each[1]) >= size:
            gained -= each[1]
            chosen.remove(each)
    taken = free.first(min(size, len(free))) or HostSet()
    more = (gained - free).first(size - len(taken)) or HostSet()
    return taken | more, [work for work, _ in chosen]


def choose_among_sharing(
    first: FirstHosts, free: HostSet, candidates: Sequence[Running], running: Collection[Running], usable: HostSet
) -> Room | None:
    """Return hosts as `first` takes them, and the jobs to stop for them, where jobs share hosts; None for too few.

    As `choose_victims`, but a host is only gained when all jobs on it are stopped.
    """

    def gained(chosen: Sequence[Running]) -> HostSet:
        ids = {run.job.id for run in chosen}
        freed = staying = 0
        for run in running:
            if run.job.id in ids:
                freed |= run.hosts.bits
            else:
                staying |= run.hosts.bits
        return free | (HostSet(freed & ~staying) & usable)

    chosen = list[Running]()
    for run in candidates:
        if first(gained(chosen)) is not None:
            break
        if run.hosts & usable:
            chosen.append(run)
    for run in reversed(chosen):
        others = [one for one in chosen if one is not run]
        if first(gained(others)) is not None:
            chosen = others
    hosts = first(gained(chosen))
    if hosts is None:
        return None
    return hosts, [run.job for run in chosen if run.hosts & hosts]

"""Preemption: best-effort jobs that are killed for the sake of reservations, and begin again later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from batsched_py.hostset import HostSet
from batsched_py.leases.restarts import Restarts
from batsched_py.leases.terms import Kind, read_terms
from batsched_py.model.job import Job
from batsched_py.planning.future.reservations import Reservations
from batsched_py.protocol.events import Event
from batsched_py.scheduling.plan import Plan
from batsched_py.scheduling.view import View
from batsched_py.state.running import Running
from batsched_py.text.wording import counted, seconds

Work = TypeVar("Work")
#: Hosts, and the jobs that must be stopped for them.
Room = tuple[HostSet, list[Job]]


class Preemption:
    """The victims of reservations: jobs that may be stopped, jobs that were and begin again, and expected ends.

    Reservations come from the book; a job that may be stopped is expected to end when the first reservation on its
    hosts begins. `foresee` puts these ends into the availability, so that all questions about the future heed them.
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
        """Begin with nobody stopped.

        Args:
            view: of the run.
            book: the reservations for which jobs are stopped.
            wanted: False if nobody is to be stopped. Nor is anybody if Batsim does not let jobs be submitted again.
            oldest_first: the job that started first is stopped first; otherwise the one that started last.
            margin: seconds before a reservation at which jobs are stopped for it.
            tolerance: seconds by which Batsim's news may be late.
        """
        self._view, self._book = view, book
        self._oldest_first, self._margin, self._tolerance = oldest_first, margin, tolerance
        #: Jobs are stopped at all.
        self.active = wanted and view.config.dynamic_jobs
        self._warned = self.active or not wanted
        self._restarts = Restarts()
        #: Later parts of jobs that were stopped, and the jobs themselves.
        self.segments = self._restarts.segments
        #: Job id -> when a running job was last expected to end, if that is not when its walltime is over.
        self._foreseen: dict[str, float] = {}
        #: Job id -> the end of the reservation of a job that runs, which may have started a hair late.
        self._ends: dict[str, float] = {}

    @property
    def to_repeat(self) -> bool:
        """True if a job was stopped that has not been submitted again, and can be now."""
        return self._restarts.to_repeat

    @property
    def in_progress(self) -> bool:
        """True if a job was stopped that has not been submitted again."""
        return self._restarts.in_progress

    def observe(self, event: Event) -> None:
        """Note who was killed and begins again, unless it ended by itself just before. To be called for all events."""
        for job_id in self._restarts.observe(event):
            self._foreseen.pop(job_id, None)
            self._ends.pop(job_id, None)

    def warn_once(self, plan: Plan) -> None:
        """Tell the user if jobs should be stopped and cannot be."""
        if not self._warned:
            self._warned = True
            plan.warn("no job is preempted: to submit it again needs Batsim's option --enable-dynamic-jobs")

    def find_room(self, job: Job, start: float) -> Room | str:
        """Return hosts for [start, start + walltime), the lowest free ones first, and who must be stopped for them.

        The reason if there are too few, whoever is stopped.
        """
        begin = max(start, self._view.now)
        end = begin + job.limit
        future = self._view.availability()
        free = future.free_during(begin, end) - HostSet(future.down)  # that a host will be back is no more than likely
        hosts = free.first(job.size)
        if hosts is not None:
            return hosts, []
        usable = self._view.all_hosts - self._book.held(begin, end) - HostSet(future.down)
        leaving = usable & self._leaving() if begin <= self._view.now else HostSet()
        offered = [(run.job, run.hosts & usable) for run in self._stoppable(begin)]
        room = choose_victims(job.size, free | leaving, offered)
        if room is None:
            taken = sum(len(hosts) for _, hosts in offered)
            more = f", {taken} more could be taken from best-effort jobs" if taken else ""
            stays = next((run.job for run in self._view.running if self._is_stuck(run, begin)), None)
            if stays is not None:
                more += f"; {stays.id} is not stopped: it cannot be submitted again"
            there = counted(len(free), "is free", "are free")
            return f"it needs {counted(job.size, 'host')} in [{seconds(start)}, {seconds(end)}), {there}{more}"
        return room

    def in_the_way(self, hosts: HostSet, begin: float) -> list[Job]:
        """Return jobs that may be stopped and would still run there at `begin`, the first to stop first."""
        return [run.job for run in self._stoppable(begin) if not run.hosts.isdisjoint(hosts)]

    def stop(self, victims: Sequence[Job], plan: Plan) -> None:
        """Kill jobs that `find_room` or `in_the_way` named, to begin again."""
        self._restarts.stop(victims, self._view, plan)

    def repeat(self, plan: Plan) -> None:
        """Submit again those that were killed."""
        self._restarts.repeat(self._view, plan)

    def will_end(self, job: Job, end: float) -> None:
        """Expect a job that is started now to end with its reservation, at `end`, however late Batsim starts it."""
        self._ends[job.id] = end

    def foresee(self) -> None:
        """Tell the availability when jobs that run will end, if it does not know; after each change of the book."""
        for run in self._view.running:
            expected = self._expected_end(run)
            if expected != self._foreseen.get(run.job.id, run.end):
                self._foreseen[run.job.id] = expected
                self._view.availability().predict(run.hosts, expected)

    def _expected_end(self, run: Running) -> float:
        if run.killed:
            return self._view.now
        first = next(self._book.touching(run.hosts, self._view.now, run.end), None) if self.active else None
        if first is not None and self._preemptible(run.job):
            return max(self._view.now, first.slot.start - self._margin)
        return self._ends.get(run.job.id, run.end)

    def _stoppable(self, begin: float) -> list[Running]:
        """Return jobs that run, would still run at `begin` and may be stopped, the first to stop first."""
        if not self.active:
            return []
        found = [run for run in self._view.running if run.end > begin and not run.killed and self._preemptible(run.job)]
        oldest_first = sorted(found, key=lambda run: run.start)
        return oldest_first if self._oldest_first else oldest_first[::-1]

    def _preemptible(self, job: Job) -> bool:
        return _may_be_stopped(job) and self.segments.repeatable(job, self._view) is not None

    def _is_stuck(self, run: Running, begin: float) -> bool:
        """Return whether a job is in the way that could be stopped, if it could begin again."""
        may = self.active and run.end > begin and not run.killed and _may_be_stopped(run.job)
        return may and self.segments.repeatable(run.job, self._view) is None

    def _leaving(self) -> HostSet:
        """Return hosts whose work is about to end: it was killed, or its walltime is over."""
        bits = 0
        for run in self._view.running:
            end = self._ends.get(run.job.id, run.end)
            if run.killed or self._view.due(end, self._tolerance):
                bits |= run.hosts.bits
        return HostSet(bits)


def _may_be_stopped(job: Job) -> bool:
    terms = read_terms(job)
    return terms.kind is Kind.BEST_EFFORT and terms.preemptible


def choose_victims(
    size: int, free: HostSet, candidates: Sequence[tuple[Work, HostSet]]
) -> tuple[HostSet, list[Work]] | None:
    """Return `size` hosts and the work to stop for them, None if even all of it is not enough.

    Free hosts are taken first. Then work is stopped in the order of `candidates` (each with the hosts that it would
    leave), until there are enough hosts; work that turns out not to be needed is left alone.
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

"""The backfill scheduler: it starts jobs out of order if this delays no job before them.

A pass tests jobs in order. A job that can start now on nodes that nothing before it has reserved starts; for others the
earliest start is found, and the nodes are reserved from then on. Reservations are kept on the absolute grid of
bf_resolution and forgotten after the pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import floor, inf

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.configuration import SlurmPartition
from batsched_py.slurm.forecast import EndForecast, JobEnds, JobForecast
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.slurm.pass_outcome import PassOutcome
from batsched_py.slurm.plan_table import PlannedStart, PlanTable
from batsched_py.slurm.preemption import JobPreemption
from batsched_py.slurm.queue import Candidate


@dataclass(slots=True)
class BackfillPass:
    """The tested jobs, the planned starts and the number of started jobs of one pass."""

    now: float
    tested: list[str] = field(default_factory=list)
    plan: list[PlannedStart] = field(default_factory=list)
    by_user: Counter[str] = field(default_factory=Counter)
    by_partition: Counter[str] = field(default_factory=Counter)
    reserved_in: Counter[str] = field(default_factory=Counter)
    started: int = 0
    is_over: bool = False
    table: PlanTable = field(default_factory=PlanTable)
    #: Instant until which a pass decides the same if nothing but time passes; and whether it found more to do.
    until: float = inf
    is_again_due: bool = False

    def add(self, planned: PlannedStart) -> None:
        """Add a planned start."""
        self.plan.append(planned)
        self.table.add(planned)

    def holds_before(self, *instants: float) -> None:
        """Note instants from which the pass may decide otherwise; those that are over do not count."""
        for instant in instants:
            if self.now < instant < self.until:
                self.until = instant


class BackfillScheduler:
    """Passes of the backfill scheduler; `clock` is the absolute second of time zero."""

    def __init__(self, cluster: ClusterState, preemption: JobPreemption, clock: int) -> None:
        self._cluster, self._preemption, self._clock = cluster, preemption, clock
        self._options = cluster.configuration.scheduler
        self.last: BackfillPass | None = None
        self._forecast: EndForecast | None = None

    def run(self, now: float) -> PassOutcome:
        """Run a pass; return whether it would be the same again."""
        cluster, version = self._cluster, self._cluster.version
        self.last = here = BackfillPass(now)
        for candidate in cluster.candidates(now):
            if here.is_over:
                break
            if candidate.job.state == PENDING and self._is_tested(here, candidate):
                self._try(here, candidate)
        self._forecast = None
        here.holds_before(cluster.first_end() - 1, *(edge for one in here.plan for edge in self._limits(one)))
        is_clear = cluster.first_end() - 1 > now and cluster.version == version and cluster.is_timeless
        return PassOutcome(
            version, min(here.until, cluster.queue.next_instant()) if is_clear else -inf, here.is_again_due
        )

    def _limits(self, one: PlannedStart) -> tuple[float, ...]:
        """Return the instants from which a planned start is seen otherwise: at edges, and as they come into view."""
        window = self._options.bf_window * 60
        return one.begin, one.end, one.begin - window, one.end - window

    def _is_tested(self, here: BackfillPass, candidate: Candidate) -> bool:
        options, cluster = self._options, self._cluster
        job, partition = candidate.job, candidate.partition
        if len(here.tested) >= options.bf_max_job_test:
            here.is_over = True
            return False
        here.tested.append(job.key)
        if cluster.limits.partition_reason(job, partition) or cluster.waits_for_array(job):
            return False
        if cluster.limits.reason(job):
            return False
        user = job.request.user
        if options.bf_max_job_user and here.by_user[user] >= options.bf_max_job_user:
            return False
        if options.bf_max_job_part and here.by_partition[partition.name] >= options.bf_max_job_part:
            return False
        here.by_user[user] += 1
        here.by_partition[partition.name] += 1
        return True

    def _try(self, here: BackfillPass, candidate: Candidate) -> None:
        """Start the job, or reserve its earliest start; each further try is from the next edge of the table."""
        job, partition = candidate.job, candidate.partition
        job.partition = partition
        now, seconds = floor(here.now), (job.request.time_min or job.limit) * 60
        after, may_reserve = float(now), self._may_reserve(here, job, partition)
        here.holds_before(here.table.next_begin(now + seconds) - seconds)
        if self._preemption.is_possible and self._preempts(here, candidate, now, now + seconds):
            return
        ends, last = self._ends(job), here.now + self._options.bf_window * 60
        # Where only this table changes which nodes there are, edges before the first end of what is reserved leave a
        # job no more nodes: it starts there no earlier.
        is_jumping = ends.is_simple and not self._cluster.reservations.all and not self._options.bf_licenses
        while True:
            nodes = self._nodes(here, candidate, after, after + seconds)
            found = ends.earliest(nodes, after=after, now=now) if nodes else None
            until = here.table.next_end(after, after + seconds) if may_reserve else inf
            if found is not None and found.start <= until:
                start, allocation = found.start, found.allocation
                lacks = start <= now and self._lacks_licences(here, candidate, start, start + seconds)
                if allocation is not None and start <= now and not lacks:
                    self._start(here, job, partition, allocation)
                    return
                planned = self._planned(job, start, start + seconds, self._reserved(job, nodes, found, ends))
                here.holds_before(start - self._options.bf_window * 60)
                if start > now and (not may_reserve or self._is_free(here, candidate, planned)):
                    if may_reserve and start <= now + self._options.bf_window * 60:
                        self._reserve(here, job, partition, planned)
                    return
            following = self._next_edge(here, after) if may_reserve else None
            if following is None:
                return
            here.is_again_due = True
            self._cluster.mark_changed(here.now)
            after = following
            if is_jumping:
                if until < inf and (found is None or found.least > until):
                    after = max(after, until)
                base = partition.nodes & ~self._cluster.unavailable
                best = ends.earliest(base, after=after, now=now)
                if best is None:
                    return
                after = here.table.next_chance(after, seconds, base, job.min_nodes, least=best.least)
                if after > last:
                    return

    def _ends(self, job: SlurmJob) -> JobEnds:
        if self._forecast is None or self._forecast.version != self._cluster.version:
            self._forecast = EndForecast(self._cluster, self._clock)
        return self._forecast.of(job)

    def _preempts(self, here: BackfillPass, candidate: Candidate, now: float, end: float) -> bool:
        """Let running jobs give way if it can only start now in this way, and keep the nodes for it."""
        job = candidate.job
        nodes = self._nodes(here, candidate, now, end)
        if not nodes or self._cluster.select(job, candidate.partition, nodes, here.now) is not None:
            return False
        allocation = self._preemption.give_way(job, nodes, here.now, "backfill")
        if allocation is None:
            return False
        if job.state == PENDING:
            here.add(self._planned(job, now, now, allocation.nodes))
        return True

    def _nodes(self, here: BackfillPass, candidate: Candidate, start: float, end: float) -> int:
        cluster, entered = self._cluster, candidate.reservation
        if entered is not None and not entered.start <= start < entered.end:
            return 0
        nodes = (
            candidate.partition.nodes & ~cluster.unavailable & ~cluster.reservations.closed_nodes(start, end, entered)
        )
        if entered is not None:
            nodes &= entered.nodes
        # A job whose limit ends in the very second in which a reservation begins does not fit before it.
        return nodes & ~here.table.reserved(start, end)

    def _reserved(self, job: SlurmJob, nodes: int, found: JobForecast, ends: JobEnds) -> int:
        """Return the nodes that are reserved for a job: all that may be used if features are counted."""
        choices = self._cluster.selector.choices(job.request.constraint)
        return nodes & choices[0].nodes if choices[0].groups else ends.nodes(found)

    def _planned(self, job: SlurmJob, start: float, end: float, nodes: int) -> PlannedStart:
        step = self._options.bf_resolution
        begin = floor((start + self._clock) / step) * step - self._clock
        until = floor((end + self._clock) / step) * step - self._clock
        return PlannedStart(job.key, start, begin, max(until, begin + step), nodes, job.request.licences)

    def _is_free(self, here: BackfillPass, candidate: Candidate, planned: PlannedStart) -> bool:
        job, entered = candidate.job, candidate.reservation
        if not here.table.is_free(planned.nodes, planned.begin, planned.end):
            return False
        seconds = (job.request.time_min or job.limit) * 60
        closed = self._cluster.reservations.closed_nodes(planned.start, planned.start + seconds, entered)
        if closed & planned.nodes:
            return False
        return not self._lacks_licences(here, candidate, planned.start, planned.start + seconds)

    def _lacks_licences(self, here: BackfillPass, candidate: Candidate, start: float, end: float) -> bool:
        cluster, entered = self._cluster, candidate.reservation
        for name, count in candidate.job.request.licences:
            total = next((many for known, many in cluster.configuration.licences if known == name), 0)
            total -= cluster.reservations.reserved_licences(name, start, end, entered)
            if start <= here.now or self._options.bf_licenses:
                busy = [one for one in cluster.licensed if one.limit_end > start or start <= here.now]
                total -= sum(many for one in busy for known, many in one.request.licences if known == name)
            if self._options.bf_licenses:
                plans = [one for one in here.plan if one.overlaps(start, end)]
                total -= sum(many for one in plans for known, many in one.licences if known == name)
            if count > total:
                return True
        return False

    def _start(self, here: BackfillPass, job: SlurmJob, partition: SlurmPartition, allocation: NodeAllocation) -> None:
        if job.request.time_min:
            job.limit = job.request.time_min
        self._cluster.start(job, partition, allocation, here.now, "backfill")
        here.started += 1
        if self._options.bf_max_job_start and here.started >= self._options.bf_max_job_start:
            here.is_over = True

    def _may_reserve(self, here: BackfillPass, job: SlurmJob, partition: SlurmPartition) -> bool:
        options = self._options
        here.holds_before(job.submitted + options.bf_min_age_reserve)
        if job.priority_in(partition) < options.bf_min_prio_reserve:
            return False
        if options.bf_min_age_reserve and here.now - job.submitted < options.bf_min_age_reserve:
            return False
        count = options.bf_job_part_count_reserve
        return not count or here.reserved_in[partition.name] < count

    def _reserve(self, here: BackfillPass, job: SlurmJob, partition: SlurmPartition, planned: PlannedStart) -> None:
        here.reserved_in[partition.name] += 1
        job.reason = job.reason or "Resources"
        here.add(planned)
        if len(here.plan) >= self._options.bf_max_job_test - 1:
            here.is_over = True

    def _next_edge(self, here: BackfillPass, after: float) -> float | None:
        """Return the next instant at which the table of reservations changes, within bf_window."""
        edges = [edge for edge in self._cluster.reservations.edges() if after < edge]
        if self._options.bf_licenses:
            edges += [one.limit_end for one in self._cluster.licensed if after < one.limit_end]
        edge = min([here.table.next_edge(after), *edges])
        return edge if edge <= here.now + self._options.bf_window * 60 else None

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
from batsched_py.slurm.edge_search import search_edges
from batsched_py.slurm.forecast import EndForecast, JobEnds, JobForecast, SimpleJobEnds
from batsched_py.slurm.jobs import PENDING, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.slurm.pass_outcome import PassOutcome
from batsched_py.slurm.pass_tests import JobTest, PassTests
from batsched_py.slurm.plan_table import PlannedStart, PlanTable
from batsched_py.slurm.preemption import JobPreemption
from batsched_py.slurm.queue import Candidate
from batsched_py.slurm.running_changes import RunningChanges


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
    #: Tests of this pass, and of the one before as long as they can be used.
    tests: PassTests = field(default_factory=lambda: PassTests(-1))
    before: PassTests | None = None
    #: What has happened to running jobs since that pass, until this one.
    changes: RunningChanges = field(default_factory=RunningChanges)
    #: Instant until which a pass decides the same if nothing but time passes; and whether it found more to do.
    until: float = inf
    is_again_due: bool = False

    def add(self, planned: PlannedStart) -> None:
        """Add a planned start."""
        self.plan.append(planned)
        self.table.add(planned)


class BackfillScheduler:
    """Passes of the backfill scheduler; `clock` is the absolute second of time zero."""

    def __init__(self, cluster: ClusterState, preemption: JobPreemption, clock: int) -> None:
        self._cluster, self._preemption, self._clock = cluster, preemption, clock
        self._options = cluster.configuration.scheduler
        self.last: BackfillPass | None = None
        self._forecast: EndForecast | None = None
        self._tests = PassTests(-1, until=-inf)

    def run(self, now: float) -> PassOutcome:
        """Run a pass; return whether it would be the same again."""
        cluster, version = self._cluster, self._cluster.version
        candidates, before = cluster.candidates(now), self._tests
        self.last = here = BackfillPass(now)
        self._tests = here.tests = PassTests(cluster.ground)
        here.before = before if cluster.is_timeless and before.hold(cluster.ground, now) else None
        here.changes, cluster.running_changes = cluster.running_changes, RunningChanges()
        for candidate in candidates:
            if here.is_over:
                break
            if candidate.job.state == PENDING and self._is_tested(here, candidate):
                self._test(here, candidate)
        return self._outcome(here, version)

    def _test(self, here: BackfillPass, candidate: Candidate) -> None:
        """Test a job, or use the test of the pass before."""
        job, partition, plans = candidate.job, candidate.partition, len(here.plan)
        job.enter(partition)
        may_reserve, before = self._may_reserve(here, job, partition), here.before
        test = None if before is None else self._find(here, candidate, before, may_reserve=may_reserve)
        if test is not None:
            if test.planned is not None:
                self._reserve(here, job, partition, test.planned)
        else:
            test = JobTest(plans, may_reserve)
            self._try(here, candidate, test)
            test.planned = here.plan[-1] if len(here.plan) > plans else None
            if before is not None and test.planned is not None and before.plan[plans : plans + 1] != [test.planned]:
                here.before = None
        if job.state == PENDING:
            here.tests.tests[candidate] = test
        here.until = min(here.until, test.until)
        if test.is_again_due:
            here.is_again_due = True
            self._cluster.mark_changed(here.now)

    def _find(
        self, here: BackfillPass, candidate: Candidate, before: PassTests, *, may_reserve: bool
    ) -> JobTest | None:
        """Return the test of the pass before if the job would be tested with the same result; else None."""
        changes = here.changes
        changes.add(self._cluster.running_changes)
        if changes and self._cluster.use.lonely_nodes:
            return None
        test = before.find(candidate, here.plan, changes, may_reserve=may_reserve, instant=here.now)
        if test is None or test.found is None or not changes:
            return test
        if test.found.end > max(changes.ended, changes.started):
            return test
        ends, nodes = self._ends(candidate.job, here.now), None if test.planned is None else test.planned.nodes
        assert isinstance(ends, SimpleJobEnds)  # noqa: S101  # no other test outlives changes
        test.found = ends.again(test.found, nodes, after=test.after, now=floor(here.now))
        return test if test.found is not None else None

    def _outcome(self, here: BackfillPass, version: int) -> PassOutcome:
        """Return the outcome of a pass that began with a version of the cluster."""
        cluster, tests = self._cluster, here.tests
        if cluster.ground != tests.ground or not cluster.is_timeless or cluster.first_end() - 1 <= here.now:
            tests.until = -inf
        else:
            edges = [edge for one in here.plan for edge in self._limits(one)]
            tests.plan, tests.until = here.plan, min((edge for edge in edges if edge > here.now), default=inf)
            tests.until = min(tests.until, cluster.first_end() - 1)
        until = min(here.until, tests.until, cluster.queue.next_instant())
        return PassOutcome(version, until if cluster.version == version else -inf, here.is_again_due)

    def _limits(self, one: PlannedStart) -> tuple[float, ...]:
        """Return the instants from which a planned start is seen otherwise: at edges, and as they come into view."""
        step, window = self._options.bf_resolution, self._options.bf_window * 60
        return one.begin, one.end, *(self._slot(edge) + step - window for edge in (one.begin, one.end))

    def _slot(self, instant: float) -> float:
        """Return the begin of the slot of bf_resolution, in absolute time, in which an instant is."""
        step = self._options.bf_resolution
        return floor((instant + self._clock) / step) * step - self._clock

    def _view_end(self, now: float) -> float:
        """Return the end of the table in a pass: in the slot in which bf_window ends no edge is tried any more."""
        return self._slot(now + self._options.bf_window * 60)

    def _is_tested(self, here: BackfillPass, candidate: Candidate) -> bool:
        options, cluster = self._options, self._cluster
        job, partition = candidate.job, candidate.partition
        if len(here.tested) >= options.bf_max_job_test:
            here.is_over = True
            return False
        here.tested.append(job.key)
        if cluster.limits.partition_reason(job, partition) or cluster.waits_for_array(job):
            return False
        if cluster.limits.reason(job, partition):
            return False
        user = job.request.user
        if options.bf_max_job_user and here.by_user[user] >= options.bf_max_job_user:
            return False
        if options.bf_max_job_part and here.by_partition[partition.name] >= options.bf_max_job_part:
            return False
        here.by_user[user] += 1
        here.by_partition[partition.name] += 1
        return True

    def _try(self, here: BackfillPass, candidate: Candidate, test: JobTest) -> None:
        """Start the job, or reserve its earliest start; each further try is from the next edge of the table."""
        job = candidate.job
        now, seconds = floor(here.now), (job.request.time_min or job.limit) * 60
        after, may_reserve = float(now), test.may_reserve
        test.holds_before(here.now, job.submitted + self._options.bf_min_age_reserve)
        if self._preemption.is_possible and self._preempts(here, candidate, now, now + seconds):
            return
        ends = self._ends(job, here.now)
        if isinstance(ends, SimpleJobEnds) and self._is_steady(job):
            test.late = test.blocked = inf
        else:
            test.holds_before(here.now, here.table.next_begin(now + seconds) - seconds)
        while True:
            nodes = self._nodes(here, candidate, after, after + seconds)
            found = ends.earliest(nodes, after=after, now=now) if nodes else None
            until = here.table.next_end(after, after + seconds) if may_reserve else inf
            if found is not None and found.start > until:
                test.note_late(found.end)
            elif found is not None and self._settle(here, candidate, test, found, ends, after=after):
                return
            following = self._next_edge(here, after) if may_reserve else None
            if following is None:
                return
            test.is_again_due = True
            if isinstance(ends, SimpleJobEnds) and self._is_plain():
                self._search(here, candidate, ends, following, test)
                return
            after = following

    def _settle(
        self,
        here: BackfillPass,
        candidate: Candidate,
        test: JobTest,
        found: JobForecast,
        ends: JobEnds,
        *,
        after: float,
    ) -> bool:
        """Start the job within its limits, or reserve nodes for a start found from an instant on; False if not free."""
        job, now, seconds = candidate.job, floor(here.now), (candidate.job.request.time_min or candidate.job.limit) * 60
        # Later this may fail, or be with less nodes.
        test.holds_before(here.now, here.table.next_begin(now + seconds) - seconds)
        lacks = found.start <= now and self._lacks_licences(here, candidate, found.start, found.start + seconds)
        if found.allocation is not None and found.start <= now and not lacks:
            if self._cluster.limits.reason(job, candidate.partition, found.allocation):
                test.note_blocked(-inf)
            else:
                self._start(here, job, candidate.partition, found.allocation)
            return True
        planned = self._planned(job, found.start, seconds, self._reserved(job, found, ends))
        if found.start > now and (not test.may_reserve or self._is_free(here, candidate, planned)):
            test.found, test.after = found, after
            self._plan(here, candidate, planned, test)
            return True
        test.note_blocked(found.end)
        return False

    def _is_steady(self, job: SlurmJob) -> bool:
        """Does a job of whole nodes start no earlier with less nodes or time, no matter whose jobs run?"""
        cluster = self._cluster
        is_anyone = not cluster.use.lonely_nodes and not cluster.selector.is_alone(job)
        return cluster.configuration.linear and is_anyone and self._is_plain()

    def _is_plain(self) -> bool:
        """Does only the table of a pass change which nodes a job may use?"""
        return not self._cluster.reservations.all and not self._options.bf_licenses

    def _search(
        self, here: BackfillPass, candidate: Candidate, ends: SimpleJobEnds, since: float, test: JobTest
    ) -> None:
        """Plan the first start at or after an edge of the table."""
        job, seconds = candidate.job, (candidate.job.request.time_min or candidate.job.limit) * 60
        planned: PlannedStart | None = None

        def is_free(found: JobForecast) -> bool:
            nonlocal planned
            planned = self._planned(job, found.start, seconds, ends.nodes(found))
            is_open = here.table.is_free(planned.nodes, planned.begin, planned.end)
            if not is_open:
                test.note_blocked(found.end)
            return is_open

        nodes = candidate.partition.nodes & ~self._cluster.unavailable
        last = self._view_end(here.now)
        found = search_edges(
            here.table,
            ends,
            nodes,
            seconds=seconds,
            since=since,
            last=last,
            now=floor(here.now),
            is_free=is_free,
            test=test,
        )
        if found is not None and planned is not None:
            self._plan(here, candidate, planned, test)

    def _plan(self, here: BackfillPass, candidate: Candidate, planned: PlannedStart, test: JobTest) -> None:
        """Reserve a planned start, if it is within bf_window."""
        window = self._options.bf_window * 60
        test.holds_before(here.now, planned.start - window)
        if test.may_reserve and planned.start <= floor(here.now) + window:
            self._reserve(here, candidate.job, candidate.partition, planned)

    def _ends(self, job: SlurmJob, now: float) -> JobEnds:
        if self._forecast is None or self._forecast.basis != self._cluster.basis:
            self._forecast = EndForecast(self._cluster, self._clock)
        return self._forecast.of(job, self._preemption.gone(job, now))

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
            kept = self._preemption.without_preempted(job, nodes, here.now) or allocation
            here.add(self._planned(job, now, end - now, kept.nodes))
        return True

    def _nodes(self, here: BackfillPass, candidate: Candidate, start: float, end: float) -> int:
        cluster, entered = self._cluster, candidate.reservation
        if entered is not None and not entered.start <= start < entered.end:
            return 0
        nodes = (
            candidate.partition.nodes & ~cluster.unavailable & ~cluster.reservations.closed_nodes(start, end, entered)
        )
        if entered is not None:
            nodes = entered.offered(nodes)
        # A job whose limit ends in the very second in which a reservation begins does not fit before it.
        free = nodes & ~here.table.reserved(start, end)
        choice = cluster.selector.choices(candidate.job.request.constraint)[0]
        # If features are counted, no node that has one may be reserved: so it is in the recorded plans.
        return 0 if choice.groups and nodes & ~free & choice.nodes else free

    def _reserved(self, job: SlurmJob, found: JobForecast, ends: JobEnds) -> int:
        """Return the nodes that are reserved for a job: all that may be used if features are counted."""
        choices = self._cluster.selector.choices(job.request.constraint)
        return found.allowed & choices[0].nodes if choices[0].groups else ends.nodes(found)

    def _planned(self, job: SlurmJob, start: float, seconds: float, nodes: int) -> PlannedStart:
        step, end = self._options.bf_resolution, start + seconds
        begin, until = self._slot(start), self._slot(end)
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
        if job.priority_in(partition) < options.bf_min_prio_reserve:
            return False
        if job.qos is not None and "noreserve" in job.qos.flags:
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
        return edge if edge < self._view_end(here.now) else None

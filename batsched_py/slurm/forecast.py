"""The earliest start of a job on some nodes, by the limits of the running jobs.

With select/cons_tres the ends of running jobs are not tested one by one but by windows: the page slurm.conf(5) says
(under bf_window_linear) that the first is of 30 s and that each further one is twice as long, or longer by
bf_window_linear. Where windows begin and end it does not say. The recorded plans show it: in 255 passes (no job before
the first planned one) each planned start is the end of the last job within a window, if windows end at

    (floor(e / 30) + 2) * 30,    then 30, 60, 120... seconds later,

in absolute clock time, inclusive, where e is the first end on a node that the job could use. Jobs on other nodes count
in one way: a window is tested if the next end, of whatever job, is beyond it. With windows of 30 s from the first end,
as a reader of the page might suppose, 28 of the plans differ, with ends one by one 89. With select/linear the recorded
plans are those of ends one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, inf
from typing import Final, NamedTuple

from batsched_py.slurm.cluster import ClusterState
from batsched_py.slurm.features import FeatureChoice
from batsched_py.slurm.jobs import RequestShape, SlurmJob
from batsched_py.slurm.node_use import NodeAllocation, Offer
from batsched_py.slurm.offers import each_bit

# A pass of backfill asks for the earliest start of hundreds of jobs, each several times, and releases of running jobs
# are the same for all of them. Whether a job fits is nearly always a matter of two numbers: nodes with an offer, and
# tasks on them, which only grow as jobs end. So the number of the end at which a job fits is found without selecting
# nodes: with whole nodes by bisection in the sets of idle nodes, otherwise in a list of the offers that change with
# each end (`_ShapeEnds`), which requests of one shape share. Nodes are selected once, for that end. Jobs for which this
# does not hold (counted features, GPUs of the whole job, bounded numbers of unequal nodes, switches, suspended jobs)
# release the ends one by one: `earliest`, which is also the definition.

#: Seconds of the first window, and the grid on which it ends.
_WINDOW: Final = 30


@dataclass(slots=True)
class _Fit:
    """The numbers of ends after which a request fits (0: now), and after which it starts; the nodes once asked for."""

    first: int
    number: int
    nodes: int = 0


class JobForecast(NamedTuple):
    """An earliest start, the nodes that were allowed, and an allocation for now.

    `least` is an instant before which no start is found on some of these nodes only.
    """

    start: float
    least: float
    allowed: int
    fit: _Fit
    allocation: NodeAllocation | None = None


@dataclass(slots=True)
class EndWindow:
    """A window of ends of jobs, in absolute seconds: ends up to `until` are in it, and further ones move it."""

    until: float
    step: float = _WINDOW
    #: How much longer each further window is; None to double it.
    growth: int | None = None

    @classmethod
    def of_first(cls, end: float, growth: int | None) -> EndWindow:
        """Return the first window, which has this end."""
        return cls((floor(end / _WINDOW) + 2) * _WINDOW, growth=growth)

    def move_to(self, end: float) -> None:
        """Take the next windows until one has this end."""
        while end > self.until:
            self.until += self.step
            self.step += self.step if self.growth is None else self.growth


class EndForecast:
    """Earliest starts while the running jobs stay the same; `clock` is the absolute second of time zero."""

    def __init__(self, cluster: ClusterState, clock: int) -> None:
        self._cluster, self._clock = cluster, clock
        self.version = cluster.version
        self._running = cluster.running_by_end()
        self._ends = [job.limit_end for job in self._running]
        self._masks = [job.allocation.nodes if job.allocation is not None else 0 for job in self._running]
        #: Idle nodes before the first end, and after each one, as far as they were asked for.
        self._idle = [cluster.use.idle]
        self._shapes: dict[RequestShape, _ShapeEnds] = {}
        self._states = _EndStates(cluster, self._running)
        #: Request -> nodes -> when it fits; None if it never does.
        self._known: dict[tuple[object, ...], dict[int, _Fit | None]] = {}

    def of(self, job: SlurmJob) -> JobEnds:
        """Return the earliest starts of one job."""
        choice = self._simple(job)
        if choice is None:
            return JobEnds(self, self._cluster, job)
        shape, cluster = self._cluster.selector.table.shape(job), self._cluster
        allowed = choice.nodes & cluster.selector.nodes_for_user(cluster.use, job, cluster.configuration.all_nodes)
        known = self._known.setdefault((shape, job.min_nodes, job.max_nodes, job.tasks), {})
        return SimpleJobEnds(self, cluster, job, shape, allowed, known)

    def plain(self, job: SlurmJob, nodes: int, after: float, now: float) -> JobForecast | None:
        """Return an earliest start by releasing the ends one by one."""
        found = earliest(self._cluster, job, nodes, after=after, now=now, clock=self._clock)
        return None if found is None else JobForecast(found[0], -inf, nodes, _Fit(0, 0, found[1].nodes), found[1])

    def end(self, number: int) -> float:
        """Return the instant of an end, by its number from 1."""
        return self._ends[number - 1]

    def fit(self, job: SlurmJob, shape: RequestShape, nodes: int) -> _Fit | None:
        """Return the numbers of ends after which a job fits on these nodes, and starts; None if it never does."""
        idle = self._cluster.selector.table.of(self._cluster.idle, shape).nodes
        if (nodes & idle).bit_count() < job.min_nodes:
            return None
        if shape.is_exclusive:
            first = self._whole(nodes & idle, job.min_nodes)
        else:
            first = self._shape_ends(shape).first_fit(job, nodes)
        return None if first is None else _Fit(first, self._tested(first, nodes) if first else 0)

    def nodes(self, job: SlurmJob, found: JobForecast) -> int:
        """Return the nodes of an earliest start."""
        fit, selector = found.fit, self._cluster.selector
        if not fit.nodes:
            shape, choice = selector.table.shape(job), selector.choices(job.request.constraint)[0]
            if shape.is_exclusive:
                idle = selector.table.of(self._cluster.idle, shape)
                fit.nodes = selector.whole_nodes(idle, found.allowed & self._idle_after(fit.number), job)
            else:
                offers = self._shape_ends(shape).offers_after(fit.number, found.allowed)
                taken = selector.choose_from(self._cluster.use, offers, choice, job) or ()
                fit.nodes = sum([1 << offer.node for offer, _ in taken])
            assert fit.nodes, f"{job.key} fits after {fit.number} ends"  # noqa: S101
        return fit.nodes

    def _simple(self, job: SlurmJob) -> FeatureChoice | None:
        """Return the choice of features of a job that fits if nodes and tasks suffice; None for another one."""
        configuration, request = self._cluster.configuration, job.request
        selector = self._cluster.selector
        choices = selector.choices(request.constraint)
        is_enough = job.tasks <= job.min_nodes <= job.max_nodes or (
            job.max_nodes >= len(configuration.nodes) and not selector.table.shape(job).is_exclusive
        )
        is_plain = len(choices) == 1 and not choices[0].groups and not request.gpus and not configuration.switches
        return choices[0] if is_enough and is_plain and not self._cluster.has_suspended else None

    def _shape_ends(self, shape: RequestShape) -> _ShapeEnds:
        if shape not in self._shapes:
            self._shapes[shape] = _ShapeEnds(self._cluster, shape, self._states)
        return self._shapes[shape]

    def _idle_after(self, number: int) -> int:
        """Return the nodes that are idle after so many ends."""
        is_whole = self._cluster.configuration.linear
        while len(self._idle) <= number:
            at = len(self._idle) - 1
            self._idle.append(self._idle[at] | (self._masks[at] if is_whole else self._states.idle_nodes(at)))
        return self._idle[number]

    def _whole(self, nodes: int, count: int) -> int | None:
        """Return the number of ends after which so many of the nodes are idle; None if they never are."""
        low, high = 0, 1
        if (self._idle[0] & nodes).bit_count() >= count:
            return 0
        most = len(self._running)
        while (self._idle_after(min(high, most)) & nodes).bit_count() < count:
            if high >= most:
                return None
            low, high = high, 2 * high
        high = min(high, most)
        while high - low > 1:
            middle = (low + high) // 2
            if (self._idle[middle] & nodes).bit_count() >= count:
                high = middle
            else:
                low = middle
        return high

    def _tested(self, number: int, nodes: int) -> int:
        """Return the first number of ends, from this one on, after which a start is tested."""
        if self._cluster.configuration.linear:
            return number
        growth, clock = self._cluster.configuration.scheduler.bf_window_linear or None, self._clock
        window: EndWindow | None = None
        is_empty, ends, last, tested = True, self._ends, len(self._ends), 0
        for at, mask in enumerate(self._masks):
            if not mask & nodes:
                continue
            end = ends[at] + clock
            window = window or EndWindow.of_first(end, growth)
            if is_empty and end > window.until:
                window.move_to(end)
            tested = at + 1
            is_empty = tested == last or ends[tested] + clock > window.until
            if is_empty and tested >= number:
                return tested
        return tested


class JobEnds:
    """Earliest starts of one job, by releasing ends one by one."""

    #: Does the job fit if nodes and tasks suffice, so that it starts no earlier on fewer nodes?
    is_simple = False

    def __init__(self, forecast: EndForecast, cluster: ClusterState, job: SlurmJob) -> None:
        self._forecast, self._cluster, self._job = forecast, cluster, job

    def earliest(self, nodes: int, *, after: float, now: float) -> JobForecast | None:
        """Return the first start from `after` on these nodes; None if there is none."""
        return self._forecast.plain(self._job, nodes, after, now)

    def nodes(self, found: JobForecast) -> int:
        """Return the nodes of an earliest start."""
        return self._forecast.nodes(self._job, found)


class SimpleJobEnds(JobEnds):
    """Earliest starts of a job that fits if nodes and tasks suffice."""

    is_simple = True

    def __init__(
        self,
        forecast: EndForecast,
        cluster: ClusterState,
        job: SlurmJob,
        shape: RequestShape,
        allowed: int,
        known: dict[int, _Fit | None],
    ) -> None:
        super().__init__(forecast, cluster, job)
        self._shape, self._allowed, self._known = shape, allowed, known

    def earliest(self, nodes: int, *, after: float, now: float) -> JobForecast | None:
        """Return the first start from `after` on these nodes; None if there is none."""
        nodes &= self._allowed
        if nodes in self._known:
            fit = self._known[nodes]
        else:
            fit = self._known[nodes] = self._forecast.fit(self._job, self._shape, nodes)
        if fit is None:
            return None
        if fit.number:
            start = max(after, self._forecast.end(fit.number), now + 1)
            return JobForecast(start, self._forecast.end(fit.first), nodes, fit)
        cluster = self._cluster
        allocation = cluster.selector.select(cluster.use, self._job, nodes) if after <= now else None
        return JobForecast(after, after, nodes, fit, allocation)


class _EndStates:
    """The free resources of nodes after the end of each running job."""

    def __init__(self, cluster: ClusterState, running: Sequence[SlurmJob]) -> None:
        self._use, self._running = cluster.use, running
        #: Node -> its free cores, memory and generic resources, and its number of jobs, after the ends seen so far.
        self._now: dict[int, tuple[int, int, tuple[int, ...], int]] = {}
        #: For each end, the states of its nodes.
        self._after: list[list[tuple[int, int, int, tuple[int, ...], int]]] = []

    def __len__(self) -> int:
        return len(self._running)

    def after(self, number: int) -> Sequence[tuple[int, int, int, tuple[int, ...], int]]:
        """Return node, cores, memory, generic resources and jobs of each node of the job that ends as this one."""
        while len(self._after) <= number:
            self._after.append(self._release(self._running[len(self._after)]))
        return self._after[number]

    def _release(self, job: SlurmJob) -> list[tuple[int, int, int, tuple[int, ...], int]]:
        use, found = self._use, []
        assert job.allocation is not None  # noqa: S101
        for share in job.allocation.shares:
            at = share.node
            known = self._now.get(at)
            if known is None:
                known = use.free_cores[at], use.free_memory[at], use.free_gres[at], len(use.users[at])
            cores, memory, gres, users = known
            if share.gres:
                gres = tuple(a + b for a, b in zip(gres, share.gres, strict=True))
            self._now[at] = state = (cores | share.cores, memory + share.memory, gres, users - 1)
            found.append((at, *state))
        return found

    def idle_nodes(self, number: int) -> int:
        """Return those nodes of the job that ends as this one that are idle then."""
        return sum(1 << at for at, _, _, _, users in self.after(number) if not users)


class _ShapeEnds:
    """The offers to one shape of requests after the end of each running job."""

    def __init__(self, cluster: ClusterState, shape: RequestShape, states: _EndStates) -> None:
        self._table, self._shape, self._states = cluster.selector.table, shape, states
        known = self._table.of(cluster.use, shape)
        self._first, self._nodes = known.offers.copy(), known.nodes
        self._latest: dict[int, int] = {}
        #: Changes: number of the end, node as a bit, its offer, and how many nodes and tasks more there are.
        self._changes: list[tuple[int, int, Offer, int, int]] = []
        #: Number of ends that are in the changes.
        self._seen = 0

    def _extend(self) -> bool:
        """Add the changes of the next end; return False if there is none."""
        if self._seen >= len(self._states):
            return False
        for at, cores, memory, gres, users in self._states.after(self._seen):
            offer = self._table.offer(self._shape, at, cores, memory, gres, is_idle=not users)
            if offer is None:
                continue
            before = self._latest.get(at)
            if before is None:
                first = self._first[at]
                before = first.tasks if first is not None else 0
            self._latest[at] = offer.tasks
            self._changes.append((self._seen + 1, 1 << at, offer, int(not before), offer.tasks - before))
        self._seen += 1
        return True

    def first_fit(self, job: SlurmJob, nodes: int) -> int | None:
        """Return the number of ends after which nodes and tasks suffice for a job; None if they never do."""
        here = nodes & self._nodes
        count, least, wanted = here.bit_count(), job.min_nodes, job.tasks
        is_counted, tasks = wanted > count, wanted
        if is_counted:
            tasks = sum([offer.tasks for at in each_bit(here) if (offer := self._first[at]) is not None])
        if count >= least and tasks >= wanted:
            return 0
        at = 0
        while True:
            if at >= len(self._changes):
                if not self._extend():
                    return None
                continue
            number, bit, _, more, tasks_more = self._changes[at]
            at += 1
            if bit & nodes:
                count += more
                if is_counted:
                    tasks += tasks_more
                if count >= least and tasks >= wanted:
                    return number

    def offers_after(self, number: int, nodes: int) -> list[Offer]:
        """Return the offers of these nodes after so many ends, in the order of nodes."""
        while self._seen < number:
            self._extend()
        first = self._first
        found = {at: offer for at in each_bit(nodes & self._nodes) if (offer := first[at]) is not None}
        for of, bit, offer, _, _ in self._changes:
            if of > number:
                break
            if bit & nodes:
                found[offer.node] = offer
        return [found[at] for at in sorted(found)]


def earliest(
    cluster: ClusterState, job: SlurmJob, nodes: int, *, after: float, now: float, clock: int
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    A job over its limit ends in the next second from `now`; `clock` is the absolute second of time zero.
    """
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    nodes = selector.suitable(job, selector.nodes_for_user(cluster.use, job, nodes))
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    if (found := selector.select(cluster.use, job, nodes, most)) is not None:
        return after, found
    use = cluster.use.copy()
    running = cluster.running_by_end()
    for group in _by_end(running, nodes) if cluster.configuration.linear else _windows(cluster, running, nodes, clock):
        for one in group:
            assert one.allocation is not None  # noqa: S101
            use.release(one.kept or one.allocation)
        if (found := selector.select(use, job, nodes, most)) is not None:
            return max(after, group[-1].limit_end, now + 1), found
    return None


def _by_end(running: Sequence[SlurmJob], nodes: int) -> Iterator[list[SlurmJob]]:
    """Yield the jobs on these nodes one by one."""
    return ([job] for job in running if _is_on(job, nodes))


def _windows(cluster: ClusterState, running: Sequence[SlurmJob], nodes: int, clock: int) -> Iterator[list[SlurmJob]]:
    """Yield the jobs on these nodes whose ends are in one window, in order."""
    window: EndWindow | None = None
    group: list[SlurmJob] = []
    growth = cluster.configuration.scheduler.bf_window_linear or None
    for number, job in enumerate(running, 1):
        if not _is_on(job, nodes):
            continue
        window = window or EndWindow.of_first(job.limit_end + clock, growth)
        if not group:
            window.move_to(job.limit_end + clock)
        group.append(job)
        if number < len(running) and running[number].limit_end + clock <= window.until:
            continue
        yield group
        group = []
    if group:
        yield group


def _is_on(job: SlurmJob, nodes: int) -> bool:
    return job.allocation is not None and bool(job.allocation.nodes & nodes)

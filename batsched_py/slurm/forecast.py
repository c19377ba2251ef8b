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
from batsched_py.slurm.node_use import NodeAllocation
from batsched_py.slurm.shape_ends import EndStates, ShapeEnds

# A pass of backfill asks for the earliest start of hundreds of jobs, each several times, and releases of running jobs
# are the same for all of them. Whether a job fits is nearly always a matter of two numbers: nodes with an offer, and
# tasks on them, which only grow as jobs end. So the number of the end at which a job fits is found without selecting
# nodes: with whole nodes by bisection in the sets of idle nodes, otherwise in a list of the offers that change with
# each end (`ShapeEnds`), which requests of one shape share. Nodes are selected once, for that end. Jobs for which this
# does not hold (counted features, GPUs of the whole job, bounded numbers of unequal nodes, switches, suspended jobs)
# release the ends one by one: `earliest`, which is also the definition.

#: Seconds of the first window, and the grid on which it ends.
_WINDOW: Final = 30


@dataclass(slots=True)
class RequestFit:
    """The numbers of ends after which a request fits (0: now), and after which it starts; the nodes once asked for."""

    first: int
    number: int
    nodes: int = 0


class JobForecast(NamedTuple):
    """An earliest start, the nodes that were allowed, and an allocation for now.

    `least` is an instant before which no start is found on some of these nodes only, `end` the end of a running job for
    which it waits; -infinity for none, or if it is unknown.
    """

    start: float
    least: float
    allowed: int
    fit: RequestFit
    allocation: NodeAllocation | None = None
    end: float = -inf


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
        #: The state of the cluster for which it holds.
        self.basis = cluster.basis
        self._running = cluster.running_by_end()
        self.ends = [job.limit_end for job in self._running]
        self._masks = [job.allocation.nodes if job.allocation is not None else 0 for job in self._running]
        #: Idle nodes before the first end, and after each one, as far as they were asked for.
        self._idle = [cluster.use.idle]
        self._shapes: dict[RequestShape, ShapeEnds] = {}
        self._states = EndStates(cluster, self._running)
        #: Request -> nodes -> when it fits; None if it never does.
        self._known: dict[tuple[object, ...], dict[int, RequestFit | None]] = {}

    def of(self, job: SlurmJob, gone: Sequence[SlurmJob] = ()) -> JobEnds:
        """Return the earliest starts of one job, in whose way some running jobs are not."""
        choice = self._simple(job)
        if choice is None or gone:
            return JobEnds(self, self._cluster, job, gone)
        cluster = self._cluster
        allowed = choice.nodes & cluster.selector.nodes_for_user(cluster.use, job, cluster.configuration.all_nodes)
        return SimpleJobEnds(self, cluster, job, allowed)

    def known(self, job: SlurmJob, shape: RequestShape) -> dict[int, RequestFit | None]:
        """Return when jobs with the request of this one fit, by nodes, as far as it was asked for."""
        return self._known.setdefault((shape, job.min_nodes, job.max_nodes, job.tasks), {})

    def plain(
        self, job: SlurmJob, nodes: int, after: float, now: float, gone: Sequence[SlurmJob] = ()
    ) -> JobForecast | None:
        """Return an earliest start by releasing the ends one by one; that of jobs that are not in the way is now."""
        found = earliest(self._cluster, job, nodes, after=after, now=now, clock=self._clock, gone=gone)
        return None if found is None else JobForecast(found[0], -inf, nodes, RequestFit(0, 0, found[1].nodes), found[1])

    def fit(self, job: SlurmJob, shape: RequestShape, nodes: int) -> RequestFit | None:
        """Return the numbers of ends after which a job fits on these nodes, and starts; None if it never does."""
        idle = self._cluster.selector.table.of(self._cluster.idle, shape).nodes
        if (nodes & idle).bit_count() < job.min_nodes:
            return None
        if shape.is_exclusive:
            first = self._whole(nodes & idle, job.min_nodes)
        else:
            first = self._shape_ends(shape).first_fit(job, nodes)
        return None if first is None else RequestFit(first, self._tested(first, nodes) if first else 0)

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
        has_overlaps = self._cluster.has_suspended or self._cluster.sharing
        return choices[0] if is_enough and is_plain and not has_overlaps else None

    def _shape_ends(self, shape: RequestShape) -> ShapeEnds:
        if shape not in self._shapes:
            self._shapes[shape] = ShapeEnds(self._cluster, shape, self._states)
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
        is_empty, ends, last, tested = True, self.ends, len(self.ends), 0
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

    def __init__(
        self, forecast: EndForecast, cluster: ClusterState, job: SlurmJob, gone: Sequence[SlurmJob] = ()
    ) -> None:
        self._forecast, self._cluster, self._job, self._gone = forecast, cluster, job, gone

    def earliest(self, nodes: int, *, after: float, now: float) -> JobForecast | None:
        """Return the first start from `after` on these nodes; None if there is none."""
        return self._forecast.plain(self._job, nodes, after, now, self._gone)

    def nodes(self, found: JobForecast) -> int:
        """Return the nodes of an earliest start."""
        return self._forecast.nodes(self._job, found)


class SimpleJobEnds(JobEnds):
    """Earliest starts of a job that fits if nodes and tasks suffice, so that it starts no earlier on fewer nodes.

    The nodes are those of `allowed`.
    """

    def __init__(self, forecast: EndForecast, cluster: ClusterState, job: SlurmJob, allowed: int) -> None:
        super().__init__(forecast, cluster, job)
        self.allowed, self.nodes_wanted = allowed, job.min_nodes
        self._shape = cluster.selector.table.shape(job)
        self._known, self._ends = forecast.known(job, self._shape), forecast.ends

    def fit_on(self, nodes: int) -> RequestFit | None:
        """Return when the job fits on these allowed nodes; None if it never does."""
        if nodes in self._known:
            return self._known[nodes]
        self._known[nodes] = fit = self._forecast.fit(self._job, self._shape, nodes)
        return fit

    def first_end(self, fit: RequestFit) -> float:
        """Return an instant before which the job does not start, as far as running jobs are in the way."""
        return self._ends[fit.first - 1] if fit.first else -inf

    def again(self, found: JobForecast, nodes: int | None, *, after: float, now: float) -> JobForecast | None:
        """Return a start from `after` on as it is after a change, if time and nodes (if there are any) are the same."""
        here = self.earliest(found.allowed, after=after, now=now)
        if here is None or here.start != found.start or here.start <= now:
            return None
        return here if nodes is None or nodes == self.nodes(here) else None

    def earliest(self, nodes: int, *, after: float, now: float) -> JobForecast | None:
        """Return the first start from `after` on these nodes; None if there is none."""
        nodes &= self.allowed
        fit = self.fit_on(nodes)
        if fit is None:
            return None
        if fit.number:
            end = self._ends[fit.number - 1]
            return JobForecast(max(after, end, now + 1), self._ends[fit.first - 1], nodes, fit, None, end)
        cluster = self._cluster
        allocation = cluster.selector.select(cluster.use, self._job, nodes) if after <= now else None
        return JobForecast(after, after, nodes, fit, allocation)


def earliest(
    cluster: ClusterState,
    job: SlurmJob,
    nodes: int,
    *,
    after: float,
    now: float,
    clock: int,
    gone: Sequence[SlurmJob] = (),
) -> tuple[float, NodeAllocation] | None:
    """Return the first instant from `after` at which the job fits on these nodes, and its allocation there.

    Jobs over their limit, and those of `gone`, end in the next second from `now`. `clock` is the absolute second of
    time zero.
    """
    most = cluster.most_switches(job, after)
    selector = cluster.selector
    nodes = selector.suitable(job, selector.nodes_for_user(cluster.use, job, nodes))
    if selector.select(cluster.idle, job, nodes, most) is None:
        return None
    is_now = after <= now or not gone
    if is_now and (found := cluster.select_now(job, nodes, most)) is not None:
        return after, found
    use = cluster.use.copy()
    running = cluster.running_by_end()
    ended: set[SlurmJob] = set()
    if gone:
        for one in gone:
            assert one.allocation is not None  # noqa: S101
            use.release(one.kept or one.allocation)
        if (found := selector.select(use, job, nodes, most)) is not None:
            return max(after, now + 1), found
        running = [one for one in running if one not in gone]
    for group in _by_end(running, nodes) if cluster.configuration.linear else _windows(cluster, running, nodes, clock):
        if cluster.sharing:
            ended.update(group)
            use = cluster.sharing.use_for(job, cluster.running, ended)
        else:
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

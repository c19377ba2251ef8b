"""Execution: the work of a profile on given hosts, computed once when the job starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import truediv
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.addition import add_up
from batsched_py.model.loopback_transfers import sends_within_host
from batsched_py.model.profile import (
    Composed,
    DataStaging,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousPfs,
    ParallelHomogeneousTotal,
    Profile,
    Receive,
    Send,
)
from batsched_py.model.replay import RANKS_TO_HOSTS, Smpi, SmpiAction, UsageStep, UsageTrace
from batsched_py.simulator.contention.demand import LONGEST_TASK, ActivityDemand, Processors
from batsched_py.simulator.contention.exchanges import AllToAll, Matrix, Transfer
from batsched_py.simulator.contention.transfers import TransferModel
from batsched_py.simulator.jobs.work import Task, TaskSequence, Work, last_task
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.time.event_queue import PRECISION
from batsched_py.text.wording import counted

# Work is computed once, at the start of a job, as a tree of tasks with durations: the time between the start and
# the end needs no events, however long the job runs. If tasks may slow each other down (`contends`), the duration is
# only that of a job alone, and the fluid model determines the end.
#
# The model is SimGrid's L07: all computations and transfers of a parallel task advance together, the slowest decides,
# and the latency is added. Where Batsim 4 and 5 differ (`former_*`) both rules are here, next to each other.
#
# Steps of a composed profile with the same name are computed once (`known`), as repetitions are frequent; a repeated
# sequence is one object with a factor and not a list. A line is added to `approximations` only if a simplification
# affected a job: a run in which all jobs are delays is exact, and is reported as such.

#: Profile types that compute and transfer; those of them with amounts for each host; those that need storage hosts.
COMPUTING: Final = (Parallel, ParallelHomogeneous, ParallelHomogeneousTotal)
STORING: Final = (ParallelHomogeneousPfs, DataStaging)
#: Profile types that communicate with the scheduler: their duration is unknown when the job starts.
TALKING: Final = (Send, Receive)
#: Supported profile types.
SIMULATED: Final = (Delay, *COMPUTING, Composed, *STORING, *TALKING, UsageTrace, Smpi)

NO_CONTENTION: Final = "communication: bottleneck link of each job's transfers, no contention between jobs"

WRITES_READ: Final = (
    "storage: `bytes_to_write` are written here; Batsim 5.0.0-rc2 takes `bytes_to_read` for them if they are not spread"
)

UNLINKED: Final = (
    "communication: bytes between hosts that no link connects take no time but the latency of coordinates (first from"
    " %s to %s); SimGrid does the same, or stops"
)
DOUBLED: Final = (
    "communication: executors of a task communicate on one host, where SimGrid 3.32, 3.34 and 4.0 may never end"
)

Profiles = Mapping[str, Profile]


class HostsByRole(Struct, frozen=True):
    """The hosts of a job, by role.

    Attributes:
        executors: host of each executor; empty for a job of delays only.
        storages: label -> number of a storage host.
        io_profile: profile merged with each of its parallel tasks; None for none.
        io_hosts: hosts of that profile, ascending.
        overrides: name of a step of a sequence -> host of each of its executors, for steps with other hosts.
        ranks: position among the hosts of each rank of a trace; empty if ranks take the hosts in turn.
    """

    executors: Sequence[int] = ()
    storages: Mapping[str, int] = MappingProxyType({})
    io_profile: Profile | None = None
    io_hosts: Sequence[int] = ()
    overrides: Mapping[str, Sequence[int]] = MappingProxyType({})
    ranks: Sequence[int] = ()

    def reaches(self, hosts: int) -> bool:
        """Return True if the job computes on one of these hosts (bits) in addition to those of its start."""
        return any(hosts >> host & 1 for beyond in (self.io_hosts, *self.overrides.values()) for host in beyond)


class ProfileExecution:
    """The conversion of profiles into work. BrokenRuleError where Batsim aborts at the start of the job."""

    def __init__(
        self,
        transfers: TransferModel,
        processors: Processors,
        approximations: set[str],
        storages: int = 0,
        *,
        contention: bool = False,
        compute_sharing: bool = False,
        former_storages: bool = True,
        former_tasks: bool = True,
        speeds_change: bool = False,
    ) -> None:
        """Take the platform's models; `storages` are bits of hosts; `approximations` receives applied simplifications.

        With `contention` tasks slow each other down on links, and with `compute_sharing` or `speeds_change` (speeds of
        hosts change over time) on hosts. `former_storages`
        and `former_tasks` select the rules of Batsim 4. Later, data cannot be moved between storages, amounts may be
        spread over executors, a total of bytes is divided by pairs, and a task on one host must compute.
        """
        self.approximations = approximations
        self._transfers, self._processors, self._storages = transfers, processors, storages
        self._contention, self._compute_sharing = contention, compute_sharing
        self._former_storages, self._former_tasks = former_storages, former_tasks
        self._unlinked_reported, self._speeds_change = False, speeds_change

    def work(
        self, profile: Profile, profiles: Profiles, site: HostsByRole, known: dict[tuple[str, str], Work] | None = None
    ) -> Work:
        """Return the work of a profile without messages on its hosts, at their current speeds.

        `profiles` are those of the job's workload, which a composed profile references. `known` caches the work of
        steps by their names and those of the corresponding steps of an io job.
        """
        if isinstance(profile, Delay):
            return Task(profile.name, profile.delay, profile.return_code)
        if isinstance(profile, (UsageTrace, Smpi)):
            return self._replay(profile, site)
        if isinstance(profile, Composed):
            return self._sequence(profile, profiles, site, {} if known is None else known)
        return self._parallel(profile, site)

    def loads(self, task: Task, seconds: float) -> tuple[float, ...]:
        """Return the used share of one core on each host of a task if its total duration is `seconds`."""
        amounts: dict[int, float] = {}
        for host, amount in () if task.demand is None else task.demand.flops:
            amounts[host] = amounts.get(host, 0.0) + amount
        return loads_of(task.hosts, amounts, self._processors.speeds, seconds)

    def _sequence(
        self, profile: Composed, profiles: Profiles, site: HostsByRole, known: dict[tuple[str, str], Work]
    ) -> TaskSequence:
        """Return the steps in order; a step with a return code other than 0 ends the sequence with it, as in Batsim."""
        steps: list[Work] = []
        for position, name in enumerate(profile.sequence):
            step_site = io_of_step(site, profile, profiles, position)
            key = name, "" if step_site.io_profile is None else step_site.io_profile.name
            work = known.get(key)
            if work is None:
                work = known[key] = self.work(profiles[name], profiles, step_site, known)
            steps.append(work)
            if work.return_code:
                break
        code, repeat = steps[-1].return_code, 1
        if not code:
            code, repeat = profile.return_code, profile.repeat
        total = min(add_up(step.duration for step in steps) * repeat, LONGEST_TASK)
        contends = any(step.contends for step in steps)
        return TaskSequence(profile.name, total, code, tuple(steps), repeat, contends)

    def _replay(self, profile: UsageTrace | Smpi, site: HostsByRole) -> Task:
        """Return the task of a trace, whose ranks run on the hosts in turn, or as the job says."""
        hosts, count = site.executors, len(profile.ranks)
        if site.io_profile is not None:
            raise BrokenRuleError(f"has an additional_io_job, which cannot be merged with the trace {profile.name}")
        positions = site.ranks or [rank % len(hosts) for rank in range(count)]
        if len(positions) < count:
            rule = f"has hosts for {counted(len(positions), 'rank')} in {RANKS_TO_HOSTS}"
            raise BrokenRuleError(f"{rule}, and {profile.name} has {count}")
        if max(positions) >= len(hosts):
            rule = f"must be below {len(hosts)}, the number of hosts, not {max(positions)}"
            raise BrokenRuleError(f"has a position in {RANKS_TO_HOSTS} that {rule}")
        rank_hosts = tuple([hosts[position] for position in positions[:count]])
        ranks: Sequence[Sequence[UsageStep | SmpiAction]] = profile.ranks
        flops = [add_up(map(_flops_of, steps)) for steps in ranks]
        speeds = [self._processors.speeds[host] for host in rank_hosts]
        shortest = min(max(2 * PRECISION, *map(truediv, flops, speeds)), LONGEST_TASK)
        return Task(
            profile.name,
            shortest,
            profile.return_code,
            contends=True,
            replay=profile,
            rank_hosts=rank_hosts,
            is_delay=False,
        )

    def message(self, source: int, target: int, size: float) -> ActivityDemand:
        """Return the demand of a message of this number of bytes between two hosts."""
        return self._demand((), [(source, target, size)])

    @property
    def processors(self) -> Processors:
        """The processors of all hosts."""
        return self._processors

    def _parallel(self, profile: Profile, site: HostsByRole) -> Task:
        """Return the task in which computations and transfers advance together: the slowest plus the latency (L07)."""
        executors, speeds = site.overrides.get(profile.name, site.executors), self._processors.speeds
        if isinstance(profile, Parallel) and len(profile.cpu) != len(executors):
            what = counted(len(profile.cpu), "executor")
            raise BrokenRuleError(f"runs {profile.name}, which is for {what}, not for {len(executors)}")
        flops = list(zip(executors, computation(profile, len(executors)), strict=True))
        transfers = [communication(profile, executors, by_pairs=not self._former_tasks)]
        if isinstance(profile, STORING):
            transfers = [self._storage_transfers(profile, executors, site.storages)]
        if site.io_profile is not None:
            transfers.append(self._merge(profile, site.io_profile, site.io_hosts, flops))
        if len(flops) == 1 and not isinstance(profile, STORING):
            transfers = []  # SimGrid treats a task on one host as a computation
            if flops[0][1] == 0 and not self._former_tasks:
                raise BrokenRuleError(f"runs {profile.name} on one host, with 0 flops: Batsim 5 aborts on it")
        #: Host -> flops, summed over its executors.
        amounts: dict[int, float] = {}
        for host, amount in flops:
            amounts[host] = amounts.get(host, 0.0) + amount
        if len(amounts) < len(flops) and sends_within_host(profile, executors):
            self.approximations.add(DOUBLED)
        if self._storages:
            self._check_storages_rest(profile, amounts)
            flops = [use for use in flops if not self._storages >> use[0] & 1]
        demand = self._demand(flops, *transfers)
        busy = demand.seconds_alone(self._processors)
        hosts = tuple(sorted(amounts))
        return Task(
            profile.name,
            busy + demand.latency,
            profile.return_code,
            hosts,
            loads_of(hosts, amounts, speeds, busy),
            alone=len(executors) == 1 and len(hosts) == 1,
            latency=demand.latency,
            is_delay=False,
            demand=demand,
            contends=self._contention and bool(demand.links or self._compute_sharing or self._speeds_change),
        )

    def _demand(self, flops: Iterable[tuple[int, float]], *transfers: Iterable[Transfer]) -> ActivityDemand:
        measure = None
        if self._transfers.latencies_change:
            transfers = tuple(list(each) for each in transfers)
            measure = partial(self._measure, transfers)
        links, latency, window = self._transfers.needs(*transfers)
        if (links or latency) and not self._contention:
            self.approximations.add(NO_CONTENTION)
        if self._transfers.unlinked is not None and not self._unlinked_reported:
            self._unlinked_reported = True
            self.approximations.add(UNLINKED % self._transfers.unlinked)
        return ActivityDemand(tuple([use for use in flops if use[1] > 0]), links, latency, window, measure)

    def _measure(self, transfers: Iterable[Iterable[Transfer]]) -> tuple[float, float]:
        """Return the latency and the window of transfers at the current latencies of links."""
        _, latency, window = self._transfers.needs(*transfers)
        return latency, window

    def _merge(
        self, profile: Profile, io: Profile, hosts: Sequence[int], flops: list[tuple[int, float]]
    ) -> Iterable[Transfer]:
        """Add the io job's flops to each host's first executor; return the io job's transfers."""
        if isinstance(profile, STORING):
            rule = f"runs {profile.name}, of type {profile.type}: Batsim mixes up its hosts with an additional_io_job's"
            raise BrokenRuleError(rule)
        if not isinstance(io, COMPUTING):
            rule = f"has an additional_io_job of type {io.type} ({io.name}): a parallel task cannot be merged with it"
            raise BrokenRuleError(rule)
        if isinstance(io, Parallel) and len(io.cpu) != len(hosts):
            raise BrokenRuleError(
                f"has an additional_io_job on {counted(len(hosts), 'host')}, {io.name} is for {len(io.cpu)}"
            )
        first = {host: position for position, (host, _) in reversed(list(enumerate(flops)))}
        for host, amount in zip(hosts, computation(io, len(hosts)), strict=True):
            if host in first:
                flops[first[host]] = host, flops[first[host]][1] + amount
            else:
                flops.append((host, amount))
        return communication(io, hosts)

    def _storage_transfers(
        self, profile: Profile, executors: Sequence[int], storages: Mapping[str, int]
    ) -> Iterable[Transfer]:
        """Return the transfers from and to storage hosts."""
        if isinstance(profile, DataStaging):
            if not self._former_storages:
                raise BrokenRuleError(f"runs {profile.name}, which moves data between storages: Batsim 5 aborts on it")
            source = self._storage(profile, profile.source, storages)
            return [(source, self._storage(profile, profile.target, storages), profile.size)]
        assert isinstance(profile, ParallelHomogeneousPfs)  # noqa: S101  # the two of STORING
        if not storages and self._storages.bit_count() == 1:
            storage = self._storages.bit_length() - 1
        else:
            storage = self._storage(profile, profile.storage, storages)
        among = len(executors) if profile.is_spread and not self._former_storages else 1
        if not (self._former_storages or profile.is_spread or profile.bytes_to_write == profile.bytes_to_read):
            self.approximations.add(WRITES_READ)
        reads = [(storage, host, profile.bytes_to_read / among) for host in executors]
        return reads + [(host, storage, profile.bytes_to_write / among) for host in executors]

    def _storage(self, profile: Profile, label: str, storages: Mapping[str, int]) -> int:
        """Return the storage host with this label."""
        what = f"runs {profile.name}, which needs the storage {label!r}"
        if label not in storages:
            given = f"gives {', '.join(map(repr, storages))}" if storages else "is missing"
            rule = f"{what}: storage_mapping {given}; the platform has {self._storages.bit_count()} storage hosts"
            raise BrokenRuleError(rule)
        host = storages[label]
        if host < 0 or not self._storages >> host & 1:
            raise BrokenRuleError(f"{what}: host {host} of storage_mapping is not a storage host")
        return host

    def _check_storages_rest(self, profile: Profile, flops: Mapping[int, float]) -> None:
        """Raise BrokenRuleError if a storage host computes."""
        for host, amount in flops.items():
            if amount > 1e-10 and self._storages >> host & 1:
                raise BrokenRuleError(f"runs {profile.name}, which computes on a storage host", hosts=1 << host)


def io_of_step(site: HostsByRole, profile: Composed, profiles: Profiles, position: int) -> HostsByRole:
    """Return the site of one step of a composed profile.

    An io job, if any, must be composed of the same number of steps.
    """
    io = site.io_profile
    if io is None:
        return site
    if not isinstance(io, Composed) or len(io.sequence) != len(profile.sequence):
        raise BrokenRuleError(
            f"runs {profile.name}, which is composed of {counted(len(profile.sequence), 'profile')}:"
            " its additional_io_job must be composed of as many"
        )
    return replace(site, io_profile=profiles[io.sequence[position]])


def computation(profile: Profile, count: int) -> tuple[float, ...]:
    """Return the flops of each of `count` executors; a `parallel` profile specifies its own count."""
    if isinstance(profile, Parallel):
        return profile.cpu
    if isinstance(profile, STORING):
        return (0.0,) * count
    if isinstance(profile, ParallelHomogeneousTotal):
        return (profile.cpu / count,) * count
    assert isinstance(profile, ParallelHomogeneous), profile.type  # noqa: S101  # others are refused when they are read
    return (profile.cpu,) * count


def communication(profile: Profile, executors: Sequence[int], *, by_pairs: bool = False) -> Iterable[Transfer]:
    """Return the transfers between executors.

    The share of each ordered pair in a total is one over the number of hosts, as in Batsim 4, or with `by_pairs` one
    over the number of pairs, as in Batsim 5.
    """
    count = len(executors)
    if isinstance(profile, Parallel):
        return Matrix(executors, profile.com) if profile.com else ()
    size = 0.0
    if isinstance(profile, ParallelHomogeneous):
        size = profile.com
    elif isinstance(profile, ParallelHomogeneousTotal):
        size = profile.com / (count * max(count - 1, 1) if by_pairs else count)
    return AllToAll(executors, size) if size > 0 and count > 1 else ()


def _flops_of(step: UsageStep | SmpiAction) -> float:
    """Return the flops of an action of a rank."""
    if isinstance(step, UsageStep):
        return step.flops
    return step.amount if step.name == "compute" else 0.0


def loads_of(
    hosts: Sequence[int], flops: Mapping[int, float], speeds: Sequence[float], seconds: float
) -> tuple[float, ...]:
    """Return the used share of one core's speed on each host when its flops take `seconds`."""
    # The duration of a few flops may be 0, by which nothing can be divided.
    return tuple([flops[host] / speeds[host] / seconds if seconds and flops.get(host, 0.0) else 0.0 for host in hosts])


def ending(work: Work, walltime: float | None, done: float = 0.0) -> tuple[float, int | None]:
    """Return (seconds until the job ends, its return code or None if its walltime ends it).

    `done` is the completed part of the work in seconds, `walltime` the remaining time until it is stopped. At equality
    a delay counts as stopped and a parallel task as completed (E10, and recorded real runs).
    """
    left = work.duration - done
    if walltime is None or left < walltime:
        return left, work.return_code
    if left == walltime and not last_task(work).is_delay:
        return left, work.return_code
    return walltime, None

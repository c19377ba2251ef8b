"""Placement rules: Batsim's conditions for the hosts of an EXECUTE_JOB (E11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from batsched_py.bits import lowest_one, size_of
from batsched_py.errors import PlatformError
from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, Delay, ParallelHomogeneousTotal, Profile
from batsched_py.model.replay import RANKS_TO_HOSTS
from batsched_py.protocol.commands import AdditionalIo, ExecuteJob
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.execution import HostsByRole
from batsched_py.simulator.jobs.live_jobs import NO_SITE
from batsched_py.simulator.jobs.profiles import ProfileStore
from batsched_py.simulator.machines.machines import COMPUTING, IDLE, members
from batsched_py.simulator.referee.capacities import CapacityRules
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.text.wording import counted

#: No storage can be referenced by name.
NO_STORAGES: Final[Mapping[str, int]] = MappingProxyType({})


class PlacementRules:
    """The check of the hosts of an EXECUTE_JOB."""

    def __init__(
        self,
        context: Context,
        profiles: ProfileStore,
        cores: Sequence[int] = (),
        storages: Mapping[str, int] = NO_STORAGES,
        *,
        stranded: Mapping[int, PlatformError] = MappingProxyType({}),
        capacities: CapacityRules | None = None,
    ) -> None:
        """Take the machines; `cores` of each host, needed if executors fill hosts; `storages` by name; `capacities`.

        On `stranded` hosts no job may begin: host -> error.
        """
        self._stranded = stranded
        self.capacities = capacities or CapacityRules("", (), context.approximations, sharing=False)
        self._cores, self._named_storages = cores, storages
        self._context, self._machines, self._profiles = context, context.machines, profiles
        #: Bits of the hosts on which several jobs may run.
        self._checks = context.generation.checks_allocations
        self._sharing = self._machines.compute if context.settings.compute_sharing or not self._checks else 0
        self._sharing |= self._machines.storages if context.settings.storage_sharing else 0

    def check(self, command: ExecuteJob, job: Job, profile: Profile, lost: int = 0) -> None:
        """Raise BrokenRuleError if hosts do not exist, are in use, cannot currently run jobs, or have the wrong number.

        Hosts in `lost` may be unavailable. PlatformError if the first host has no route to the master host.
        """
        hosts, machines = command.hosts.bits, self._machines
        if self._stranded and lowest_one(hosts) in self._stranded:
            raise self._stranded[lowest_one(hosts)]
        if hosts & (machines.free | lost) != hosts:
            self._check_hosts(job, hosts & ~lost, self.capacities.shared if command.places else 0)
        unfit = self._context.meter.unfit(hosts) if self._context.meter is not None else 0
        if unfit:
            raise BrokenRuleError(
                "cannot run there: the pstate of the host is none that computes", job=job.id, hosts=unfit
            )
        given = size_of(hosts) if command.mapping is None else len(command.mapping)
        if given != job.size and self._checks and not self._is_flexible(job, profile):
            what = ("host",) if command.mapping is None else ("executor in the mapping", "executors in the mapping")
            raise BrokenRuleError(
                f"asks for {counted(job.size, 'host')}, not {counted(given, *what)}", job=job.id, hosts=hosts
            )
        if command.mapping is not None:
            beyond = [position for position in command.mapping.values() if not 0 <= position < hosts.bit_count()]
            if beyond:
                rule = f"has a mapping to position {beyond[0]} of alloc, which has {counted(hosts.bit_count(), 'host')}"
                raise BrokenRuleError(rule, job=job.id, hosts=hosts)

    def site(self, command: ExecuteJob, job: Job, profile: Profile) -> HostsByRole:
        """Return the hosts of the job by role; add its io job's profile to the workload, as in Batsim."""
        executors = () if type(profile) is Delay else self._executors(command, job)
        if command.overrides:
            return self._overridden(command, job, executors)
        if command.storage_mapping is not None or self._named_storages:
            return HostsByRole(executors, self._storages(command))
        if command.additional_io is not None:
            io = command.additional_io
            return HostsByRole(
                executors, io_profile=self._io_profile(io, job, profile), io_hosts=members(io.hosts.bits)
            )
        if RANKS_TO_HOSTS in job.members:
            return HostsByRole(executors, ranks=_ranks(job))
        return HostsByRole(executors) if executors else NO_SITE

    def _executors(self, command: ExecuteJob, job: Job) -> Sequence[int]:
        """Return the host of each executor; their number is the job's size if the number of hosts is not checked."""
        if command.mapping is not None or self._checks:
            return _executors(command)
        return self._placed(members(command.hosts.bits), command.placement, job.size)

    def _placed(self, hosts: Sequence[int], placement: str, count: int) -> Sequence[int]:
        """Place `count` executors on hosts in turn, or fill the cores of one host after the other."""
        slots = hosts
        if placement == "fill":
            slots = [host for host in hosts for _ in range(self._cores[host])]
        return [slots[executor % len(slots)] for executor in range(count)]

    def _overridden(self, command: ExecuteJob, job: Job, executors: Sequence[int]) -> HostsByRole:
        """Return a site with separate hosts for some profiles of a sequence."""
        own: dict[str, Sequence[int]] = {}
        for placed in command.overrides:
            wrong = placed.hosts.bits & ~self._machines.all
            if wrong:
                rule = f"names hosts for the profile {placed.name} that do not exist: there are {self._machines.count}"
                raise BrokenRuleError(rule, job=job.id, hosts=wrong)
            hosts = members(placed.hosts.bits)
            if placed.mapping is not None:
                own[placed.name] = [hosts[placed.mapping[executor]] for executor in range(len(placed.mapping))]
            else:
                own[placed.name] = self._placed(hosts, placed.placement, job.size)
        return HostsByRole(executors, self._storages(command), overrides=own)

    def _storages(self, command: ExecuteJob) -> Mapping[str, int]:
        """Return the storage host of each label: that in the command, or the host with that name."""
        return {**self._named_storages, **(command.storage_mapping or {})}

    def _io_profile(self, io: AdditionalIo, job: Job, profile: Profile) -> Profile:
        """Return the io job's profile, after adding it to the workload if the command contains it; BrokenRuleError."""
        what = "has an additional_io_job"
        if not io.hosts or io.hosts.bits & ~self._machines.all:
            rule = f"{what} on hosts that do not exist: there are {self._machines.count}"
            raise BrokenRuleError(rule if io.hosts else f"{what} on no host", job=job.id, hosts=io.hosts.bits)
        if io.profile is not None:
            found = self._profiles.add(job.workload, io.profile_name, io.profile)
        else:
            profiles = self._profiles.by_workload[job.workload]
            known = None if io.profile_name in profiles.forgotten else profiles.by_name.get(io.profile_name)
            if known is None:
                rule = f"{what} that names the profile {io.profile_name!r}, which does not exist"
                raise BrokenRuleError(f"{rule} (any more)" if profiles.forgotten else rule, job=job.id)
            found = known
        if isinstance(found, Composed) and not isinstance(profile, Composed):
            raise BrokenRuleError(f"{what} that is composed ({found.name}), and it is not", job=job.id)
        return found

    def _check_hosts(self, job: Job, hosts: int, shared: int) -> None:
        machines = self._machines
        if hosts & ~machines.all:
            stored = f", {machines.storages.bit_count()} of them storage hosts" if machines.storages else ""
            rule = f"names hosts that do not exist: there are {machines.count}{stored}"
            raise BrokenRuleError(rule, job=job.id, hosts=hosts & ~machines.all)
        used = hosts & machines.hosts_in[COMPUTING] & ~(self._sharing | shared)
        if used:
            kind = "storage hosts" if used & machines.storages else "hosts"
            raise BrokenRuleError(
                f"cannot run there: another job does, and {kind} are not shared", job=job.id, hosts=used
            )
        unusable = hosts & (machines.unavailable | ~(machines.hosts_in[IDLE] | machines.hosts_in[COMPUTING]))
        if unusable:
            why = machines.states(unusable)
            if unusable & machines.failed_since_request:
                why = f"{why}, since a failure after the request (--on-failure kill and requeue go on)"
            raise BrokenRuleError(f"cannot run there now: {why}", job=job.id, hosts=unusable)

    def _is_flexible(self, job: Job, profile: Profile) -> bool:
        """Return whether the profile spreads a total amount over any number of hosts."""
        if isinstance(profile, Composed):
            profiles = self._profiles.by_workload[job.workload].by_name
            return all(isinstance(profiles[step], ParallelHomogeneousTotal) for step in profile.sequence)
        return isinstance(profile, ParallelHomogeneousTotal)


def _ranks(job: Job) -> Sequence[int]:
    """Return the positions of hosts that a job gives its ranks. BrokenRuleError."""
    positions = job.members[RANKS_TO_HOSTS]
    if not isinstance(positions, list) or not all(type(one) is int and one >= 0 for one in positions):
        raise BrokenRuleError(f"has a {RANKS_TO_HOSTS} that is no list of positions from 0", job=job.id)
    return positions


def _executors(command: ExecuteJob) -> Sequence[int]:
    """Return the host of each executor."""
    hosts = members(command.hosts.bits)
    if command.mapping is None:
        return hosts
    return [hosts[command.mapping[executor]] for executor in range(len(command.mapping))]

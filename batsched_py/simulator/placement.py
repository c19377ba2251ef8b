"""Placement: whether a job may run on the hosts of an EXECUTE_JOB, by Batsim's rules (E11)."""

from __future__ import annotations

from typing import Final

from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, ParallelHomogeneousTotal, Profile
from batsched_py.protocol.commands import ExecuteJob
from batsched_py.simulator.broken_rule import BrokenRuleError
from batsched_py.simulator.library import Library
from batsched_py.simulator.machines import COMPUTING, IDLE, members
from batsched_py.simulator.stage import Stage
from batsched_py.simulator.switching import Switching

STORAGE_MAPPING: Final = "storage: storage mappings have no effect"


class Placement:
    """Judges the hosts of an EXECUTE_JOB."""

    __slots__ = ("_approximations", "_library", "_machines", "_powered", "_sharing", "_switching")

    def __init__(self, stage: Stage, library: Library, switching: Switching) -> None:
        self._machines, self._sharing = stage.machines, stage.settings.compute_sharing
        self._approximations = stage.approximations
        self._powered = stage.meter is not None
        self._library, self._switching = library, switching

    def check(self, command: ExecuteJob, job: Job, profile: Profile) -> None:
        """BrokenRuleError if a host does not exist, is in use or cannot run jobs now, or if their number is wrong."""
        hosts, machines = command.hosts.bits, self._machines
        if hosts & ~machines.free:
            self._check_hosts(job, hosts)
        unfit = hosts & ~self._switching.computing_pstate(hosts) if self._powered else 0
        if unfit:
            raise BrokenRuleError(
                "cannot run there: the pstate of the host is none that computes", job=job.id, hosts=unfit
            )
        given = hosts.bit_count() if command.mapping is None else len(command.mapping)
        if given != job.size and not self._is_flexible(job, profile):
            what = "hosts" if command.mapping is None else "executors in the mapping"
            raise BrokenRuleError(f"asks for {job.size} hosts, not {given} {what}", job=job.id, hosts=hosts)
        if command.mapping is not None:
            beyond = [position for position in command.mapping.values() if not 0 <= position < hosts.bit_count()]
            if beyond:
                rule = f"has a mapping to position {beyond[0]} of alloc, which has {hosts.bit_count()} hosts"
                raise BrokenRuleError(rule, job=job.id, hosts=hosts)
        if command.storage_mapping is not None:
            self._approximations.add(STORAGE_MAPPING)
        if command.additional_io is not None:
            raise BrokenRuleError("has an additional_io_job, which is not simulated here", job=job.id, hosts=hosts)

    def _check_hosts(self, job: Job, hosts: int) -> None:
        machines = self._machines
        if hosts & ~machines.all:
            rule = f"names hosts that do not exist: there are {machines.count}"
            raise BrokenRuleError(rule, job=job.id, hosts=hosts & ~machines.all)
        used = hosts & machines.hosts_in[COMPUTING]
        if used and not self._sharing:
            raise BrokenRuleError(
                "cannot run there: another job does, and hosts are not shared", job=job.id, hosts=used
            )
        unusable = hosts & (machines.unavailable | ~(machines.hosts_in[IDLE] | machines.hosts_in[COMPUTING]))
        if unusable:
            raise BrokenRuleError(f"cannot run there now: {machines.states(unusable)}", job=job.id, hosts=unusable)

    def _is_flexible(self, job: Job, profile: Profile) -> bool:
        """True if the profile spreads a total amount over whatever hosts it gets."""
        if isinstance(profile, Composed):
            profiles = self._library.shelves[job.workload].profiles
            return all(isinstance(profiles[step], ParallelHomogeneousTotal) for step in profile.sequence)
        return isinstance(profile, ParallelHomogeneousTotal)


def executors(command: ExecuteJob) -> list[int]:
    """Host of each executor."""
    hosts = members(command.hosts.bits)
    if command.mapping is None:
        return hosts
    return [hosts[command.mapping[executor]] for executor in range(len(command.mapping))]

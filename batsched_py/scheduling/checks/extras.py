"""What a job may be given beside its hosts: storages for its labels, or an io job, checked before it is started."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from batsched_py.display import displayed
from batsched_py.errors import PlanError
from batsched_py.hostset import format_bits
from batsched_py.model.job import Job
from batsched_py.model.profile import (
    Composed,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousTotal,
    ProfileError,
    parse_profile,
)
from batsched_py.protocol.commands import AdditionalIo, ExecuteJob
from batsched_py.protocol.dialects import Dialect
from batsched_py.scheduling.checks.registration import profile_fault
from batsched_py.state.profiles import Standing
from batsched_py.state.state import State
from batsched_py.wording import counted

#: What can be merged with a job's parallel tasks.
_MERGED: Final = (Parallel, ParallelHomogeneous, ParallelHomogeneousTotal, Composed)


def check_extras(state: State, dialect: Dialect, job: Job, command: ExecuteJob) -> None:
    """PlanError if there are two of the three extras, or if the storage mapping or the io job is wrong."""
    what = f"start {job.id} on {command.hosts}"
    if [command.mapping, command.storage_mapping, command.additional_io].count(None) < 2:
        raise PlanError(f"{what}: at most one of mapping, storage_mapping and additional_io is possible")
    if command.storage_mapping is not None:
        _check_storages(state, command.storage_mapping, what)
    if command.additional_io is not None:
        io = command.additional_io
        _check_io(state, dialect, job, io, f"{what}: additional io {displayed(io.profile_name)}")


def usable_storages(state: State) -> int:
    """Bits of the storage hosts that could take a job now."""
    stores = state.hosts.stores
    if stores and not state.storage_sharing:
        for run in state.running.values():
            stores &= ~run.hosts.bits
    return stores


def _check_storages(state: State, storage_mapping: Mapping[str, int], what: str) -> None:
    storages = state.hosts.storages
    if not storage_mapping:
        raise PlanError(f"{what}: storage_mapping must give at least one label its host")
    for label, host in storage_mapping.items():
        if host not in storages:
            known = ", ".join(map(str, storages)) or "none"
            raise PlanError(f"{what}: storage {label!r} is given host {host!r}; the storage hosts are: {known}")


def _check_io(state: State, dialect: Dialect, job: Job, io: AdditionalIo, what: str) -> None:
    """A parallel task on hosts that exist, known in the workload; if it is described, a new profile by their rules."""
    standing = state.profiles.standing(job.workload, io.profile_name)
    known = state.profiles.members(job.workload, io.profile_name)
    wrong = io.hosts.bits & ~(state.hosts.all | state.hosts.stores)
    if wrong or not io.hosts:
        raise PlanError(f"{what}: " + (f"{format_bits(wrong)} not in the platform" if wrong else "it needs a host"))
    if standing is not (Standing.THERE if io.profile is None else Standing.UNKNOWN):
        raise PlanError(f"{what}: {standing}")
    members = known if io.profile is None else io.profile
    if io.profile is not None:
        profiles = state.profiles
        fault = profile_fault(
            io.profile_name, io.profile, dialect, lambda step: profiles.members(job.workload, step) is not None
        )
        if fault is not None:
            raise PlanError(f"{what}: {fault}")
    try:
        profile = parse_profile(io.profile_name, members or {})
    except ProfileError as error:
        raise PlanError(f"{what}: {error.field} {error.rule}") from None
    if not isinstance(profile, _MERGED):
        raise PlanError(f"{what}: it must be a parallel task, not of type {profile.type}")
    if isinstance(profile, Parallel) and len(profile.cpu) != len(io.hosts):
        raise PlanError(f"{what}: it is for {counted(len(profile.cpu), 'host')}, not for {len(io.hosts)}")

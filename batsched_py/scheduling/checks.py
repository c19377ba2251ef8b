"""Checks of the verbs of the Plan: starts of jobs, registrations, changes of state.

Batsim aborts or crashes on a command that breaks one of them, so each is checked before anything is booked or sent. A
function named `..._fault` returns the broken rule, or None.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from batsched_py.bits import format_bits
from batsched_py.errors import PlanError
from batsched_py.hostset import HostSet
from batsched_py.model.conditions import conditions_in, has_conditions
from batsched_py.model.job import Job
from batsched_py.model.profile import (
    ALL_TRANSFERS,
    Composed,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousTotal,
    Profile,
    parse_profile,
)
from batsched_py.protocol.commands import (
    RUNNING,
    AdditionalIo,
    ChangeJobState,
    ExecuteJob,
    ExecutorPlacement,
    KillJob,
    PlacedProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMessage,
)
from batsched_py.protocol.dialect import V4, V14, Dialect
from batsched_py.protocol.events import COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, REJECTED, Members, Query
from batsched_py.protocol.fields import check_job_id, is_job_number, read_job
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import LATEST, LONGEST, NAME_RULE, TOO_LONG, breaks_csv
from batsched_py.scheduling.remainder import Lookup
from batsched_py.state.hosts import Hosts
from batsched_py.state.profiles import ProfileStatus
from batsched_py.state.state import State
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import counted

#: Dialect -> (states a waiting control job may be given, states a running one may): all others make Batsim abort.
_CONTROL_STATES: Final = {
    V14: ((RUNNING, REJECTED), (COMPLETED_SUCCESSFULLY, COMPLETED_KILLED)),
    V4: ((RUNNING,), ()),
}
#: Command, or argument of a verb, that Batsim 5 lacks -> the reason, and the alternative.
_NOT_IN_V5: Final[Mapping[Any, str]] = {
    SetJobMetadata: "Batsim 5 keeps no metadata of jobs",
    ToJobMessage: "in Batsim 5 no job receives messages",
    ChangeJobState: "in Batsim 5 only Batsim changes the state of a job",
    Query: "Batsim 5 answers no questions; watch_energy(period) has it tell the energy",
    AdditionalIo: "Batsim 5 has no additional input and output for jobs",
    "continue": "in Batsim 5 it is final",
}
#: Command -> the reason why WRENCH lacks it.
_NOT_IN_WRENCH: Final[Mapping[Any, str]] = {
    RejectJob: "WRENCH ignores rejections, and the job would wait forever",
    KillJob: "WRENCH ignores kills, and the job would run on",
    SetResourceState: "WRENCH has no power states",
    Query: "WRENCH answers no questions",
}
#: Profiles that can be merged with a job's parallel tasks.
_MERGED: Final = (Parallel, ParallelHomogeneous, ParallelHomogeneousTotal, Composed)
#: The types of profiles of Batsim 3 and 4.
_TYPES: Final = frozenset(
    {
        *("delay", "parallel", "parallel_homogeneous", "parallel_homogeneous_total", "composed"),
        *("parallel_homogeneous_pfs", "data_staging", "send", "recv", "smpi", "usage_trace", "trace"),
    }
)
#: Batsim 1's names of those that begin with "parallel"; later versions do not know them.
_ONLY_BATSIM_1: Final = frozenset(
    {"msg_par", "msg_par_hg", "msg_par_hg_tot", "msg_par_hg_pfs", "msg_par_hg_pfs_tiers", "msg_par_hg_pfs0"}
)
#: Types of profiles that may move data between storages, themselves or by a step.
_MAY_STAGE: Final = frozenset({"composed", "data_staging"})
#: Types of profiles that only compute if they run on one host.
_COMPUTES: Final = frozenset({"parallel", "parallel_homogeneous", "parallel_homogeneous_total"})


def insist(what: str, fault: str | None) -> None:
    """Raise PlanError if a rule is broken; `what` names the verb, the job and the hosts."""
    if fault is not None:
        raise PlanError(f"{what}: {fault}")


def missing(dialect: Dialect, what: Any) -> str | None:
    """Return the reason why the peer lacks something that Batsim 1 to 4 have; None if it has it."""
    if dialect.is_wrench:
        return None if what in dialect.commands.writers else _NOT_IN_WRENCH.get(what, "WRENCH has nothing like it")
    return _NOT_IN_V5.get(what) if dialect.is_v5 else None


def not_waiting(state: State, job_id: str) -> str:
    """Describe the state of a job that is not in the queue."""
    if job_id in state.running:
        return f"it runs already, on {state.running[job_id].hosts}"
    if job_id in state.control:
        return "it was set to RUNNING, in Batsim's books only"
    if job_id in state.held:
        return f"it {state.held.reason(job_id)}"
    if job_id in state.registered:
        return "it was registered, and Batsim has not submitted it yet"
    return "it has ended" if job_id in state.known else "no such job was submitted"


def not_usable(hosts: Hosts, wrong: int) -> str:
    """Return the reason why the hosts of these bits cannot take a job; without bits, that a job needs a host."""
    reasons = {
        "not in the platform": wrong & ~(hosts.all | hosts.stores),
        "unavailable": wrong & hosts.unavailable,
        "asleep": wrong & hosts.asleep,
        "switching": wrong & hosts.switching,
        "running a job": wrong & (hosts.busy | hosts.stores),
        "running tasks": wrong & hosts.part,
    }
    named = [f"{format_bits(bits)} {reason}" for reason, bits in reasons.items() if bits]
    return ", ".join(named) or "it needs at least one host"


def mapping_fault(job: Job, hosts: HostSet, mapping: Mapping[int, int]) -> str | None:
    """Check a mapping of the job's executors to positions among its hosts."""
    if len(mapping) != job.size or sorted(mapping) != list(range(job.size)):
        return f"the mapping must place executors 0 to {job.size - 1}"
    if any(type(position) is not int or not 0 <= position < len(hosts) for position in mapping.values()):
        return f"the mapping must name positions 0 to {len(hosts) - 1}"
    return None


def placement_fault(
    dialect: Dialect, job: Job, hosts: HostSet, mapping: Mapping[int, int] | None, placement: ExecutorPlacement
) -> str | None:
    """Check that a strategy places executors on at most as many hosts as there are executors."""
    if placement not in ("spread", "fill"):
        return f"the placement must be spread or fill, not {shown(placement)}"
    if mapping is not None:
        return "a mapping and a placement do not go together"
    if len(hosts) > job.size:
        return f"its {counted(job.size, 'executor')} cannot be placed on {len(hosts)} hosts"
    if placement == "fill" and not dialect.is_v5:
        return "the placement fill needs Batsim 5, which reports the cores of hosts"
    return None


def overrides_fault(state: State, overrides: Sequence[PlacedProfile]) -> str | None:
    """Check the hosts of profiles of a sequence."""
    for placed in overrides:
        wrong = placed.hosts.bits & ~(state.hosts.all | state.hosts.stores)
        if wrong or not placed.hosts:
            where = f"{format_bits(wrong)} not in the platform" if wrong else "it needs a host"
            return f"profile {displayed(placed.name)}: {where}"
    return None


def turned_hosts(hosts: Hosts, chosen: HostSet, pstate: int) -> int:
    """Return the bits of the hosts to be switched on or off, without those that change between computing pstates."""
    asleep = chosen.bits & hosts.asleep
    for number in chosen:
        if str(pstate) in hosts.by_id[number].sleep_pstates:
            asleep |= 1 << number
    return asleep


def switch_fault(hosts: Hosts, chosen: HostSet, pstate: int) -> str | None:
    """Check a switch of these hosts to a pstate: only idle hosts may be put to sleep."""
    if not chosen.bits or chosen.bits & ~hosts.all:
        return "these are not hosts of the platform"
    if chosen.bits & hosts.switching:
        return f"{format_bits(chosen.bits & hosts.switching)} is switching"
    described = [hosts.by_id[number] for number in chosen]
    for host in described:
        if not 0 <= pstate < host.pstate_count:
            known = f"has pstates 0 to {host.pstate_count - 1}" if host.pstate_count else "describes no power states"
            return f"host {host.id} {known}"
        if str(pstate) in host.transition_pstates:
            return f"for host {host.id} this pstate only models switching off or on"
    sleeps = any(str(pstate) in host.sleep_pstates for host in described)
    if sleeps and chosen.bits & hosts.busy:
        return f"{format_bits(chosen.bits & hosts.busy)} runs a job"
    if sleeps and chosen.bits & hosts.asleep:
        return f"{format_bits(chosen.bits & hosts.asleep)} sleeps already"
    return None


def check_extras(state: State, dialect: Dialect, job: Job, command: ExecuteJob) -> None:
    """Check the extras of a start; PlanError if two of the three extras are given, or one is invalid."""
    what = f"start {job.id} on {command.hosts}"
    if [command.mapping, command.storage_mapping, command.additional_io].count(None) < 2:
        raise PlanError(f"{what}: at most one of mapping, storage_mapping and additional_io is possible")
    if command.storage_mapping is not None:
        _check_storages(state, command.storage_mapping, what)
    if command.additional_io is not None:
        io = command.additional_io
        _check_io(state, dialect, job, io, f"{what}: additional io {displayed(io.profile_name)}")


def usable_storages(state: State) -> int:
    """Return the bits of the storage hosts that could take a job now."""
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
    """Require a parallel task on hosts that exist, known in the workload or described as a new profile must be."""
    status = state.profiles.status(job.workload, io.profile_name)
    known = state.profiles.members(job.workload, io.profile_name)
    wrong = io.hosts.bits & ~(state.hosts.all | state.hosts.stores)
    if wrong or not io.hosts:
        raise PlanError(f"{what}: " + (f"{format_bits(wrong)} not in the platform" if wrong else "it needs a host"))
    if status is not (ProfileStatus.THERE if io.profile is None else ProfileStatus.UNKNOWN):
        raise PlanError(f"{what}: {status}")
    members = known if io.profile is None else io.profile
    if io.profile is not None:
        profiles = state.profiles
        lookup = partial(profiles.members, job.workload)
        insist(what, profile_fault(io.profile_name, typed_profile(io.profile_name, io.profile), dialect, lookup))
    try:
        profile = parse_profile(io.profile_name, members or {})
    except FieldError as error:
        raise PlanError(f"{what}: {error.path} {error.rule}") from None
    if not isinstance(profile, _MERGED):
        raise PlanError(f"{what}: it must be a parallel task, not of type {profile.type}")
    if isinstance(profile, Parallel) and len(profile.cpu) != len(io.hosts):
        raise PlanError(f"{what}: it is for {counted(len(profile.cpu), 'host')}, not for {len(io.hosts)}")


def control_job_fault(dialect: Dialect, state: str, why: str | None, *, runs: bool) -> str | None:
    """Check a change to `state` of a control job, for which nothing is executed: it waits, or `runs` for Batsim."""
    allowed = _CONTROL_STATES[dialect][runs]
    if state not in allowed:
        may = f"it may only become {' or '.join(allowed)}" if allowed else "nothing may end it, Batsim would abort"
        return f"in protocol {dialect.name} {may}"
    if why is not None and state != COMPLETED_KILLED:
        return f"only {COMPLETED_KILLED} has a reason"
    return None


def typed_profile(name: str, members: Members) -> Profile | str:
    """Return the typed profile, or the rule that its members break."""
    if not isinstance(members, Mapping):
        return f"must be an object, not {shown(members)}"
    try:
        return parse_profile(name, members)
    except FieldError as error:
        return f"{error.path}: {error.rule}"


def profile_fault(name: str, profile: Profile | str, dialect: Dialect, lookup: Lookup) -> str | None:
    """Check a new profile, as from `typed_profile`; `lookup` finds the others of its workload."""
    if not name or breaks_csv(name):
        return f"the name {NAME_RULE if name else 'must not be empty'}"
    if isinstance(profile, str):
        return profile
    if profile.type not in _TYPES and (not dialect.is_v14 or profile.type not in _ONLY_BATSIM_1):
        what = "a type of Batsim 1 only" if profile.type in _ONLY_BATSIM_1 else "not a type of profile"
        return f"type: {shown(profile.type)} is {what}"
    if profile.lacks_transfers:
        return f"com: {ALL_TRANSFERS}"
    if isinstance(profile, Delay) and profile.delay > LONGEST:
        return f"delay: {TOO_LONG} not {shown(profile.delay)}"
    if isinstance(profile, Composed):
        if not dialect.runs_registered_sequences:
            return "type: it is composed, and Batsim 4 crashes when it runs a composed profile that was registered"
        missing = [step for step in profile.sequence if lookup(step) is None]
        if missing:
            return f"seq: names the profile {shown(missing[0])}, which does not exist"
    return None


def staging_fault(name: str, lookup: Lookup) -> str | None:
    """Return the fault of a profile that, itself or by a step, moves data between storages: Batsim 5 aborts on it."""
    first = lookup(name)
    if first is None or first.get("type") not in _MAY_STAGE:
        return None
    if any(members.get("type") == "data_staging" for members in _with_steps(name, lookup)):
        return "moves data between storages (data_staging), on which Batsim 5 aborts"
    return None


def idle_fault(job: Job, lookup: Lookup) -> str | None:
    """Return the fault of a job on which Batsim 5 aborts: a task of one executor that computes nothing."""
    if job.size != 1:
        return None
    for members in _with_steps(job.profile, lookup):
        if members.get("type") in _COMPUTES and members.get("cpu") in (0, [0]):
            return "runs a parallel task on one host with 0 flops, on which Batsim 5 aborts"
    return None


def only_storage(state: State, job: Job) -> Mapping[str, int] | None:
    """Return the only storage host for the labels of a job's profile that are no host's name; None if there are none.

    Batsim 4 uses it for any label, Batsim 5 aborts.
    """
    if len(state.hosts.storages) != 1:
        return None
    ((number, host),) = state.hosts.storages.items()
    steps = _with_steps(job.profile, partial(state.profiles.members, job.workload))
    stored = [members for members in steps if members.get("type") == "parallel_homogeneous_pfs"]
    labels = {str(members.get("storage", members.get("host", "pfs"))) for members in stored}
    return dict.fromkeys(sorted(labels - {host.name}), number) or None


def _with_steps(name: str, lookup: Lookup) -> Iterator[Members]:
    """Iterate over the members of a profile and of all its steps, each once; unknown ones are omitted."""
    wanted, seen = [name], {name}
    while wanted:
        members = lookup(wanted.pop()) or {}
        yield members
        if members.get("type") == "composed":
            steps = [step for step in members.get("seq", ()) if step not in seen]
            seen.update(steps)
            wanted += steps


def job_fault(job: Job, dialect: Dialect, *, is_read: bool) -> str | None:
    """Check a new job, except for the existence of its profile; with `is_read` it was read from its members."""
    try:
        check_job_id(job.id)
        described = job if is_read else read_job(job.id, dict(job.members))
    except FieldError as error:
        return f"{error.path.removeprefix('job.')}: {error.rule}"
    if described != job:
        return "its members say something else than its attributes; make it with Job.create"
    if breaks_csv(job.id):
        return f"job_id: {NAME_RULE}"
    if dialect.is_v14 and not is_job_number(job.name):
        return f"job_id: Batsim 1 names jobs by whole numbers (1 in {job.workload}!1), not {shown(job.name)}"
    if job.members.get("id", job.id) not in (job.id, job.name):
        return f"id: must be that of the job, not {shown(job.members['id'])}"
    if job.size == 0:
        return "it needs at least one host, Batsim runs no job on none"
    for what, value, most in (("walltime", job.walltime, LONGEST), ("subtime", job.submit_time, LATEST + LONGEST)):
        if value is not None and not (math.isfinite(value) and value <= most):
            return f"{what}: must be at most {most} s, not {shown(value)}"
    return None


def conditions_fault(state: State, job: Job) -> str | None:
    """Check the conditions of a new job on other jobs, if the engine obeys them."""
    if not state.holds or not has_conditions(job):
        return None
    try:
        conditions_in(job.members)
    except FieldError as error:
        return f"{error.path}: {error.rule}"
    return None


def pair_fault(job: Job, profile: Profile | str, lookup: Lookup) -> str | None:
    """Check a job together with its profile, as from `typed_profile`, and its steps, which `lookup` finds.

    Invalid ones are left out: Batsim has accepted those of a static workload.
    """
    wanted = [profile]
    seen: set[str] = set()
    while wanted:
        profile = wanted.pop()
        if isinstance(profile, Parallel) and len(profile.cpu) != job.size:
            return f"profile {job.profile} is for {counted(len(profile.cpu), 'host')}, the job asks for {job.size}"
        if isinstance(profile, Composed):
            steps = [step for step in profile.sequence if step not in seen]
            seen.update(steps)
            wanted += [typed_profile(step, found) for step in steps if (found := lookup(step)) is not None]
    return None

"""The rules of the contract for algorithms, and their check on a finished run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.protocol.events import COMPLETED_KILLED, COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED
from batsched_py.results.records import JobRecord
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case, JobSpec
from batsched_py.testing.play import Played
from batsched_py.text.wording import counted, seconds

#: Seconds by which times in messages may be rounded.
ROUNDING: Final = 1e-4


class Liberties(Struct, frozen=True):
    """Exceptions from the rules that an algorithm may claim.

    Attributes:
        may_kill: it kills jobs that would have continued.
        may_reject: it rejects jobs that could run.
        may_leave: it leaves jobs waiting forever, although they could run.
        particular_hosts: it starts jobs on particular sets of hosts only, such as neighbours, or hosts with low power:
            when hosts are lost, any job may wait forever.
    """

    may_kill: bool = False
    may_reject: bool = False
    may_leave: bool = False
    particular_hosts: bool = False


class ContractTrial(Struct, frozen=True):
    """A run to check: the case, its results, and the algorithm with its exceptions."""

    case: Case
    played: Played
    scheduler: type[Scheduler[Any]]
    liberties: Liberties = Liberties()

    @property
    def ran(self) -> list[JobRecord]:
        """Return the records of the jobs that were not rejected."""
        return [ending for ending in self.played.endings if not ending.rejected]


def broken_rule(trial: ContractTrial) -> str:
    """Return the first violation of a rule, as text; "" if there is none."""
    return next((broken for rule in RULES for broken in rule(trial)), "")


def _each_job_ends_once(trial: ContractTrial) -> Sequence[str]:
    ended: dict[str, JobRecord] = {}
    for ending in trial.played.endings:
        if ending.job.id in ended:
            return [f"{ending.job.id} ended twice: {ended[ending.job.id].state}, then {ending.state}"]
        ended[ending.job.id] = ending
    left = [job_id for job_id in trial.case.job_ids() if job_id not in ended]
    deadlock = trial.played.deadlock
    if not deadlock:
        return [f"{left[0]} never ended, yet the run did"] if left else []
    if trial.liberties.may_leave or _is_excused(trial, left):
        return []
    return [f"the run does not end: {deadlock}"]


def _is_excused(trial: ContractTrial, left: Sequence[str]) -> bool:
    """Return True if a remaining job needs more hosts than will ever be available: others may wait behind it.

    The same applies to dynamic jobs of the algorithm, which are unknown here, and to the end of their registration.
    """
    there = trial.case.hosts - len(trial.case.lost)
    if trial.case.lost and (trial.liberties.particular_hosts or trial.case.dynamic):
        return True
    jobs = trial.case.job_ids()
    return any(there < jobs[job_id][1] <= trial.case.hosts for job_id in left)


def _only_some_are_rejected(trial: ContractTrial) -> Sequence[str]:
    if trial.liberties.may_reject:
        return []
    jobs = trial.case.job_ids()
    return [
        f"{ending.job.id} of {counted(ending.job.size, 'host')} was rejected, though it could run;"
        " may_reject would allow it"
        for ending in trial.played.endings
        if ending.rejected and ending.job.id in jobs and _can_run(trial, jobs[ending.job.id])
    ]


def _can_run(trial: ContractTrial, spec: JobSpec) -> bool:
    """Return True if neither the machine nor the needs of the algorithm prevent the job."""
    _, size, _, walltime = spec
    fits = size <= trial.case.hosts - len(trial.case.lost) or trial.scheduler.oversubscribes
    return fits and not (walltime is None and trial.scheduler.needs_walltime)


def _each_job_runs_its_time(trial: ContractTrial) -> Sequence[str]:
    jobs = trial.case.job_ids()
    broken = []
    for ending in trial.ran:
        if ending.job.id not in jobs:
            continue
        _, _, run, walltime = jobs[ending.job.id]
        if ending.state == COMPLETED_KILLED:
            if not trial.liberties.may_kill:
                broken.append(f"{ending.job.id} was killed; may_kill would allow it")
            continue
        limit = run if walltime is None else min(run, walltime)
        expected = COMPLETED_SUCCESSFULLY if walltime is None or run < walltime else COMPLETED_WALLTIME_REACHED
        if ending.state != expected or abs(ending.execution - limit) > ROUNDING:
            broken.append(
                f"{ending.job.id} ended as {ending.state} after {seconds(ending.execution)} s, "
                f"not {expected} after {seconds(limit)}"
            )
    return broken


def _no_job_starts_before_it_came(trial: ContractTrial) -> Sequence[str]:
    return [
        f"{ending.job.id} was started at t={seconds(ending.start)}, submitted at t={seconds(ending.job.submit_time)}"
        for ending in trial.ran
        if ending.start < ending.job.submit_time - ROUNDING
    ]


def _each_job_has_its_hosts(trial: ContractTrial) -> Sequence[str]:
    there = HostSet.range(trial.case.hosts)
    if trial.scheduler.oversubscribes:
        return []
    return [
        f"{ending.job.id} of {counted(ending.job.size, 'host')} ran on {ending.hosts}"
        for ending in trial.ran
        if len(ending.hosts) != ending.job.size or not ending.hosts <= there
    ]


def _no_host_runs_two_jobs(trial: ContractTrial) -> Sequence[str]:
    if trial.scheduler.oversubscribes:
        return []
    ran = sorted(trial.ran, key=lambda ending: ending.start)
    return [
        f"{one.job.id} and {other.job.id} ran on hosts {one.hosts & other.hosts} at t={seconds(other.start)}"
        for one, other in combinations(ran, 2)
        if other.start < one.finish - ROUNDING and not one.hosts.isdisjoint(other.hosts)
    ]


def _no_job_starts_on_a_failed_host(trial: ContractTrial) -> Sequence[str]:
    """Check runs whose messages take no time, except at the instant of a failure, whose message may come later."""
    if trial.case.peer != "simulator":
        return []
    return [
        f"{ending.job.id} was started at t={seconds(ending.start)} on {ending.hosts}, of which {hosts} had failed"
        for begin, hosts, end in trial.case.outages
        for ending in trial.ran
        if begin < ending.start
        and (end is None or ending.start < end)
        and not ending.hosts.isdisjoint(HostSet.parse(hosts))
    ]


#: Each returns its violations, as text.
RULES: Final[Sequence[Callable[[ContractTrial], Sequence[str]]]] = (
    _each_job_ends_once,
    _only_some_are_rejected,
    _each_job_runs_its_time,
    _no_job_starts_before_it_came,
    _each_job_has_its_hosts,
    _no_host_runs_two_jobs,
    _no_job_starts_on_a_failed_host,
)

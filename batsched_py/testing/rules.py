"""The rules that every algorithm must keep, whatever it is for; judged by what a run left behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    REJECTED,
)
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case, JobSpec
from batsched_py.testing.ending import Ending
from batsched_py.testing.play import Played
from batsched_py.wording import counted

#: Seconds by which times may be off that went over the wire.
ROUNDING: Final = 1e-4


class Liberties(Struct, frozen=True):
    """What an algorithm may do that others may not.

    Attributes:
        may_kill: it kills jobs that would have run on.
        may_reject: it rejects jobs that could run.
        may_leave: it leaves jobs waiting for ever, though they could run.
        particular_hosts: it starts jobs on particular sets of hosts only, as on neighbours, or on those that draw
            little: when hosts are lost, any job may wait for ever.
    """

    may_kill: bool = False
    may_reject: bool = False
    may_leave: bool = False
    particular_hosts: bool = False


class Trial(Struct, frozen=True):
    """What is judged: a run, and what was played and by whom."""

    case: Case
    played: Played
    scheduler: type[Scheduler[Any]]
    liberties: Liberties = Liberties()


def broken_rule(trial: Trial) -> str:
    """The first rule that the run breaks, in words; "" if it keeps them all."""
    return next((broken for rule in RULES for broken in rule(trial)), "")


def _each_job_ends_once(trial: Trial) -> Sequence[str]:
    ended: dict[str, Ending] = {}
    for ending in trial.played.endings:
        if ending.job.id in ended:
            return [f"{ending.job.id} ended twice: {ended[ending.job.id].state}, then {ending.state}"]
        ended[ending.job.id] = ending
    left = [job_id for job_id in trial.case.job_ids() if job_id not in ended]
    standstill = trial.played.standstill
    if not standstill:
        return [f"{left[0]} never ended, yet the run did"] if left else []
    if trial.liberties.may_leave or _is_excused(trial, left):
        return []
    return [f"the run does not end: {standstill}"]


def _is_excused(trial: Trial, left: Sequence[str]) -> bool:
    """True if a job that is left needs more hosts than will ever be there again: others may wait behind it.

    So may the algorithm's own jobs, which nobody here knows, and with them the end of their registration.
    """
    there = trial.case.hosts - len(trial.case.lost)
    if trial.case.lost and (trial.liberties.particular_hosts or trial.case.dynamic):
        return True
    jobs = trial.case.job_ids()
    return any(there < jobs[job_id][1] <= trial.case.hosts for job_id in left)


def _only_some_are_rejected(trial: Trial) -> Sequence[str]:
    if trial.liberties.may_reject:
        return []
    jobs = trial.case.job_ids()
    return [
        f"{ending.job.id} of {counted(ending.job.size, 'host')} was rejected, though it could run;"
        " may_reject would allow it"
        for ending in trial.played.endings
        if ending.state == REJECTED and ending.job.id in jobs and _can_run(trial, jobs[ending.job.id])
    ]


def _can_run(trial: Trial, spec: JobSpec) -> bool:
    """True if neither the machine nor what the algorithm needs is against it."""
    _, size, _, walltime = spec
    fits = size <= trial.case.hosts - len(trial.case.lost) or trial.scheduler.oversubscribes
    return fits and not (walltime is None and trial.scheduler.needs_walltime)


def _each_job_runs_its_time(trial: Trial) -> Sequence[str]:
    jobs = trial.case.job_ids()
    broken = []
    for ending in trial.played.endings:
        if ending.job.id not in jobs or ending.state == REJECTED:
            continue
        _, _, run, walltime = jobs[ending.job.id]
        if ending.state == COMPLETED_KILLED:
            if not trial.liberties.may_kill:
                broken.append(f"{ending.job.id} was killed; may_kill would allow it")
            continue
        limit = run if walltime is None else min(run, walltime)
        expected = COMPLETED_SUCCESSFULLY if walltime is None or run < walltime else COMPLETED_WALLTIME_REACHED
        lasted = ending.finish - ending.start
        if ending.state != expected or abs(lasted - limit) > ROUNDING:
            broken.append(f"{ending.job.id} ended as {ending.state} after {lasted:g} s, not {expected} after {limit:g}")
    return broken


def _no_job_starts_before_it_came(trial: Trial) -> Sequence[str]:
    return [
        f"{ending.job.id} was started at t={ending.start:g}, submitted at t={ending.job.submit_time:g}"
        for ending in trial.played.endings
        if ending.state != REJECTED and ending.start < ending.job.submit_time - ROUNDING
    ]


def _each_job_has_its_hosts(trial: Trial) -> Sequence[str]:
    there = HostSet.range(trial.case.hosts)
    if trial.scheduler.oversubscribes:
        return []
    return [
        f"{ending.job.id} of {counted(ending.job.size, 'host')} ran on {ending.hosts}"
        for ending in trial.played.endings
        if ending.state != REJECTED and (len(ending.hosts) != ending.job.size or not ending.hosts <= there)
    ]


def _no_host_runs_two_jobs(trial: Trial) -> Sequence[str]:
    if trial.scheduler.oversubscribes:
        return []
    ran = sorted((end for end in trial.played.endings if end.state != REJECTED), key=lambda end: end.start)
    return [
        f"{one.job.id} and {other.job.id} ran on hosts {one.hosts & other.hosts} at t={other.start:g}"
        for one, other in combinations(ran, 2)
        if other.start < one.finish - ROUNDING and not one.hosts.isdisjoint(other.hosts)
    ]


def _no_job_starts_on_a_failed_host(trial: Trial) -> Sequence[str]:
    """Only where Batsim tells at once what it knows, and not at the instant of the failure, which may come later."""
    if trial.case.peer != "simulator":
        return []
    return [
        f"{ending.job.id} was started at t={ending.start:g} on {ending.hosts}, of which {hosts} had failed"
        for begin, hosts, end in trial.case.outages
        for ending in trial.played.endings
        if ending.state != REJECTED
        and begin < ending.start
        and (end is None or ending.start < end)
        and not ending.hosts.isdisjoint(HostSet.parse(hosts))
    ]


#: Each yields what breaks it, in words.
RULES: Final[Sequence[Callable[[Trial], Sequence[str]]]] = (
    _each_job_ends_once,
    _only_some_are_rejected,
    _each_job_runs_its_time,
    _no_job_starts_before_it_came,
    _each_job_has_its_hosts,
    _no_host_runs_two_jobs,
    _no_job_starts_on_a_failed_host,
)

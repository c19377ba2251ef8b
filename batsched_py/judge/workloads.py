"""The workloads of the judge: a fixed set with a version.

Each contract workload is a situation that algorithms get wrong. A change of a number here, or of a rule, is a new
version: findings and scores are comparable within a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.model.job import Job
from batsched_py.model.workload import Workload
from batsched_py.testing.case import Case, JobSpec
from batsched_py.testing.edges import crowd
from batsched_py.traces.lublin import Drawn

#: Version of the workloads and of the rules.
VERSION: Final = 1
#: Number of hosts of the contract workloads.
HOSTS: Final = 6
#: Number of hosts and of jobs of the workloads of the scores.
SCORE_HOSTS: Final = 32
SCORE_JOBS: Final = 120
#: Numbers of waiting jobs at which the cost of a decision is counted.
QUEUES: Final = (30, 60, 120)
#: Number of jobs of the workload in which memory is measured.
STREAM: Final = 300


class ChainedCase(Case, frozen=True, kw_only=True, omit_defaults=True, repr_omit_defaults=True):
    """A case in which jobs depend on others.

    Attributes:
        after: (job, the job on whose success it depends), by place in `jobs`.
    """

    after: tuple[tuple[int, int], ...] = ()

    def workload(self) -> Workload:
        """Return the workload, with the member `depends_on`."""
        plain = super().workload()
        needed = {f"{job:03d}": f"{other:03d}" for job, other in self.after}
        return replace(plain, jobs=tuple(_depending(job, needed) for job in plain.jobs))


class ContractWorkload(Struct, frozen=True):
    """A workload of the contract: its situation in words, and the case."""

    about: str
    case: Case


def _depending(job: Job, needed: Mapping[str, str]) -> Job:
    if job.name not in needed and job.id not in needed:
        return job
    other = needed.get(job.id) or needed[job.name]
    return replace(job, members={**job.members, "depends_on": [other]})


def _mixed(seed: int, count: int, *, exact: bool = False) -> tuple[JobSpec, ...]:
    """Return jobs of different sizes that arrive one by one, each ending before its walltime unless `exact`."""
    chance = Random(seed)
    jobs = []
    for number in range(count):
        run = chance.randint(5, 60)
        jobs.append((number * 7 + 1, chance.randint(1, HOSTS), run, run if exact else run + chance.randint(1, 90)))
    return tuple(jobs)


def _burst(count: int, *, exact: bool) -> tuple[JobSpec, ...]:
    return tuple((0, size, run, limit) for _, size, run, limit in _mixed(11, count, exact=exact))


#: A job of all hosts among a stream of small ones, and a small one among large ones.
_SMALL_STREAM: Final = ((20, HOSTS, 10, 11), *((5 * number, 1, 21, 22) for number in range(200)))
_LARGE_STREAM: Final = ((20, 1, 10, 11), *((9 * number, HOSTS, 10, 11) for number in range(120)))

#: Name -> workload, in the order in which they are played: a fault that shows everywhere is reported for the first.
CONTRACT_WORKLOADS: Final[Mapping[str, ContractWorkload]] = {
    "plain": ContractWorkload("20 jobs that arrive one by one", Case(jobs=_mixed(1, 20))),
    "empty": ContractWorkload("no jobs", Case()),
    "one-host": ContractWorkload(
        "a platform of one host", Case(hosts=1, jobs=((0, 1, 3, 5), (1, 1, 5, 6), (2, 1, 1, 2), (9, 1, 2, 9)))
    ),
    "equal-times": ContractWorkload("30 jobs submitted at one instant", Case(jobs=_burst(30, exact=False))),
    "fractional-times": ContractWorkload(
        "times that are no whole numbers",
        Case(jobs=((0.25, 2, 2.5, 4.5), (1 / 3, 6, 1.125, 2.75), (20 / 3, 3, 0.5, 9.25), (7.5, 3, 2.25, 3.5))),
    ),
    "short-jobs": ContractWorkload(
        "run times and walltimes far below a second", Case(jobs=((0, 6, 0.001, 0.5), (0, 6, 0.1, 0.2), (1, 1, 0.01, 1)))
    ),
    "no-walltime": ContractWorkload(
        "jobs without a walltime", Case(jobs=((0, 4, 9, None), (1, 6, 5, None), (2, 1, 20, None), (3, 2, 4, 5)))
    ),
    "walltimes": ContractWorkload(
        "jobs that are stopped at their walltimes",
        Case(jobs=((0, 6, 20, 10), (1, 3, 20, 10), (2, 4, 20, 15), (3, 6, 9, 3), (30, 6, 5, 9))),
    ),
    "whole-machine": ContractWorkload(
        "jobs that request all hosts", Case(jobs=((0, 6, 3, 5), (0, 6, 5, 7), (1, 6, 2, 4), (20, 6, 9, 10)))
    ),
    "too-large": ContractWorkload(
        "jobs larger than the platform", Case(jobs=((0, 7, 1, 2), (1, 60, 1, None), (2, 6, 3, 5), (3, 9, 1, 2)))
    ),
    "outage": ContractWorkload(
        "hosts that become unavailable, and available again",
        Case(
            jobs=((0, 2, 5, 9), (12, 6, 5, 9), (13, 1, 5, 9), (14, 2, 30, 40), (70, 6, 5, 9)),
            outages=((10, "0-1", 40),),
        ),
    ),
    "lost-hosts": ContractWorkload(
        "hosts that become unavailable for good",
        Case(jobs=((0, 2, 5, 9), (12, 4, 5, 9), (13, 1, 5, 9), (14, 2, 5, 9)), outages=((10, "0-1", None),)),
    ),
    "failed-job": ContractWorkload(
        "a host that becomes unavailable while a job runs on it",
        Case(jobs=((0, 6, 20, 30), (1, 2, 5, 9), (50, 6, 5, 9)), outages=((10, "0", 40),)),
    ),
    "slow-messages": ContractWorkload(
        "messages that take time", replace(crowd(HOSTS, "messages", 1), outages=(), peer="messages")
    ),
    "torn-instants": ContractWorkload(
        "events of one instant in several messages", replace(crowd(HOSTS, "torn", 2), outages=())
    ),
    "late-news": ContractWorkload("events that are announced late", replace(crowd(HOSTS, "late", 3), outages=())),
    "chain": ContractWorkload(
        "jobs that depend on other jobs",
        ChainedCase(jobs=((0, 2, 20, 30), (1, 2, 5, 9), (2, 1, 5, 9), (3, 6, 5, 9)), after=((1, 0), (2, 1))),
    ),
    "exact": ContractWorkload("30 jobs at one instant that take their walltimes", Case(jobs=_burst(30, exact=True))),
    "long-job": ContractWorkload("a long job that others wait for", Case(jobs=((0, 6, 1500, 2000), (1, 2, 5, 9)))),
    "large-among-small": ContractWorkload("a job of all hosts in a stream of small ones", Case(jobs=_SMALL_STREAM)),
    "small-among-large": ContractWorkload("a small job in a stream of large ones", Case(jobs=_LARGE_STREAM)),
}
#: The same jobs, at one instant, with different run times, which an algorithm cannot know.
TWINS: Final = tuple(
    Case(jobs=tuple((0, 1 + number * 5 % 4, 100 + 10 * (number * step % 31), 600) for number in range(30)))
    for step in (1, 7, 30)
)
#: Name -> workload of the scores.
SCORE_WORKLOADS: Final[Mapping[str, Drawn]] = {
    f"load-{load:.1f}": Drawn(SCORE_JOBS, SCORE_HOSTS, seed, load=load)
    for seed, load in enumerate((0.7, 0.9, 1.1), start=1)
}


def queue_case(waiting: int) -> Case:
    """Return a case in which so many jobs wait for the end of one."""
    others = tuple((number + 1, 1 + number % HOSTS, 5, 9) for number in range(waiting))
    return Case(jobs=((0, HOSTS, 1000, 1000), *others))


def stream_case(jobs: int) -> Case:
    """Return a case in which each job ends before the next one arrives."""
    return Case(jobs=tuple((10 * number, 1 + number % HOSTS, 5, 9) for number in range(jobs)))

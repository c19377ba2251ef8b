"""RLScheduler's table of heuristics on lublin_256: the published results, with each quirk of the program behind them.

Di Zhang, Dong Dai, Youbiao He, Forrest Sheng Bao and Bing Xie, "RLScheduler: an automated HPC batch job scheduler using
reinforcement learning", SC'20, Table V: the mean bounded slowdown of ten sequences of 1 024 jobs. The results and the
way in which jobs are picked are those of the authors' program (github.com/DIR-LAB/deep-batch-scheduler).
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Literal

from batsched_py.api import ORDERS, Event, Job, JobCompleted, Plan, Scheduler, View, option
from batsched_py.model.platform import Platform
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.reporting.metrics.summary import summarise
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.delay_workload import DelayJob, delay_workload
from batsched_py.traces.swf import read_swf
from batsched_py.traces.swf_log import SwfRecord
from tests.acceptance.check import Check
from tests.platforms import plain_platform

HOSTS: Final = 256
#: Jobs of a sequence, number of sequences, and what seeds their choice.
LENGTH: Final = 1024
SEQUENCES: Final = 10
SEED: Final = "1"

Priority = Literal["FCFS", "WFP3", "UNICEP", "SJF", "F1"]

#: Priority -> published without and with backfilling.
PUBLISHED: Final[dict[Priority, tuple[str, str]]] = {
    "FCFS": ("7273.77", "235.82"),
    "WFP3": ("19753.53", "133.87"),
    "UNICEP": ("22274.74", "307.23"),
    "SJF": ("277.35", "73.31"),
    "F1": ("258.37", "75.07"),
}


def _their_wait(job: Job) -> float:
    """The program takes the time at which the job was started where `now` was meant, and that is -1 while it waits."""
    return -1.0 - job.submit_time


#: Sort keys of the program. WFP3 and UNICEP are not what they are called: see _their_wait.
KEYS: Final[dict[Priority, Callable[[Job], float]]] = {
    "FCFS": lambda job: job.submit_time,
    "WFP3": lambda job: -((_their_wait(job) / job.limit) ** 3) * job.size,
    "UNICEP": lambda job: -_their_wait(job) / (max(math.log2(job.size), 1e-15) * job.limit),
    "SJF": lambda job: ORDERS["sjf"].key(job, 0.0),
    "F1": lambda job: ORDERS["f1"].key(job, 0.0),
}


@dataclass(frozen=True, slots=True)
class PickJobsOptions:
    """The column and the row of the table."""

    priority: Priority = option("FCFS", "who is picked")
    backfilling: bool = option(False, "whether others overtake the picked job while it waits")


class PickJobs(Scheduler[PickJobsOptions]):
    """Pick the first by priority; it blocks all others until it fits, whoever comes meanwhile.

    What happens at one instant is looked at one by one, submissions before completions, and a pick is made as soon as
    the picked job fits. Backfilling goes through the queue in order of arrival: whoever fits and ends strictly before
    the picked job's start, estimated once when it was picked, is started; spare hosts count for nothing.
    """

    name = "pick_jobs"

    def setup(self, view: View) -> None:
        self.key = KEYS[self.options.priority]
        self.queue: list[Job] = []
        #: Id of a running job -> its estimated end and its size; those whose end we look at later are still in.
        self.running: dict[str, tuple[float, int]] = {}
        self.free = len(view.all_hosts)
        self.picked: Job | None = None
        self.estimate = 0.0
        #: Ids of jobs that ended since the last decision.
        self.ended: list[str] = []

    def observe(self, event: Event, view: View) -> None:
        if isinstance(event, JobCompleted):
            self.ended.append(event.job_id)

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.arrived:
            self.queue.append(job)
            self.pick(view.now, plan)
        for job_id in self.ended:
            self.free += self.running.pop(job_id)[1]
            self.pick(view.now, plan)
        self.ended.clear()

    def pick(self, now: float, plan: Plan) -> None:
        """Start picked jobs until one does not fit."""
        while self.picked is not None or self.queue:
            if self.picked is None:
                self.queue.sort(key=self.key)
                self.picked = self.queue[0]
                if self.picked.size > self.free:
                    self.estimate = self.earliest(self.picked.size)
            if self.picked.size > self.free:
                if self.options.backfilling:
                    self.backfill(now, plan)
                return
            self.start(self.picked, now, plan)
            self.picked = None

    def earliest(self, size: int) -> float:
        """Return the time at which so many hosts will be free, by the estimated ends."""
        free = self.free
        for end, given_back in sorted(self.running.values(), key=lambda running: running[0]):
            free += given_back
            if free >= size:
                return end
        raise AssertionError(f"{size} hosts will never be free")

    def backfill(self, now: float, plan: Plan) -> None:
        self.queue.sort(key=KEYS["FCFS"])
        for job in tuple(self.queue):
            if job.size <= self.free and now + job.limit < self.estimate:
                self.start(job, now, plan)

    def start(self, job: Job, now: float, plan: Plan) -> None:
        hosts = plan.free.first(job.size)
        assert hosts is not None
        plan.start(job, hosts)
        self.queue.remove(job)
        self.running[job.id] = now + job.limit, job.size
        self.free -= job.size


def sequence_starts(jobs: int) -> list[int]:
    """Positions of the sequences' first jobs, as the program draws them.

    Its generator is numpy.random.RandomState, seeded with the first eight bytes of the seed's SHA-512 (as gym does);
    its randint takes 32 bits from the Mersenne Twister, masks them and draws again if the result is out of range.
    Python's Random seeds the same twister in the same way from an integer.
    """
    chance = random.Random(int.from_bytes(hashlib.sha512(SEED.encode()).digest()[:8], "little"))
    low, high = LENGTH, jobs - LENGTH - 1
    mask = (1 << (high - 1 - low).bit_length()) - 1

    def draw() -> int:
        while (value := chance.getrandbits(32) & mask) > high - 1 - low:
            pass
        return low + value

    return [draw() for _ in range(SEQUENCES)]


def sequences(log: Path) -> list[Workload]:
    """The ten sequences; submission times are those of the log, because F1 looks at them."""
    records = read_swf(log).records
    starts = sequence_starts(len(records))
    return [delay_workload(log.name, HOSTS, list(map(_job, records[start : start + LENGTH]))) for start in starts]


def _job(record: SwfRecord) -> DelayJob:
    size = max(record.used_processors, record.requested_processors)
    request = record.run if record.requested_time == -1 else record.requested_time
    return DelayJob(record.submit, record.number, record.run, size, request)


def mean_slowdown(workloads: list[Workload], platform: Platform, session: Callable[[], Session]) -> float:
    """Mean over the sequences of the mean bounded slowdown of each."""
    means = []
    for workload in workloads:
        result = Simulation(platform, [workload]).run(session().answer)
        means.append(summarise(result).mean_bounded_slowdown or 0.0)
    return sum(means) / len(means)


def table_v(traces: Path) -> Iterator[Check]:
    """All ten results, to the two decimals that were published."""
    workloads, platform = sequences(traces / "lublin_256.swf.gz"), plain_platform(HOSTS)
    for backfilling in (False, True):
        for priority, published in PUBLISHED.items():
            options = {"priority": priority, "backfilling": backfilling}
            found = mean_slowdown(workloads, platform, partial(Session, PickJobs, options))
            said = f"{'with' if backfilling else 'without'} backfilling"
            expected, shown = published[backfilling], f"{found:.2f}"
            yield Check(f"RLScheduler Table V, {priority} {said}", expected, shown, expected == shown)


#: Order -> what docs/reproductions.md says of `priority` and of `easy` in it, on the same sequences.
OURS: Final[dict[str, tuple[str, str]]] = {
    "fcfs": ("7273.77", "271.40"),
    "wfp3": ("118.74", "81.59"),
    "unicep": ("34.36", "58.34"),
    "sjf": ("47.16", "45.41"),
    "f1": ("34.53", "34.54"),
    "f2": ("32.25", "35.43"),
    "f3": ("35.16", "36.79"),
    "f4": ("20.68", "33.53"),
}


def without_quirks(traces: Path) -> Iterator[Check]:
    """Check the same sequences with our own algorithms: numbers that the documentation quotes."""
    workloads, platform = sequences(traces / "lublin_256.swf.gz"), plain_platform(HOSTS)
    for position, algorithm in enumerate(("priority", "easy")):
        for order, told in OURS.items():
            session = partial(Session, load(algorithm), {"order": order})
            shown = f"{mean_slowdown(workloads, platform, session):.2f}"
            name = f"lublin_256, {algorithm} in the order {order}, as documented"
            yield Check(name, told[position], shown, told[position] == shown)

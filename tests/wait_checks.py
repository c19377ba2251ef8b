"""Checks of explanations of waits, computed again from the jobs file: nothing of the explaining code has a part in it.

Hosts are counted one by one at each instant, who waited is read from the file, and EASY's shadow is found by going
through the ends of walltimes. Only promises of other algorithms are read from the file of decisions.
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Ran(NamedTuple):
    """A row of the jobs file."""

    id: str
    submit: float
    size: int
    walltime: float
    start: float
    finish: float
    hosts: frozenset[int]


def numbers(text: str) -> frozenset[int]:
    """The hosts of "0-2 7"."""
    found: set[int] = set()
    for part in text.split():
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def read_ran(prefix: str) -> dict[str, Ran]:
    """The jobs that ran."""
    found = {}
    with Path(f"{prefix}_jobs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["starting_time"]:
                name = f"{row['workload_name']}!{row['job_id']}"
                walltime = float(row["requested_time"])
                found[name] = Ran(
                    name,
                    float(row["submission_time"]),
                    int(row["requested_number_of_resources"]),
                    walltime if walltime >= 0 else math.inf,
                    float(row["starting_time"]),
                    float(row["finish_time"]),
                    numbers(row["allocated_resources"]),
                )
    return found


def read_rows(prefix: str) -> list[dict[str, str]]:
    """The rows of the file of decisions."""
    with Path(f"{prefix}_decisions.csv").open(newline="") as file:
        return list(csv.DictReader(file))


class Checker:
    """The jobs of a run, with which explanations are compared; counts the reasons that it saw."""

    def __init__(self, prefix: str, hosts: int, *, easy: bool = False) -> None:
        self.jobs, self.rows = read_ran(prefix), read_rows(prefix)
        self.hosts, self.easy = frozenset(range(hosts)), easy
        self.reasons: Counter[str] = Counter()

    def free(self, time: float) -> frozenset[int]:
        """The hosts on which no job runs, of those that are up."""
        down = frozenset[int]()
        for row in self.rows:
            if row["what"] == "down" and float(row["time"]) <= time:
                down = numbers(row["hosts"])
        busy = frozenset[int]().union(*(job.hosts for job in self.jobs.values() if job.start <= time < job.finish))
        return self.hosts - busy - down

    def instants(self, begin: float, end: float) -> list[float]:
        """All instants of [begin, end) at which a job began or ended, and its beginning."""
        there = [job for job in self.jobs.values() if job.start < end and job.finish > begin]
        times = {time for job in there for time in (job.start, job.finish) if begin < time < end}
        times |= {float(row["time"]) for row in self.rows if row["what"] == "down" and begin < float(row["time"]) < end}
        return [begin, *sorted(times)]

    def promised(self, job: str, time: float) -> float | None:
        """The start that a job was promised at a time."""
        start = None
        for row in self.rows:
            if row["job_id"] == job and float(row["time"]) <= time and row["what"] in ("promised", "withdrawn"):
                start = float(row["start"]) if row["start"] else None
        return start

    def check(self, plain: Mapping[str, Any]) -> None:
        """Assert that an explanation is true, interval by interval."""
        job = self.jobs[plain["job"]]
        assert (plain["submitted"], plain["started"], numbers(plain["hosts"])) == (job.submit, job.start, job.hosts)
        intervals = plain["intervals"]
        ends = [job.submit, *(one["to"] for one in intervals)]
        assert [one["from"] for one in intervals] == ends[:-1]
        assert ends[-1] == job.start
        assert all(one["from"] < one["to"] for one in intervals)
        seconds = math.fsum(one["to"] - one["from"] for one in intervals)
        assert math.isclose(seconds, job.start - job.submit, abs_tol=1e-6)
        later = [one for one in self.jobs.values() if one.submit > job.submit and one.start < job.start]
        assert set(plain["overtaken_by"]) == {one.id for one in later}
        for one in intervals:
            self.reasons[one["reason"]] += 1
            assert one["promise"] == self.promised(job.id, one["from"])
            getattr(self, f"check_{one['reason']}")(job, one)

    def check_hosts_busy(self, job: Ran, one: Mapping[str, Any]) -> None:
        """At each instant there are too few hosts, and those in the way run on hosts that the job got."""
        blockers = [self.jobs[blocker] for blocker in one["blocked_by"]]
        assert blockers
        for blocker in blockers:
            assert blocker.start <= one["from"] < one["to"] <= blocker.finish
            assert blocker.hosts & job.hosts
        for time in self.instants(one["from"], one["to"]):
            assert len(self.free(time)) < job.size
        on_hosts = [
            other.id
            for other in self.jobs.values()
            if other.hosts & job.hosts and other.start < one["to"] and other.finish > one["from"] and other.id != job.id
        ]
        assert set(on_hosts) == set(one["blocked_by"])

    def check_hosts_unavailable(self, job: Ran, one: Mapping[str, Any]) -> None:
        """There are too few hosts, and would be enough if none were down."""
        for time in self.instants(one["from"], one["to"]):
            busy = [len(other.hosts) for other in self.jobs.values() if other.start <= time < other.finish]
            assert len(self.free(time)) < job.size <= len(self.hosts) - sum(busy)

    def check_promise(self, job: Ran, one: Mapping[str, Any]) -> None:
        """There are enough hosts; those in the way wait, are promised a start, and would have been delayed."""
        blockers = [self.jobs[blocker] for blocker in one["blocked_by"]]
        assert blockers
        for time in self.instants(one["from"], one["to"]):
            assert len(self.free(time)) >= job.size
            for blocker in blockers:
                promise = self.promised(blocker.id, time)
                assert blocker.submit <= time < blocker.start
                assert promise is not None
                assert promise < time + job.walltime
            if self.easy:
                self.check_shadow(job, blockers[0], time)

    def check_shadow(self, job: Ran, head: Ran, time: float) -> None:
        """Started now, the job would leave the first of the queue too few hosts when it is to start, by walltimes."""
        ends = Counter[float]()
        for one in self.jobs.values():
            if one.start <= time < one.finish:
                ends[one.start + one.walltime] += len(one.hosts)
        shadow, free = time, len(self.free(time))
        for end in sorted(ends):
            if free >= head.size:
                break
            shadow, free = end, free + ends[end]
        assert time + job.walltime > shadow
        assert job.size > free - head.size

    def check_queue(self, job: Ran, one: Mapping[str, Any]) -> None:
        """There are enough hosts, and the job in the way waits all the time."""
        (blocker,) = (self.jobs[blocker] for blocker in one["blocked_by"])
        assert blocker.submit <= one["from"] < one["to"] <= blocker.start
        for time in self.instants(one["from"], one["to"]):
            assert len(self.free(time)) >= job.size

    def check_algorithm(self, job: Ran, one: Mapping[str, Any]) -> None:
        """There are enough hosts, and the algorithm said something else."""
        assert len(self.free(one["from"])) >= job.size
        said = [row for row in self.rows if row["job_id"] == job.id and row["what"] == "held"]
        assert [row for row in said if float(row["time"]) <= one["from"]][-1]["reason"] == "own"


def longest(jobs: Mapping[str, Ran], count: int) -> Sequence[str]:
    """The ids of the jobs that waited longest, the longest first."""
    return sorted(jobs, key=lambda name: jobs[name].submit - jobs[name].start)[:count]

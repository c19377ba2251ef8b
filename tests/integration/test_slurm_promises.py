"""Promises of `slurm` for each run: checkers that know nothing of the kernel and read only the tables of the run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.results.records import JobRecord
from tests.clone import ROOT
from tests.integration.programs import run_here
from tests.integration.slurm_runs import (
    ACCOUNTING,
    CLOSE,
    SCHEDULERS,
    SELECTIONS,
    TREE,
    Drawn,
    SlurmRun,
    drawn_jobs,
)
from tests.thoroughness import thorough


class Limit(NamedTuple):
    """A limit of an account, a user or a QOS: `GrpTRES=cpu=8` of `account phys`."""

    kind: str
    name: str
    option: str
    resource: str
    most: int

    @property
    def command(self) -> str:
        """The command of sacctmgr that sets it."""
        value = f"{self.resource}={self.most}" if self.resource else f"{self.most}"
        return f"modify {self.kind} {self.name} set {self.option}={value}\n"


#: Option of associations, and of QOS -> the resource, and the largest number that is drawn.
OPTIONS = {
    **dict.fromkeys((("GrpJobs", "GrpJobs"), ("MaxJobs", "MaxJobsPerUser")), (("",), 3)),
    **dict.fromkeys((("GrpSubmit", "GrpSubmit"), ("MaxSubmit", "MaxSubmitPerUser")), (("",), 5)),
    ("GrpTRES", "GrpTRES"): (("cpu", "node"), 12),
    ("MaxTRES", "MaxTRES"): (("cpu", "node"), 8),
    ("GrpTRESRunMins", "GrpTRESRunMins"): (("cpu",), 40),
    ("MaxWall", "MaxWall"): (("",), 3),
    ("", "MaxTRESPerUser"): (("cpu",), 12),
}
TARGETS = [
    *(("account", name) for name in ("root", "phys", "quantum", "chem")),
    *(("user", name) for name in TREE),
    *(("qos", name) for name in ("normal", "high", "cap")),
]


@st.composite
def limits(draw: st.DrawFn) -> list[Limit]:
    """Some limits, each once; amounts of memory are in steps of 100 MB."""
    found = {}
    for _ in range(draw(st.integers(1, 5))):
        kind, name = draw(st.sampled_from(TARGETS))
        names = draw(st.sampled_from([both for both in OPTIONS if kind == "qos" or both[0]]))
        resources, most = OPTIONS[names]
        resource = draw(st.sampled_from((*resources, "mem") if "GrpTRES" in names else resources))
        number = draw(st.integers(1, most))
        limit = Limit(kind, name, names[kind == "qos"], resource, number * 300 if resource == "mem" else number)
        found[limit[:4]] = limit
    return list(found.values())


#: The same limit of a QOS and of an association.
SAME = {"MaxJobsPerUser": "MaxJobs", "MaxSubmitPerUser": "MaxSubmit"}


def levels(job: Drawn) -> list[tuple[str, str]]:
    """The levels of limits of a job, whose partition has the QOS `cap`."""
    return [("qos", "cap"), ("qos", job.qos), ("user", job.user), *(("account", name) for name in TREE[job.user])]


def holds(limit: Limit, job: Drawn, every: list[Limit]) -> bool:
    """Does a limit hold for a job: is it the first of its kind, or one of a group of accounts?"""
    here = levels(job)
    if (limit.kind, limit.name) not in here:
        return False
    for other in every:
        same = SAME.get(other.option, other.option) == SAME.get(limit.option, limit.option)
        if not same or other.resource != limit.resource or (other.kind, other.name) not in here:
            continue
        is_before = here.index((other.kind, other.name)) < here.index((limit.kind, limit.name))
        if is_before and not (limit.option.startswith("Grp") and other.kind != "qos"):
            return False
    return True


def amount(run: SlurmRun, job: Drawn, record: JobRecord, resource: str) -> int:
    """Return the amount of a resource that a running job has."""
    if resource == "mem":
        return job.memory * job.size * job.cores
    return {"": 1, "cpu": run.cpus(job, record), "node": len(record.hosts)}[resource]


def counts(limit: Limit, job: Drawn, other: Drawn) -> bool:
    """Does another job count in the group in which a limit holds for a job?"""
    if (limit.kind, limit.name) not in levels(other):
        return False
    return other.user == job.user or limit.option.startswith("Grp")


def check_limit(limit: Limit, run: SlurmRun, every: list[Limit]) -> None:
    """At each start of a job for which a limit holds, the group has no more than it says."""
    for job, record in run.rows():
        if not holds(limit, job, every) or "Submit" in limit.option:
            continue
        alone = job.limit if limit.option == "MaxWall" else amount(run, job, record, limit.resource)
        if limit.option in {"MaxWall", "MaxTRES"}:
            assert alone <= limit.most, limit
            continue
        together = [
            amount(run, other, row, limit.resource) * (other.limit if "Mins" in limit.option else 1)
            for other, row in run.rows()
            if row.start <= record.start < row.finish - CLOSE
            and counts(limit, job, other)
            and (row.start < record.start or holds(limit, other, every))
        ]
        assert sum(together) <= limit.most, limit


def check_submissions(limit: Limit, run: SlurmRun, every: list[Limit]) -> None:
    """When a job for which a limit of submissions holds was accepted, there were not more."""
    for number, job in run.jobs.items():
        if number in run.refused or not holds(limit, job, every):
            continue
        before = [
            other
            for other in run.waiting_or_running(job.submit)
            if counts(limit, job, other) and (other.submit < job.submit or holds(limit, other, every))
        ]
        assert len(before) <= limit.most, limit


ENFORCED = f"{ACCOUNTING}AccountingStorageEnforce=limits\nPriorityType=priority/basic\n"
CAPPED = "PartitionName=batch Nodes=ALL Default=YES QOS=cap\n"


@pytest.mark.parametrize("select", SELECTIONS, ids=["linear", "cons_tres"])
@given(data=st.data())
@settings(max_examples=thorough(20), deadline=None)
def test_no_limit_of_an_association_or_a_qos_is_exceeded(select: str, data: st.DataObject) -> None:
    """At any instant: of users, accounts and the root, of the QOS of jobs and of the partition."""
    scheduler, drawn = data.draw(st.sampled_from(SCHEDULERS)), data.draw(limits())
    jobs = data.draw(drawn_jobs(("batch",), counts_memory="Memory" in select))
    commands = "".join(limit.command for limit in drawn)
    run = SlurmRun(select + scheduler + ENFORCED + CAPPED, jobs, accounts=commands)
    for limit in drawn:
        check = check_submissions if "Submit" in limit.option else check_limit
        check(limit, run, drawn)


class Part(NamedTuple):
    """A partition: its first and last node, and its bounds."""

    name: str
    first: int
    last: int
    minutes: int
    least: int
    most: int

    @property
    def line(self) -> str:
        """Its line in slurm.conf."""
        nodes = (
            f"PartitionName={self.name} Nodes=n[{self.first}-{self.last}] Default={'YES' if self.name == 'a' else 'NO'}"
        )
        return f"{nodes} MaxTime={self.minutes} MinNodes={self.least} MaxNodes={self.most}\n"

    def admits(self, job: Drawn, record: JobRecord) -> bool:
        """May the job have run here as it did?"""
        inside = all(self.first <= host <= self.last for host in record.hosts)
        return inside and job.limit <= self.minutes and self.least <= len(record.hosts) <= self.most


def parts(name: str) -> st.SearchStrategy[Part]:
    """A partition of some nodes."""
    numbers = st.tuples(*(st.integers(low, high) for low, high in ((0, 2), (3, 5), (1, 3), (0, 2), (2, 4))))
    return numbers.map(lambda drawn: Part(name, *drawn))


@given(
    st.sampled_from(SELECTIONS),
    st.sampled_from(SCHEDULERS),
    st.tuples(parts("a"), parts("b")),
    drawn_jobs(("a", "b", "a,b")),
)
@settings(max_examples=thorough(25), deadline=None)
def test_no_limit_of_a_partition_is_exceeded(
    select: str, scheduler: str, two: tuple[Part, Part], jobs: list[Drawn]
) -> None:
    """Each job runs on nodes of one of its partitions, within the bounds of that one."""
    run = SlurmRun(select + scheduler + "".join(part.line for part in two), jobs)
    for job, record in run.rows():
        named = [part for part in two if part.name in job.partition.split(",")]
        assert any(part.admits(job, record) for part in named)


class Reserved(NamedTuple):
    """An advance reservation."""

    name: str
    created: int
    #: Seconds until its begin, its minutes, its first and last node.
    numbers: tuple[int, int, int, int]
    who: str
    flags: str

    @property
    def command(self) -> str:
        """The command that makes it."""
        flags = f" flags={self.flags}" if self.flags else ""
        delay, minutes, first, last = self.numbers
        return (
            f"{self.created} scontrol create reservation reservationname={self.name} starttime=now+{delay} "
            f"duration={minutes} nodes=n[{first}-{last}] {self.who}{flags}\n"
        )

    def admits(self, job: Drawn) -> bool:
        """May the job use it?"""
        name = self.who.partition("=")[2]
        is_listed = job.user == name if self.who.startswith("users") else TREE[job.user][0] == name
        return is_listed and (job.reservation == self.name or (job.reservation is None and "magnetic" in self.flags))


def reserved(name: str, created: int) -> st.SearchStrategy[Reserved]:
    """A reservation that is made at an instant."""
    drawn = st.tuples(st.integers(0, 100), st.integers(1, 3), st.integers(0, 3), st.integers(3, 5))
    who = st.sampled_from(("users=ada", "users=eve", "accounts=quantum"))
    flags = st.sampled_from(("", "ignore_jobs", "magnetic", "magnetic,ignore_jobs", "maint,ignore_jobs"))
    return st.builds(lambda numbers, who, flags: Reserved(name, created, numbers, who, flags), drawn, who, flags)


@given(
    st.sampled_from(SELECTIONS),
    st.sampled_from(SCHEDULERS),
    st.tuples(reserved("r1", 0), reserved("r2", 30)),
    drawn_jobs(("batch",), (None, None, "r1", "r2")),
)
@settings(max_examples=thorough(40), deadline=None)
def test_no_reservation_is_entered_by_others(
    select: str, scheduler: str, two: tuple[Reserved, Reserved], jobs: list[Drawn]
) -> None:
    """Neither by the limit of a job that starts after its creation; and a job that names one runs only in it."""
    conf = f"{select}{scheduler}{ENFORCED}PartitionName=batch Nodes=ALL Default=YES\n"
    run = SlurmRun(conf, jobs, accounts="\n", commands="".join(one.command for one in two))
    refused = {int(line.split("line ")[1][0]) for line in run.played.warnings if "command in line" in line}
    for one in (one for number, one in enumerate(two, 1) if number not in refused):
        delay, minutes, low, high = one.numbers
        begin = one.created + delay
        end, nodes = begin + 60 * minutes, set(range(low, high + 1))
        for job, record in run.rows():
            if job.reservation == one.name:
                assert one.admits(job)
                assert begin <= record.start < end
                assert set(record.hosts) <= nodes
            is_after = record.start > one.created + CLOSE
            overlaps = record.start < end - CLOSE and record.start + 60 * job.limit > begin + CLOSE
            if is_after and overlaps and set(record.hosts) & nodes:
                assert one.admits(job) or "maint" in two[1].flags


@pytest.mark.parametrize("by", ["partition_prio", "qos"])
@pytest.mark.parametrize("mode", ["REQUEUE", "CANCEL"])
@given(data=st.data())
@settings(max_examples=thorough(12), deadline=None)
def test_no_job_is_preempted_without_right(by: str, mode: str, data: st.DataObject) -> None:
    """When a job is killed, one of a higher tier or QOS waits, and the exempt time is over."""
    select, scheduler = data.draw(st.sampled_from(SELECTIONS)), data.draw(st.sampled_from(SCHEDULERS))
    exempt = data.draw(st.sampled_from((0, 1)))
    jobs = data.draw(drawn_jobs(("low", "mid", "top", "safe")))
    tiers = {"low": 1, "mid": 2, "top": 3, "safe": 1}
    lines = [
        f"PartitionName={name} Nodes=ALL PriorityTier={tier} PreemptMode={'OFF' if name == 'safe' else mode}\n"
        for name, tier in tiers.items()
    ]
    head = f"PreemptType=preempt/{by}\nPreemptMode={mode}\nPreemptExemptTime={exempt}\n"
    conf = select + scheduler + ENFORCED + head + "".join(lines)
    preempts = {"high": {"normal", "low"}, "normal": {"low"}, "low": set[str]()}
    accounts = "modify qos high set preempt=normal,low\nmodify qos normal set preempt=low\n"
    run = SlurmRun(conf, jobs, accounts=accounts, dynamic=True)

    def may(winner: Drawn, victim: Drawn) -> bool:
        if by == "qos":
            return victim.qos in preempts[winner.qos]
        return tiers[winner.partition] > tiers[victim.partition]

    for job, record in run.rows():
        if record.state != "COMPLETED_KILLED":
            continue
        assert job.partition != "safe"
        assert record.finish - record.start >= 60 * exempt
        waits = (one for one, row in run.rows() if one.submit <= record.finish <= row.start + CLOSE)
        assert any(may(one, job) for one in waits)


FAIR = f"""{ACCOUNTING}AccountingStorageEnforce=limits
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityWeightFairshare=1000
PartitionName=batch Nodes=ALL Default=YES
"""


@given(st.sampled_from(SELECTIONS), st.sampled_from((0, 2, 30)), drawn_jobs(("batch",)))
@settings(max_examples=thorough(20), deadline=None)
def test_the_usage_of_an_account_is_that_of_its_jobs_with_decay(select: str, half_life: int, jobs: list[Drawn]) -> None:
    """Exact without decay; with it, at least what is left if each job decays from two periods before its start on."""
    run = SlurmRun(f"{select}{FAIR}PriorityDecayHalfLife={half_life}\n", jobs, accounts="\n")
    scheduler: Any = run.played.session.scheduler
    accounts = scheduler.controller.cluster.accounts
    end = max(record.finish for _, record in run.rows())
    for name, association in accounts.by_account.items():
        usage = _usage(association)
        mine = [(job, record) for job, record in run.rows() if name in TREE[job.user]]
        most = math.fsum(run.cpus(job, record) * (record.finish - record.start) for job, record in mine)
        left = [0.5 ** ((end - record.start + 120) / (60 * half_life)) if half_life else 1.0 for _, record in mine]
        least = math.fsum(
            run.cpus(job, record) * (record.finish - record.start) * part
            for (job, record), part in zip(mine, left, strict=True)
        )
        assert least * 0.999 - 0.01 <= usage <= most * 1.001 + 0.01, name
        assert usage == pytest.approx(sum(_usage(child) for child in association.children))


def _usage(association: Any) -> float:
    """The usage of all users below an account, or of a user."""
    return sum((_usage(child) for child in association.children), association.usage)


PLAIN = """SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,default_queue_depth=1000000
SelectType=select/linear
PriorityType=priority/basic
NodeName=n[00-31]
PartitionName=all Nodes=ALL Default=YES
"""


def _lines(path: Path, *, hosts: bool) -> Iterator[list[str]]:
    for line in path.read_text().splitlines():
        cells = line.split(",")
        yield cells if hosts else cells[:14] + cells[15:]


@pytest.mark.parametrize("name", ["mixed", "lublin200"])
def test_with_everything_off_it_is_fcfs(name: str, tmp_path: Path) -> None:
    """The jobs file is the same byte for byte, but for hosts: Slurm prefers the smallest block that suffices."""
    (tmp_path / "slurm.conf").write_text(PLAIN)
    files = ["-p", str(ROOT / "platforms/cluster32.xml"), "-w", str(ROOT / f"workloads/{name}.json")]
    for algorithm, options in (("fcfs", []), ("slurm", ["-o", "conf=slurm.conf"])):
        arguments = ["simulate", *files, "-s", algorithm, *options, "-e", algorithm, "--quiet"]
        assert run_here(tmp_path, *arguments) == 0
    here, there = tmp_path / "fcfs_jobs.csv", tmp_path / "slurm_jobs.csv"
    if name == "mixed":
        assert here.read_bytes() == there.read_bytes()
    assert list(_lines(here, hosts=False)) == list(_lines(there, hosts=False))
    assert next(_lines(here, hosts=True))[14] == "allocated_resources"

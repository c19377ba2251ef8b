"""Queries of jobs for hosts, `-o constraint=query`: kept by each algorithm, and told where none is satisfied."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.hostset import HostSet
from batsched_py.testing import Bench

ALGORITHMS = ["fcfs", "filler", "priority", "sequencer", "random", "easy", "conservative", "backfill"]
HOSTS = [("x86", 512), ("x86", 1024), ("x86", 2048), ("arm", 512), ("arm", 1024), ("alpha", 4096)]
PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full"><host id="master_host" speed="1Gf"/>{}</zone></platform>
"""
HOST = '<host id="n{}" speed="1Gf"><prop id="arch" value="{}"/><prop id="mem" value="{}"/></host>'


class Simulated:
    """A run on hosts of three kinds: its exit code, and its jobs by id."""

    def __init__(self, folder: Path, algorithm: str, jobs: list[dict[str, Any]], *more: str) -> None:
        hosts = "".join(HOST.format(number, *kind) for number, kind in enumerate(HOSTS))
        (folder / "p.xml").write_text(PLATFORM.format(hosts))
        profiles = {str(seconds): {"type": "delay", "delay": seconds} for seconds in range(1, 60)}
        (folder / "w.json").write_text(json.dumps({"nb_res": len(HOSTS), "jobs": jobs, "profiles": profiles}))
        self.code = run(
            [
                *("simulate", "-p", str(folder / "p.xml"), "-w", str(folder / "w.json"), "-s", algorithm),
                *("-o", "constraint=query", "-e", str(folder / "run"), "--quiet", *more),
            ]
        )
        with (folder / "run_jobs.csv").open(newline="") as file:
            self.jobs = {row["job_id"]: row for row in csv.DictReader(file)}

    def hosts(self, job_id: str) -> set[int]:
        """Return the hosts of a job."""
        found: set[int] = set()
        for part in self.jobs[job_id]["allocated_resources"].split():
            low, _, high = part.partition("-")
            found.update(range(int(low), int(high or low) + 1))
        return found


def job(job_id: str, subtime: float, res: int, seconds: int, constraint: Any = None) -> dict[str, Any]:
    """A job, with a query or none."""
    described = {"id": job_id, "subtime": subtime, "res": res, "walltime": seconds + 1, "profile": str(seconds)}
    return described if constraint is None else {**described, "constraint": constraint}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_jobs_run_where_their_queries_are_true(tmp_path: Path, algorithm: str) -> None:
    """All of them, whatever else runs; checked by hand, not by a query."""
    jobs = []
    for number in range(60):
        arch, least = [("x86", 0), ("arm", 600), ("x86", 1024), (None, 0)][number % 4]
        query = None if arch is None else f'$arch == "{arch}" and $mem >= {least}'
        size = 1 + number % (3 if arch != "arm" else 1)
        jobs.append(job(str(number), number // 2, min(size, 2 if least == 1024 else size), 3 + number % 7, query))
    ended = Simulated(tmp_path, algorithm, jobs)
    assert ended.code == 0
    for number in range(60):
        arch, least = [("x86", 0), ("arm", 600), ("x86", 1024), (None, 0)][number % 4]
        assert ended.jobs[str(number)]["final_state"] == "COMPLETED_SUCCESSFULLY"
        for host in ended.hosts(str(number)):
            assert arch in (None, HOSTS[host][0])
            assert HOSTS[host][1] >= least


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_who_can_never_match_is_rejected_at_once(
    tmp_path: Path, algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """LA-30; LA-31 waits for hosts that are busy."""
    jobs = [
        job("1", 0, 3, 20, '$arch == "x86"'),
        job("2", 1, 1, 5, '$arch == "vax" and $load < 0.5'),
        job("3", 2, 1, 5, '$arch == "x86" and $load < 0.5'),
        job("4", 3, 3, 5, '$arch == "arm"'),
    ]
    ended = Simulated(tmp_path, algorithm, jobs)
    assert [ended.jobs[number]["final_state"] for number in "24"] == ["REJECTED", "REJECTED"]
    assert float(ended.jobs["3"]["starting_time"]) == 20
    told = capsys.readouterr().err
    assert "w0!2 rejected: needs 1 host, constraint query allows 0" in told
    assert "w0!4 rejected: needs 3 hosts, constraint query allows 2" in told


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_who_waits_for_what_never_comes_is_rejected_at_the_end(
    tmp_path: Path, algorithm: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """LA-33: a load that no host will have."""
    ended = Simulated(tmp_path, algorithm, [job("1", 0, 1, 9), job("2", 1, 1, 5, "$load > 2")])
    assert ended.code == 0
    assert ended.jobs["2"]["final_state"] == "REJECTED"
    assert "t=9: w0!2 rejected: its constraint is true for too few hosts, and nothing will" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("constraint", "why"),
    [
        ("$mem >", "constraint: at offset 6: the query ends too early"),
        (5, "constraint: at offset 0: must be a text, not 5"),
        ("foo(1) == 1", "constraint: at offset 0: there is no function 'foo'"),
    ],
)
def test_a_wrong_query_rejects_its_job(
    tmp_path: Path, constraint: Any, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the place of the mistake; others go on."""
    ended = Simulated(tmp_path, "easy", [job("1", 0, 1, 5, constraint), job("2", 0, 6, 5)])
    assert ended.code == 0
    assert [ended.jobs[number]["final_state"] for number in "12"] == ["REJECTED", "COMPLETED_SUCCESSFULLY"]
    assert f"w0!1 rejected: {why}" in capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["easy", "conservative"])
def test_a_promise_heeds_what_never_changes(tmp_path: Path, algorithm: str) -> None:
    """L42: whoever overtakes does not delay a job that waits for hosts of its kind."""
    jobs = [
        job("1", 0, 2, 20, '$arch == "x86"'),
        job("2", 1, 3, 5, '$arch == "x86" and $load < 0.5'),
        job("3", 2, 1, 40, '$arch == "x86"'),
        job("4", 3, 1, 40, '$arch == "arm"'),
        job("5", 4, 1, 10, '$arch == "x86"'),
    ]
    ended = Simulated(tmp_path, algorithm, jobs)
    started = {name: float(row["starting_time"]) for name, row in ended.jobs.items()}
    assert started["2"] == 20
    assert started["3"] == 25
    assert started["4"] == 3
    assert started["5"] == 4
    assert ended.hosts("2") == {0, 1, 2}


@pytest.mark.parametrize("algorithm", ["easy", "conservative"])
def test_la_86_a_promise_moves_if_its_query_is_not_true_then(algorithm: str) -> None:
    """LA-86: another job keeps the promised x86 host, which is shared, loaded; the other one is promised, with why."""
    kinds = {number: {"arch": arch} for number, arch in enumerate(("x86", "x86", "arm"))}
    bench = Bench(algorithm, hosts=3, options={"constraint": "query"}, sharing=True, properties=kinds)
    first = bench.run(hosts="0", walltime=100)
    bench.run("other", hosts="1", walltime=200)
    head = bench.submit(walltime=10, constraint='$load < 0.5 and $arch == "x86"')
    assert bench.decide().promises[head] == 100
    bench.at(99).run(hosts="0", walltime=300)
    bench.at(100).end(first)
    decision = bench.decide()
    assert decision.started == {}
    assert decision.promises[head] == 200
    assert decision.holds[head] == "needs 1 host, 0 are free that constraint query allows"
    bench.at(200).end("other")
    assert bench.decide().started == {head: HostSet.parse("1")}


@pytest.mark.parametrize(
    ("algorithm", "told"),
    [
        (["easy"], "jobs have a constraint, which is not heeded: the option constraint=query makes it so"),
        (["fcfs", "-o", "constraint=none"], "jobs have a constraint, which is not heeded: the option constraint=query"),
        (["leases"], "jobs have a constraint, which leases does not heed: it runs them anywhere"),
        (["easy", "-o", "constraint=query"], None),
        (["placer"], None),
    ],
)
def test_a_query_that_is_not_heeded_is_told_once(
    tmp_path: Path, algorithm: list[str], told: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    """The author of a query believes that it counts."""
    (tmp_path / "p.xml").write_text(PLATFORM.format("".join(HOST.format(n, *kind) for n, kind in enumerate(HOSTS))))
    jobs = [
        {"id": str(n), "subtime": n, "res": 1, "walltime": 9, "profile": "p", "constraint": "$mem > 600"}
        for n in (1, 2)
    ]
    workload = {"nb_res": len(HOSTS), "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 5}}}
    (tmp_path / "w.json").write_text(json.dumps(workload))
    files = ["-p", str(tmp_path / "p.xml"), "-w", str(tmp_path / "w.json")]
    assert run(["simulate", *files, "-s", *algorithm, "--quiet"]) == 0
    warnings = [line for line in capsys.readouterr().err.splitlines() if "constraint" in line]
    assert len(warnings) == (told is not None)
    assert all(str(told) in line for line in warnings)

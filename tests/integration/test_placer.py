"""`placer`: hosts are found by queries, decide for themselves, and are asked as seldom as can be."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from batsched_py.cli.main import run
from batsched_py.schedulers.placer import PlacerScheduler
from batsched_py.testing import Bench

PLATFORM = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="AS0" routing="Full"><host id="master_host" speed="1Gf"/>{}</zone></platform>
"""


class Simulated:
    """A run: its exit code, jobs by id, and what it took to place each."""

    def __init__(
        self,
        folder: Path,
        hosts: list[dict[str, Any]],
        jobs: list[dict[str, Any]],
        *options: str,
        flags: Sequence[str] = (),
    ) -> None:
        described = "".join(
            f'<host id="n{number}" speed="1Gf">'
            + "".join(f'<prop id="{key}" value="{value}"/>' for key, value in host.items())
            + "</host>"
            for number, host in enumerate(hosts)
        )
        (folder / "p.xml").write_text(PLATFORM.format(described))
        profiles = {str(seconds): {"type": "delay", "delay": seconds} for seconds in (5, 10, 20, 100)}
        (folder / "w.json").write_text(json.dumps({"nb_res": len(hosts), "jobs": jobs, "profiles": profiles}))
        given = [each for option in options for each in ("-o", option)]
        self.code = run(
            [
                *("simulate", "-p", str(folder / "p.xml"), "-w", str(folder / "w.json"), "-s", "placer", *given),
                *("-e", str(folder / "run"), "--quiet", *flags),
            ]
        )
        self.jobs, self.placements = ({}, {})
        if self.code == 0:
            self.jobs = self._rows(folder / "run_jobs.csv", "job_id")
            self.placements = self._rows(folder / "run_placements.csv", "job")

    @staticmethod
    def _rows(path: Path, key: str) -> dict[str, dict[str, str]]:
        with path.open(newline="") as file:
            return {row[key].rpartition("!")[2]: row for row in csv.DictReader(file)}

    def started(self, job_id: str) -> tuple[float, str]:
        """Return the start of a job, and its hosts."""
        row = self.jobs[job_id]
        return float(row["starting_time"]), row["allocated_resources"]

    def took(self, job_id: str) -> tuple[int, int, int, int]:
        """Return proposals, requests, releases and refusals."""
        row = self.placements[job_id]
        return tuple(int(row[name]) for name in ("proposals", "requests", "releases", "refusals"))  # type: ignore[return-value]


def job(job_id: str, subtime: float, res: int, seconds: int = 10, **members: Any) -> dict[str, Any]:
    """A job."""
    return {"id": job_id, "subtime": subtime, "res": res, "walltime": seconds + 1, "profile": str(seconds), **members}


def test_jobs_go_where_their_queries_say(tmp_path: Path) -> None:
    """They go to no other hosts, though these are free."""
    hosts = [{"arch": "x86"}, {"arch": "arm"}, {"arch": "x86"}]
    jobs = [job("1", 0, 2, constraint='$arch == "x86"'), job("2", 1, 1, constraint='$arch == "x86"'), job("3", 2, 1)]
    ended = Simulated(tmp_path, hosts, jobs)
    assert ended.started("1") == (0, "0 2")
    assert ended.started("2") == (10, "0")
    assert ended.started("3") == (2, "1")
    assert ended.took("1") == (1, 2, 0, 0)


def test_hosts_refuse_strangers(tmp_path: Path) -> None:
    """L26: those that are certain to refuse are not asked; with the option off they are, and refuse."""
    hosts = [{"allowed_users": "ann"}, {}]
    jobs = [job("1", 0, 1, user="bob"), job("2", 0, 1, user="ann")]
    ended = Simulated(tmp_path, hosts, jobs)
    assert [ended.started("1"), ended.started("2")] == [(0, "1"), (0, "0")]
    assert ended.took("1") == (1, 1, 0, 0)
    ended = Simulated(tmp_path, hosts, jobs, "foresight=false")
    assert [ended.started("1"), ended.started("2")] == [(0, "1"), (0, "0")]
    assert ended.took("1") == (1, 2, 0, 1)


def test_hosts_have_hours(tmp_path: Path) -> None:
    """Nothing runs there outside of them: jobs wait, and hosts are asked again."""
    ended = Simulated(tmp_path, [{"allowed_hours": "8-18"}], [job("1", 0, 1)], "pause=600")
    assert ended.started("1") == (8 * 3600, "0")


def test_what_is_known_may_be_out_of_date(tmp_path: Path) -> None:
    """A host that is thought to be free refuses; one that has become free is found with the next poll."""
    jobs = [job("1", 0, 1, 100), job("2", 5, 1), job("3", 101, 2)]
    ended = Simulated(tmp_path, [{}, {}], jobs, "staleness=300", "place=best")
    assert ended.started("2") == (5, "1")
    assert ended.took("2") == (1, 2, 0, 1)
    assert ended.started("3") == (101, "0-1")
    late = [job("1", 299, 2, 20), job("2", 320, 1)]
    ended = Simulated(tmp_path, [{}, {}], late, "staleness=300")
    assert ended.started("2") == (600, "0")
    assert ended.took("2") == (1, 1, 0, 0)


def test_who_said_that_it_is_in_use_is_not_asked_before_that_changes(tmp_path: Path) -> None:
    """By nobody, at no event, until its job has ended: then one job is started, and the next one is told."""
    busy = [job("1", 0, 1, 100)]
    waiting = [job(str(number), number, 1) for number in range(2, 6)]
    arriving = [job(str(number), 10 * number, 2, constraint="$id < 1 or $id > 1") for number in range(6, 9)]
    ended = Simulated(tmp_path, [{}], busy + waiting, "staleness=300")
    assert [ended.took(str(number)) for number in range(2, 6)] == [(2, 2, 0, 1)] * 4
    assert [ended.started(str(number))[0] for number in range(2, 6)] == [100, 110, 120, 130]
    ended = Simulated(tmp_path, [{}, {}, {}], busy + arriving, "staleness=300")
    assert [ended.started(str(number))[0] for number in (6, 7, 8)] == [100, 110, 120]
    assert [ended.took(str(number))[1] for number in (6, 7, 8)] == [3, 3, 3]


def test_nobody_is_asked_twice_for_one_job_at_a_time(tmp_path: Path) -> None:
    """All refuse, a new proposal finds nobody else; it is tried at 100, 300 and 700 again, and given up at 1000."""
    ended = Simulated(tmp_path, [{"refuse": 1}, {"refuse": 1}], [job("1", 0, 1)], "pause=100", "patience=1000")
    assert ended.code == 0
    assert ended.jobs["1"]["final_state"] == "REJECTED"
    assert ended.took("1") == (4, 8, 0, 8)


def test_whoever_was_refused_is_tried_again_when_a_host_changes_that_suits(tmp_path: Path) -> None:
    """Not at every event: jobs 3 and 4 come and go elsewhere; when job 2 leaves the other host it is free to agree."""
    hosts: list[dict[str, Any]] = [{"refuse": 1, "kind_": "a"}, {"kind_": "a"}, {}, {}]
    jobs = [job("1", 1, 1, 10, constraint='$kind_ == "a"'), job("2", 0, 1, 100, constraint="$id == 1")]
    jobs += [job(name, at, 1, 5, constraint="$id >= 2") for name, at in (("3", 2), ("4", 3), ("5", 20))]
    ended = Simulated(tmp_path, hosts, jobs, "pause=1000")
    assert ended.started("1") == (100, "1")
    assert ended.took("1") == (2, 3, 0, 2)


def test_while_others_run_who_was_refused_is_tried_again_after_pauses(tmp_path: Path) -> None:
    """Each twice as long, so that a host that is open again is found; hours are known."""
    (tmp_path / "own.py").write_text(
        "class Late:\n"
        "    def __init__(self, properties, draw): self.least = float(properties.get('least', 0))\n"
        "    def refuses(self, request, now, *, held, starts): return now < self.least\n"
    )
    jobs = [job("1", 0, 1, 100, constraint="$id == 1"), job("2", 0, 1, 10, constraint="$id == 0")]
    ended = Simulated(tmp_path, [{"least": 35}, {}], jobs, "pause=10", f"policy={tmp_path}/own.py:Late")
    assert ended.started("2") == (70, "0")
    assert ended.took("2") == (4, 4, 0, 3)
    long = [job("1", 0, 1, 100, constraint="$id == 1"), job("2", 0, 1, 10, constraint="$id == 0")]
    ended = Simulated(tmp_path, [{"allowed_hours": "0-0"}, {}], long, "pause=30", "patience=100")
    assert ended.jobs["2"]["final_state"] == "REJECTED"


def test_what_is_granted_is_kept_for_the_next_schedule(tmp_path: Path) -> None:
    """Two hosts refuse of six; the grants of the others are asked for once."""
    hosts: list[dict[str, Any]] = [{}, {"refuse": 1}, {}, {"refuse": 1}, {}, {}]
    ended = Simulated(tmp_path, hosts, [job("1", 0, 3)], "alternatives=8")
    kept = ended.took("1")
    ended = Simulated(tmp_path, hosts, [job("1", 0, 3)], "alternatives=8", "keep=none")
    assert kept[1] < ended.took("1")[1]
    assert kept[2] < ended.took("1")[2]


def test_a_job_that_can_never_run_is_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By what never changes; or when nothing will change any more."""
    jobs = [job("1", 0, 1, constraint='$arch == "vax"'), job("2", 0, 1, constraint="$jobs > 5"), job("3", 0, 1)]
    jobs.append(job("4", 0, 1, constraint="$a >"))
    ended = Simulated(tmp_path, [{}], jobs)
    assert [ended.jobs[name]["final_state"] for name in "124"] == ["REJECTED"] * 3
    told = capsys.readouterr().err
    assert "w0!1 rejected: needs 1 host, its constraint allows 0" in told
    assert "t=10: w0!2 rejected: no suitable hosts accept it, although nothing runs" in told
    assert "w0!4 rejected: constraint: at offset 4: the query ends too early" in told


def test_la_30_to_33_who_may_ever_match_waits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """LA-30 to LA-33: the load is unknown then: no vax is there; x86 is busy; no host ever has such a load."""
    jobs = [
        job("1", 0, 2, 20),
        job("2", 1, 1, constraint='$arch == "vax" and $load < 0.5'),
        job("3", 2, 1, constraint='$arch == "x86" and $load < 0.5'),
        job("4", 3, 1, constraint="$load > 2"),
    ]
    ended = Simulated(tmp_path, [{"arch": "x86"}, {"arch": "x86"}], jobs)
    assert ended.started("3") == (20, "0")
    told = capsys.readouterr().err
    assert "t=1: w0!2 rejected: needs 1 host, its constraint allows 0" in told
    assert "t=30: w0!4 rejected: no suitable hosts accept it, although nothing runs" in told


def test_la_74_whoever_is_vetoed_by_all_goes_back_to_the_queue(tmp_path: Path) -> None:
    """LA-74: six hosts grant and refuse the start: three proposals of two alternatives each; no token is alive then."""
    (tmp_path / "own.py").write_text(
        "class Veto:\n"
        "    def __init__(self, properties, draw): pass\n"
        "    def refuses(self, request, now, *, held, starts): return starts and now < 60\n"
    )
    options = {"policy": f"{tmp_path}/own.py:Veto", "alternatives": 2, "retries": 3}
    bench = Bench("placer", hosts=8, options=options)
    waiting = bench.submit(walltime=10)
    decision = bench.decide()
    assert decision.started == {}
    assert decision.holds == {waiting: "refused by hosts: start-refused 6 times"}
    placer = bench.session.scheduler
    assert isinstance(placer, PlacerScheduler)
    assert placer.enactor.requests == 6
    assert placer.admission.attempts[waiting].proposals == 3
    assert not any(resource.tokens(0) for resource in placer.members.resources.values())
    assert decision.calls == [60]
    assert list(bench.call().decide().started) == [waiting]


@pytest.mark.parametrize(
    ("host", "rule"),
    [
        ({"max_jobs": "many"}, "property max_jobs must be a whole number from 0, not 'many'"),
        ({"allowed_hours": "8-25"}, "property allowed_hours must be like 8-18, not '8-25'"),
        ({"refuse": 2}, "property refuse must be a share from 0 to 1, not '2'"),
    ],
)
def test_wrong_policies_are_told(
    tmp_path: Path, host: dict[str, Any], rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With host and property."""
    assert Simulated(tmp_path, [host], [job("1", 0, 1)]).code == 2
    assert f"host n0: {rule}" in capsys.readouterr().err


@pytest.mark.parametrize("place", ["best", "random", "round-robin"])
def test_the_same_seed_makes_the_same_decisions(tmp_path: Path, place: str) -> None:
    """It does so whatever refuses, in any order."""
    hosts: list[dict[str, Any]] = [{"refuse": 0.3}] * 6
    jobs = [job(str(number), number, 1 + number % 4, 5) for number in range(30)]
    runs = [Simulated(tmp_path, hosts, jobs, f"place={place}", "seed=4") for _ in range(2)]
    assert runs[0].jobs == runs[1].jobs
    assert runs[0].placements == runs[1].placements
    assert {row["final_state"] for row in runs[0].jobs.values()} == {"COMPLETED_SUCCESSFULLY"}

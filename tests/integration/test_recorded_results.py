"""The files of a run made from its recording: those that the simulation wrote, but for what messages do not have."""

from __future__ import annotations

import csv
import json
import re
from itertools import islice
from pathlib import Path

import pytest

from batsched_py.cli.main import run
from tests.clone import ROOT

CLUSTER = ("-p", ROOT / "platforms" / "cluster32.xml", "-w", ROOT / "workloads" / "lublin200.json")
ENERGY = ("-p", ROOT / "platforms" / "energy16.xml", "-w", "small.json", "-E")
LEASES = ("-p", ROOT / "platforms" / "tiny4.xml", "-w", ROOT / "workloads" / "reservations.json")
RUNS = {
    "easy": (*CLUSTER, "-s", "easy"),
    "v1.4": (*CLUSTER, "-s", "conservative", "--protocol", "v1.4"),
    "v5": (*CLUSTER, "-s", "easy", "--protocol", "v5"),
    "killer": (*CLUSTER, "-s", "killer"),
    "rejecter": (*CLUSTER, "-s", "rejecter"),
    "sleeper": (*ENERGY, "-s", "sleeper"),
    "leases": (*LEASES, "-s", "leases"),
    "packed": ("-p", ROOT / "platforms" / "rooms16.xml", "-w", "packed.json", "-s", "filler"),
    "failures": (*CLUSTER, "-s", "easy", "--events", "failures.txt"),
}
#: An algorithm that fails at its first decision.
WRONG = """\
from batsched_py.api import Plan, Scheduler, View


class Wrong(Scheduler):
    name = "wrong"

    def decide(self, view: View, plan: Plan) -> None:
        raise ValueError("not today")
"""
#: The columns of the schedule file that messages do not have; and, of hosts that are switched together, do not part.
UNKNOWN = {"scheduling_time", "simulation_time", "consumed_joules"}
SWITCHED = {"time_idle", "time_switching_off", "time_switching_on"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run in an empty folder, with a workload whose jobs share hosts, and failures."""
    monkeypatch.chdir(tmp_path)
    demands = ("--demand", '{"cores": 2}', "--demand", '{"gpus": 1, "gpu_share": 0.5}')
    assert run(["generate", "--jobs", "40", "--hosts", "8", "-o", "packed.json", *demands]) == 0
    assert run(["generate", "--jobs", "40", "--hosts", "16", "-o", "small.json"]) == 0
    lines = (
        '{"timestamp": 5000, "type": "machine_unavailable", "resources": "0-3"}',
        '{"timestamp": 9000, "type": "machine_available", "resources": "0-3"}',
    )
    Path("failures.txt").write_text("\n".join(lines) + "\n")


def simulated(name: str) -> None:
    """Make the run of a name, and its recording."""
    assert run(["simulate", *map(str, RUNS[name]), "-e", "run", "--record", "run.jsonl", "--quiet"]) == 0


def rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table."""
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", RUNS)
def test_the_files_are_those_of_the_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Byte for byte, without energy and wall-clock times."""
    simulated(name)
    capsys.readouterr()
    assert run(["site", "results", "run.jsonl", "-e", "again"]) == 0
    assert "the run has ended" in capsys.readouterr().out
    written = {path.name.removeprefix("run") for path in Path().glob("run*") if path.suffix != ".jsonl"}
    traces = {name for name in written if re.search("states|energy|pstate|real_exec", name)}
    for ending in written - traces - {"_run.json"}:
        one, other = Path(f"run{ending}"), Path(f"again{ending}")
        if ending == "_schedule.csv":
            (before,), (after,) = rows(one), rows(other)
            assert {key for key in before if before[key] != after[key]} <= UNKNOWN | (
                SWITCHED if name == "sleeper" else set()
            )
            assert sum(float(before[key]) for key in SWITCHED) == sum(float(after[key]) for key in SWITCHED)
        elif ending.endswith("jobs.csv"):
            energy = {"consumed_energy": "-1.000000"}
            assert [row | energy if row["consumed_energy"] else row for row in rows(one)] == rows(other)
        elif ending != "schedule.json":
            assert one.read_bytes() == other.read_bytes(), ending
    assert run(["check", "again"]) == 0


def test_a_recording_that_goes_on_has_the_jobs_that_have_ended(capsys: pytest.CaptureFixture[str]) -> None:
    """Its rows are the first ones of the whole run; the others are counted."""
    simulated("easy")
    with Path("run.jsonl").open() as whole, Path("part.jsonl").open("w") as part:
        part.writelines(islice(whole, 201))
        part.write(whole.readline()[:20])  # a site is writing it
    capsys.readouterr()
    assert run(["site", "results", "part.jsonl", "-e", "part"]) == 0
    found = rows(Path("part_jobs.csv"))
    ends = r"the recording ends at t=[\d.]+: (\d+) running jobs? and (\d+) waiting jobs? have no row"
    said = re.fullmatch(rf"wrote part: (\d+) ended jobs; {ends}\n", capsys.readouterr().out)
    assert said is not None
    assert len(found) == int(said[1]) > 0
    assert found == rows(Path("run_jobs.csv"))[: len(found)]
    assert int(said[2]) > 0
    assert run(["metrics", "part"]) == 0
    assert re.search(ends, capsys.readouterr().err)


def test_a_decision_of_another_algorithm_has_no_results(capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the exchange, and nothing is written."""
    simulated("easy")
    assert run(["site", "results", "run.jsonl", "-e", "other", "-s", "fcfs"]) == 2
    assert re.search(r"run.jsonl: exchange \d+: the decision differs from the recorded one", capsys.readouterr().err)
    assert not list(Path().glob("other*"))


def changed(before: str, after: str) -> None:
    """Make run.jsonl, of jobs 1 and 2, with another text in its place."""
    jobs = [{"id": name, "subtime": 0, "res": 1, "walltime": 9, "profile": "p"} for name in ("one", "two")]
    profiles = {"p": {"type": "delay", "delay": 5}}
    Path("two.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    tiny = str(ROOT / "platforms" / "tiny4.xml")
    assert run(["simulate", "-p", tiny, "-w", "two.json", "-s", "fcfs", "--record", "run.jsonl", "--quiet"]) == 0
    content = Path("run.jsonl").read_text()
    assert before in content
    Path("run.jsonl").write_text(content.replace(before, after))


@pytest.mark.parametrize(
    ("before", "after", "rule"),
    [
        ("w0!two", "w0!t,w,o", "job w0!t,w,o: must have no comma"),
        (
            '"redis-enabled":false',
            '"redis-enabled":true',
            "descriptions of jobs are in Redis, not in the recording",
        ),
    ],
)
def test_what_tables_cannot_hold_is_refused(
    before: str, after: str, rule: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A recording may be a stranger's: nothing in it becomes another cell, or is asked of a Redis."""
    changed(before, after)
    capsys.readouterr()
    assert run(["site", "results", "run.jsonl", "-e", "found"]) == 2
    assert rule in capsys.readouterr().err
    assert not list(Path().glob("found*"))


def test_a_run_that_failed_is_described_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    """With the reason, in its description, too."""
    Path("wrong.py").write_text(WRONG)
    tiny, jobs = str(ROOT / "platforms" / "tiny4.xml"), str(ROOT / "workloads" / "first.json")
    algorithm = ["-s", "wrong.py"]
    assert run(["simulate", "-p", tiny, "-w", jobs, *algorithm, "--record", "run.jsonl", "--quiet"]) == 3
    capsys.readouterr()
    assert run(["site", "results", "run.jsonl", *algorithm, "-e", "failed"]) == 0
    assert "0 ended jobs; t=0" in capsys.readouterr().out
    assert "not today" in json.loads(Path("failed_run.json").read_text())["failure"]

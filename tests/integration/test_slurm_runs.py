"""Recorded runs of `slurm` as squeue, sprio, sshare and `explain --slurm` show them, with figures computed by hand."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.slurm_runs import open_recording
from batsched_py.plugins import load
from batsched_py.runs.slurm.history import job_history
from batsched_py.runs.slurm.instant import scheduler_at
from batsched_py.runs.slurm.priorities import job_priorities
from batsched_py.runs.slurm.queue import expected_starts, queued_jobs
from batsched_py.runs.slurm.shares import share_rows
from batsched_py.session.session import Session
from batsched_py.testing import Case
from batsched_py.transcripts.transcript import Exchange
from tests.clone import ROOT
from tests.integration.programs import run_here
from tests.integration.variants import SPECS
from tests.recorded_run import RecordedRun
from tests.thoroughness import thorough

GOLDEN = ROOT / "tests" / "data" / "slurm"
#: Jobs as `SPECS` draws them.
Specs = list[tuple[int, int, int, int]]
CONF = """ClusterName=small
KillWait=30
SelectType=select/linear
PriorityType=priority/multifactor
PriorityCalcPeriod=1
PriorityDecayHalfLife=0
PriorityMaxAge=0-01:00:00
PriorityWeightAge=6000
PriorityWeightFairshare=10000
PriorityWeightJobSize=400
PriorityWeightPartition=100
PriorityWeightQOS=1000
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageEnforce=associations,limits,qos
NodeName=n[1-4] CPUs=2
PartitionName=batch Nodes=n[1-4] Default=YES
"""
ACCOUNTS = """add qos high priority=100
add qos limited MaxJobsPerUser=1
add account physics fairshare=3
add account chemistry fairshare=1
add user ada account=physics fairshare=2
add user bob account=physics qos=normal,high
add user eve account=chemistry qos=normal,limited
"""
HOSTS = "".join(f'<host id="n{number}" speed="1Gf"/>' for number in range(1, 5))
PLATFORM = (
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    f'<platform version="4.1"><zone id="z" routing="Full"><prop id="cpu" value="200"/>'
    f'<host id="master_host" speed="1Gf"/>{HOSTS}</zone></platform>\n'
)
FILES = ["-o", "conf=slurm.conf", "-o", "dump=accounts.txt", "-o", "commands=commands.txt"]

OTHER = [*FILES[:3], "dump=other.txt", *FILES[4:]]


def job(name: str, subtime: float, res: int, user: str, walltime: float = 600, **slurm: Any) -> dict[str, Any]:
    """A job of 300 s, or of 600 s if its limit is an hour."""
    profile = "long" if walltime > 600 else "short"
    members = {"id": name, "subtime": subtime, "res": res, "walltime": walltime, "profile": profile, "user": user}
    return {**members, "slurm": slurm}


JOBS = (
    job("wide", 0, 3, "ada", 3600),
    job("first", 1, 1, "eve", qos="limited"),
    job("second", 2, 1, "eve", qos="limited", job_name="again"),
    job("after", 5, 1, "ada", dependency="afterok:second"),
    job("all", 10, 4, "bob", qos="high"),
    job("later", 20, 2, "bob", begin=200),
    job("held", 30, 1, "ada", hold=True),
    job("absent", 40, 1, "ada", dependency="afterok:last"),
    job("last", 50, 1, "bob", qos="high"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of one run: three jobs at most run at once, others wait for one reason each."""
    made = tmp_path_factory.mktemp("slurm")
    profiles = {"long": {"type": "delay", "delay": 600}, "short": {"type": "delay", "delay": 300}}
    (made / "jobs.json").write_text(json.dumps({"nb_res": 4, "jobs": JOBS, "profiles": profiles}))
    texts = {"slurm.conf": CONF, "accounts.txt": ACCOUNTS, "cluster.xml": PLATFORM, "plain.conf": ""}
    for name, text in {**texts, "commands.txt": "200 scontrol release {held}\n"}.items():
        (made / name).write_text(text)
    common = ["simulate", "-p", "cluster.xml", "-w", "jobs.json", "--quiet"]
    assert run_here(made, *common, "-s", "slurm", *FILES, "-e", "out", "--record", "run.jsonl") == 0
    assert run_here(made, *common, "-s", "fcfs", "--record", "fcfs.jsonl", "-e", "fcfs") == 0
    assert run_here(made, *common, "-s", "slurm", "--record", "basic.jsonl", "-e", "basic") == 0
    return made


def shown(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The JSON that a command prints about the run."""
    capsys.readouterr()
    assert run_here(folder, *arguments, "--json", *FILES) == 0
    return json.loads(capsys.readouterr().out)


def explained(folder: Path, capsys: pytest.CaptureFixture[str], name: str, recording: str = "run.jsonl") -> Any:
    """The explanation of a job."""
    return shown(folder, capsys, "explain", recording, name, "--slurm")


def intervals_of(found: Any) -> list[tuple[Any, ...]]:
    """The intervals of an explanation."""
    return [(one["from"], one["to"], one["state"], one["reason"], one["nodes"]) for one in found["intervals"]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wide", [(0, 600, "RUNNING", "", "n[1-3]")]),
        ("first", [(1, 3, "PENDING", "None", ""), (3, 303, "RUNNING", "", "n4")]),
        (
            "second",
            [
                (2, 3, "PENDING", "None", ""),
                (3, 303, "PENDING", "QOSMaxJobsPerUserLimit", ""),
                (303, 603, "RUNNING", "", "n4"),
            ],
        ),
        ("all", [(10, 603, "PENDING", "Resources", ""), (603, 903, "RUNNING", "", "n[1-4]")]),
    ],
)
def test_each_second_of_a_job_has_a_state_and_a_reason(
    name: str, expected: list[tuple[Any, ...]], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Passes come 3 s after the one before, until the ends of jobs; a job that waits for a limit says so."""
    found = explained(folder, capsys, name)
    assert intervals_of(found) == expected
    assert (found["job"], found["final_state"], found["ended"]) == (f"w0!{name}", "COMPLETED", expected[-1][1])


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("after", (6, "Dependency")),
        ("later", (20, "BeginTime")),
        ("held", (30, "JobHeldUser")),
        ("absent", (40, "Dependency")),
    ],
)
def test_a_job_that_may_not_start_says_why(
    name: str, first: tuple[float, str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dependency, a begin, a hold, and a dependency on a job that was not submitted before."""
    intervals = intervals_of(explained(folder, capsys, name))
    assert first in [(begin, reason) for begin, _, _, reason, _ in intervals]
    assert (200, "JobHeldUser") in [(end, reason) for _, end, _, reason, _ in intervals] or name != "held"


def test_the_factors_of_priorities(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At 150 s those of the recalculation at 120 s: `all` was 110 s old, and bob is second of four users."""
    rows = {one["job"]: one for one in shown(folder, capsys, "slurm", "sprio", "run.jsonl", "--at", "150")}
    assert rows.keys() == {"w0!second", "w0!all", "w0!last"}
    factors = {"site": 0, "assoc": 0, "nice": 0, "tres": {}, "partition": 100}
    assert rows["w0!all"]["factors"] == {
        **factors, "age": pytest.approx(6000 * 110 / 3600), "fairshare": 5000, "jobsize": 300, "qos": 1000,
    }  # fmt: skip
    assert rows["w0!second"]["factors"] == {
        **factors, "age": pytest.approx(6000 * 118 / 3600), "fairshare": 7500, "jobsize": 75, "qos": 0,
    }  # fmt: skip
    assert (rows["w0!all"]["priority"], rows["w0!second"]["priority"]) == (6583, 7871)


def test_the_tree_of_shares(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At 150 s: ada had 6 processors for 120 s, eve 2 for 117 s, and nothing decays."""
    rows = shown(folder, capsys, "slurm", "sshare", "run.jsonl", "--at", "150")
    found = [tuple(row.values()) for row in rows]
    part = 720 / 954
    assert found == [
        ("root", None, 0, None, 0, 954, None, 1, None, None),
        ("root", "root", 1, 1, 0.2, 0, 0, 0, 1, "inf"),
        ("chemistry", None, 1, 1, 0.2, 234, 234 / 954, 234 / 954, None, pytest.approx(0.2 / (234 / 954))),
        ("chemistry", "eve", 2, 1, 1, 234, 234 / 954, 1, 0.75, 1),
        ("physics", None, 1, 3, 0.6, 720, part, part, None, pytest.approx(0.6 / part)),
        ("physics", "ada", 2, 2, 2 / 3, 720, part, 1, 0.25, 2 / 3),
        ("physics", "bob", 2, 1, 1 / 3, 0, 0, 0, 0.5, "inf"),
    ]


def test_the_queue_has_the_order_of_squeue(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pending jobs are before running ones, each by priority; the last one was not submitted to the controller."""
    rows = shown(folder, capsys, "slurm", "squeue", "run.jsonl", "--at", "45")
    assert [(row["job"], row["state"], row["time"], row["reason"] or row["nodelist"]) for row in rows] == [
        ("w0!all", "PENDING", 0, "Resources"),
        ("w0!later", "PENDING", 0, "BeginTime"),
        ("w0!second", "PENDING", 0, "QOSMaxJobsPerUserLimit"),
        ("w0!after", "PENDING", 0, "Dependency"),
        ("w0!held", "PENDING", 0, "JobHeldUser"),
        ("w0!absent", "PENDING", 0, "Dependency"),
        ("w0!wide", "RUNNING", 45, "n[1-3]"),
        ("w0!first", "RUNNING", 42, "n4"),
    ]
    assert (rows[5]["priority"], rows[5]["partition"], rows[2]["name"]) == (None, "batch", "again")


def test_expected_starts_are_those_of_the_plan(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At the ends of limits: of the first job for one node, of the wide one for all; others have no start."""
    rows = shown(folder, capsys, "slurm", "squeue", "run.jsonl", "--at", "150", "--start")
    found = [(row["job"], row["start"], row["scheduled"]) for row in rows]
    assert found[:2] == [("w0!last", 603, "n4"), ("w0!all", 3600, "n[1-4]")]
    starts = {row["job"]: row["start"] for row in rows}
    assert [starts[f"w0!{name}"] for name in ("second", "later", "held", "after", "absent")] == [None] * 5


def test_the_tables_have_the_columns_of_slurm(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Headings, the short state, and times as squeue writes them."""
    texts = []
    for command in (["squeue"], ["squeue", "--start"], ["sprio"], ["sshare"]):
        assert run_here(folder, "slurm", *command, "run.jsonl", "--at", "150", *FILES) == 0
        texts.append([line.split() for line in capsys.readouterr().out.splitlines() if line.strip()])
    headings = [" ".join(text[0]) for text in texts]
    assert headings == [
        "JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)",
        "JOBID PARTITION NAME USER ST START_TIME NODES SCHEDNODES NODELIST(REASON)",
        "JOBID PARTITION USER ACCOUNT PRIORITY SITE AGE ASSOC FAIRSHARE JOBSIZE PARTITION QOS NICE TRES",
        "Account User RawShares NormShares RawUsage NormUsage EffectvUsage FairShare LevelFS",
    ]
    assert ["w0!first", "batch", "first", "eve", "R", "2:27", "1", "n4"] in texts[0]
    assert ["w0!later", "batch", "later", "bob", "PD", "N/A", "2", "(null)", "(BeginTime)"] in texts[1]
    assert ["w0!all", "batch", "bob", "physics", "6583", "0", "183", "0", "5000", "300", "100", "1000", "0"] in texts[2]
    assert ["physics", "bob", "1", "0.333333", "0", "0.000000", "0.000000", "0.500000", "inf"] in texts[3]


def test_an_explanation_shows_intervals_and_priorities(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first and the last priority; the name is enough if one workload has it."""
    assert run_here(folder, "explain", "run.jsonl", "second", "--slurm", *FILES) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == ("w0!second: user eve, account chemistry, partition batch, QOS limited, submitted at 2 s")
    assert "ended at 603 s: COMPLETED" in lines
    assert [" ".join(line.split()) for line in lines if "PD" in line] == [
        "2 s 1 s PD (None)",
        "3 s 5 min PD (QOSMaxJobsPerUserLimit)",
    ]
    assert [line.split()[:4] for line in lines if "batch  " in line] == [
        ["2", "s", "batch", "10175"],
        ["300", "s", "batch", "8171"],
    ]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["slurm", "squeue", "fcfs.jsonl", "--at", "1"], "fcfs.jsonl: is a run of fcfs, not of slurm"),
        (["explain", "fcfs.jsonl", "all", "--slurm"], "fcfs.jsonl: is a run of fcfs, not of slurm"),
        (["slurm", "squeue", "run.jsonl", "--at", "1e6", *FILES], "run.jsonl: t=1000000: must be at or before t="),
        (["slurm", "squeue", "run.jsonl", "--at", "1"], "run.jsonl: its header: option conf of slurm: is set by the"),
        (["slurm", "sprio", "basic.jsonl", "--at", "1"], "basic.jsonl: is a run without factors: conf must have"),
        (["slurm", "sshare", "basic.jsonl", "--at", "1"], "basic.jsonl: is a run without factors: conf must have"),
        (["slurm", "squeue", "out", "--at", "1"], "out: has files of results only: name the recording of the run"),
        (["explain", "run.jsonl", "secnd", "--slurm", *FILES], "run.jsonl: has no job secnd; did you mean second?"),
        (["explain", "run.jsonl", "all", "--slurm", "--hosts", "4", *FILES], "--hosts cannot be combined with --slurm"),
        (["explain", "out", "all", "-o", "conf=slurm.conf"], "-s, -o and --options-file need --slurm"),
        (
            ["slurm", "sshare", "run.jsonl", "--at", "700", *OTHER],
            "run.jsonl: exchange 4: the decision differs from the",
        ),
    ],
)
def test_what_cannot_be_shown_is_one_line(
    arguments: list[str], line: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another algorithm, an instant outside the run, missing or other files, and options without effect."""
    (folder / "other.txt").write_text(ACCOUNTS.replace("MaxJobsPerUser=1", "MaxJobsPerUser=0"))
    assert run_here(folder, *arguments) == 2
    error = [one for one in capsys.readouterr().err.splitlines() if "error" in one.lower()]
    assert len(error) == 1
    assert line in error[0]


def test_a_run_that_failed_is_shown_until_then(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A user without an association ended it: afterwards the controller has half of a decision."""
    content = json.loads((folder / "jobs.json").read_text())
    content["jobs"].append(job("stranger", 100, 1, "nobody"))
    (folder / "failing.json").write_text(json.dumps(content))
    arguments = ["-p", "cluster.xml", "-w", "failing.json", "-s", "slurm", *FILES, "--record", "failed.jsonl"]
    assert run_here(folder, "simulate", *arguments, "-e", "failed", "--quiet") == 2
    assert len(shown(folder, capsys, "slurm", "squeue", "failed.jsonl", "--at", "99")) == 9
    assert explained(folder, capsys, "all", "failed.jsonl")["ended"] is None
    for at in ([], ["--at", "100"], ["--at", "150"]):
        assert run_here(folder, "slurm", "squeue", "failed.jsonl", *at, *FILES) == 2
        assert "failed.jsonl: t=100: must be before the failure of the run, accounts.txt: " in capsys.readouterr().err


def test_warnings_of_the_run_are_not_repeated(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run has shown that KillWait is approximated."""
    capsys.readouterr()
    for command in (["slurm", "squeue"], ["slurm", "sprio"], ["slurm", "sshare"]):
        assert run_here(folder, *command, "run.jsonl", "--at", "15", *FILES) == 0
    assert run_here(folder, "explain", "run.jsonl", "all", "--slurm", *FILES) == 0
    assert run_here(folder, "replay", "run.jsonl", *FILES) == 0
    err = capsys.readouterr().err
    assert err.count("warning") == 1
    assert "approximated: KillWait" in err


def test_names_cannot_control_the_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Users and jobs of a recording are written with escapes."""
    text = (folder / "basic.jsonl").read_text().replace('"user":"bob"', '"user":"bob\\u001b[2J"')
    (folder / "hostile.jsonl").write_text(text)
    assert run_here(folder, "slurm", "squeue", "hostile.jsonl", "--at", "15") == 0
    assert run_here(folder, "explain", "hostile.jsonl", "all", "--slurm") == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("bob\\x1b[2J") == 2


def test_reasons_of_licences_limits_and_reservations(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A reservation on n4 from 102 s to 402 s: the full pass at 120 s notices its begin, one at 410 s its end."""
    conf = "SelectType=select/linear\nPriorityType=priority/basic\nLicenses=matlab:1\nNodeName=n[1-4] CPUs=2\n"
    conf += "PartitionName=batch Nodes=ALL Default=YES\nPartitionName=brief Nodes=ALL MaxTime=5\n"
    jobs = (
        job("first", 0, 1, "ada", licences={"matlab": 1}),
        job("second", 1, 1, "ada", licences={"matlab": 1}),
        job("limited", 3, 1, "ada", partition="brief"),
        job("inside", 5, 1, "ada", 290, reservation="upkeep"),
        job("all", 6, 4, "bob"),
    )
    profiles = {"short": {"type": "delay", "delay": 300}}
    reservation = "2 scontrol create reservation reservationname=upkeep starttime=now+100 duration=5 nodes=n4 users=ada"
    texts = {"slurm.conf": conf, "commands.txt": reservation + "\n"}
    texts["cluster.xml"] = PLATFORM.replace("<prop", '<prop id="licences" value="matlab:1"/><prop', 1)
    texts["jobs.json"] = json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles})
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    files = [*FILES[:2], *FILES[4:]]
    arguments = ["-p", "cluster.xml", "-w", "jobs.json", "-s", "slurm", *files, "--record", "run.jsonl"]
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    capsys.readouterr()
    found: dict[str, Any] = {}
    for name in ("second", "limited", "inside", "all"):
        assert run_here(tmp_path, "explain", "run.jsonl", name, "--slurm", "--json", *files) == 0
        found[name] = json.loads(capsys.readouterr().out)
    waits = {name: [one[:2] + one[3:4] for one in intervals_of(one) if one[3]] for name, one in found.items()}
    assert waits == {
        "second": [(1, 3, "None"), (3, 300, "Licenses")],
        "limited": [(3, found["limited"]["ended"], "PartitionTimeLimit")],
        "inside": [(5, 6, "None"), (6, 120, "Reservation")],
        "all": [(6, 410, "ReqNodeNotAvail, May be reserved for other job"), (410, 600, "Resources")],
    }
    assert (found["limited"]["final_state"], found["limited"]["words"]) == (
        "CANCELLED", "nothing runs, and it cannot start: PartitionTimeLimit",
    )  # fmt: skip
    assert found["inside"]["final_state"] == "TIMEOUT"


@pytest.mark.parametrize("protocol", ["v4", "v5"])
def test_a_requeued_job_keeps_its_id(protocol: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both of its runs are shown; in the folder of a site as in a file, at the end as at an instant."""
    shutil.copy(GOLDEN / f"preemption-{protocol}.jsonl", tmp_path / "transcript.jsonl")
    (tmp_path / "slurm.conf").write_bytes((GOLDEN / "preemption.conf").read_bytes())
    files = ["-o", "conf=slurm.conf", "--json"]
    assert run_here(tmp_path, "explain", ".", "again", "--slurm", *files) == 0
    found = json.loads(capsys.readouterr().out)
    assert intervals_of(found) == [
        (0, 10, "RUNNING", "", "n[0-1]"),
        (10, 50, "PENDING", "BeginTime", ""),
        (50, 90, "RUNNING", "", "n[0-1]"),
    ]
    assert run_here(tmp_path, "explain", ".", "gone", "--slurm", *files) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["ended"], found["final_state"]) == (110, "PREEMPTED")
    assert run_here(tmp_path, "slurm", "squeue", "transcript.jsonl", "--at", "20", *files) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["job"], row["state"], row["partition"]) for row in rows] == [
        ("w0!first", "RUNNING", "high"),
        ("w0!again", "PENDING", "low"),
    ]
    assert run_here(tmp_path, "slurm", "squeue", ".", *files) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_tasks_of_arrays_and_jobs_of_several_workloads_are_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A task has its own id; a name that several workloads have is refused, with the ids."""
    array = {"array": {"id": "t", "limit": 1}}
    for name, jobs in (
        ("a", [{**job(f"t{number}", 0, 1, "ada"), **array} for number in range(2)]),
        ("b", [job("t1", 5, 1, "bob")]),
    ):
        profiles = {"short": {"type": "delay", "delay": 300}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    (tmp_path / "cluster.xml").write_text(PLATFORM)
    arguments = ["-p", "cluster.xml", "-w", "a.json", "-w", "b.json", "-s", "slurm", "--record", "run.jsonl"]
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    assert run_here(tmp_path, "explain", "run.jsonl", "w0!t1", "--slurm", "--json") == 0
    assert intervals_of(json.loads(capsys.readouterr().out)) == [
        (0, 300, "PENDING", "JobArrayTaskLimit", ""),
        (300, 600, "RUNNING", "", "n1"),
    ]
    assert run_here(tmp_path, "explain", "run.jsonl", "t1", "--slurm") == 2
    assert "run.jsonl: has several jobs t1: w0!t1, w1!t1; name one of them" in capsys.readouterr().err


def played(specs: Specs) -> RecordedRun:
    """A run without a configuration, on as many hosts as `SPECS` is for."""
    case = Case(hosts=6, jobs=tuple(specs))
    made = RecordedRun("slurm", {"scheduler": "backfill"})
    made.run([case.workload()], case.settings(), on=case.platform())
    return made


def exchanges_of(run: RecordedRun) -> list[Exchange]:
    """Its recording."""
    return [Exchange(number, request, reply) for number, (request, reply) in enumerate(run.exchanges)]


def session() -> Session:
    """A new session for a recording of `played`."""
    return Session(load("slurm"), {"scheduler": "backfill"})


@given(SPECS, st.data())
@settings(max_examples=thorough(10), deadline=None)
def test_states_cover_the_life_of_a_job_without_a_gap(specs: Specs, data: st.DataObject) -> None:
    """From submission to end; it pends with a reason until the recorded start, and runs until the recorded end."""
    run = played(specs)
    record = data.draw(st.sampled_from(run.by_submission()))
    found = job_history(exchanges_of(run), session(), "run", record.job.id)
    edges = [found.submitted, *(one.end for one in found.intervals)]
    assert [one.begin for one in found.intervals] == edges[:-1]
    assert (edges[0], edges[-1]) == (record.job.submit_time, record.finish)
    for one in found.intervals:
        is_pending = one.begin < record.start
        assert one.status.state == ("PENDING" if is_pending else "RUNNING")
        assert bool(one.status.reason) == is_pending
        assert one.end is not None
        assert one.end <= record.start or not is_pending


@given(SPECS, st.integers(0, 40))
@settings(max_examples=thorough(10), deadline=None)
def test_the_queue_at_an_instant_is_that_of_the_records(specs: Specs, at: int) -> None:
    """Jobs that were submitted and have not ended, pending until their start; no plan is before the instant."""
    run = played(specs)
    end = run.session.now
    at = min(at, int(end))
    scheduler = scheduler_at(exchanges_of(run), session(), "run", at)
    found = {row.job: row.state for row in queued_jobs(scheduler, at)}
    assert found == {
        one.job.id: "RUNNING" if one.start <= at else "PENDING"
        for one in run.jobs
        if one.job.submit_time <= at < one.finish
    }
    starts = expected_starts(scheduler, at)
    assert {one.row.job for one in starts} == {job_id for job_id, state in found.items() if state == "PENDING"}
    assert all(one.start is None or one.start >= at for one in starts)


@pytest.mark.parametrize("at", [0, 45, 150, 250, 420, 905])
def test_factors_add_up_to_priorities_and_shares_to_one(at: int, folder: Path) -> None:
    """The sum of the factors without its fraction, less nice; what siblings use is what their account uses."""
    files = {"conf": "slurm.conf", "dump": "accounts.txt", "commands": "commands.txt"}
    choice = AlgorithmChoice("", {name: str(folder / file) for name, file in files.items()})
    scheduler = open_recording(folder / "run.jsonl", choice).scheduler_at(at)
    rows = job_priorities(scheduler, at)
    assert ("w0!later" in {row.job for row in rows}) == (at >= 200)
    for row in rows:
        factors: Any = row.plain["factors"]
        nice, tres = factors.pop("nice"), factors.pop("tres")
        assert row.priority == int(math.fsum([*factors.values(), *tres.values()])) - nice
    shares = share_rows(scheduler)
    for account in ("root", "physics", "chemistry"):
        [parent] = [row for row in shares if row.account == account and not row.user]
        below = shares[shares.index(parent) + 1 :]
        end = next((place for place, row in enumerate(below) if row.depth <= parent.depth), len(below))
        children = [row for row in below[:end] if row.depth == parent.depth + 1]
        assert math.fsum(row.share.norm_shares for row in children) == pytest.approx(1)
        assert math.fsum(row.raw_usage for row in children) == pytest.approx(parent.raw_usage)
        used = math.fsum(row.share.effective_usage for row in children)
        assert used == pytest.approx(1 if parent.share.norm_usage != 0 and at >= 60 else 0)

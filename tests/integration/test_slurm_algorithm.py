"""The algorithm `slurm` through whole runs: recorded cases, conversations, and files that are wrong."""

from __future__ import annotations

import csv
import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from batsched_py.testing import Case
from tests.clone import ROOT
from tests.integration.programs import recorded, run, run_here, serving
from tests.integration.variants import SPECS
from tests.recorded_run import RecordedRun
from tests.slurm_cases import play
from tests.slurm_workloads import write_case
from tests.thoroughness import thorough

CASES: dict[str, dict[str, Any]] = {
    case["id"]: case
    for line in gzip.decompress((ROOT / "tests/data/slurm/cases.jsonl.gz").read_bytes()).splitlines()
    for case in [json.loads(line)]
}
#: Backfill, the killer of limits, fair share, a limit, preemption with requeue, dependencies, arrays, a reservation,
#: nodes that are drained, features, GPUs, licences and a topology.
SAMPLE = (
    *("03-backfill-default", "17-timeouts", "30-fair-tree", "34-qos-maxjobs-peruser", "43-preempt-part-requeue"),
    *("50-dependencies", "52-arrays", "55-reservation-nodes", "58-drain-resume", "60-features", "65-gres"),
    *("66-licences", "68-topology"),
)
GOLDEN = ROOT / "tests" / "data" / "slurm"

CONF = """ClusterName=small
SelectType=select/linear
AuthInfo=cred_expire=5
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
NodeName=n[0-1]
PartitionName=low Nodes=n[0-1] Default=YES
PartitionName=high Nodes=n[0-1] PriorityTier=5
PartitionName=killed Nodes=n[0-1] PreemptMode=CANCEL
"""
HOSTS = "".join(f'<host id="n{number}" speed="1Gf"/>' for number in range(2))
PLATFORM = (
    '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
    f'<platform version="4.1"><zone id="z" routing="Full"><host id="master_host" speed="1Gf"/>{HOSTS}</zone>'
    "</platform>\n"
)


def job(name: str, subtime: float, res: int, partition: str = "", **slurm: Any) -> dict[str, Any]:
    """A job of 40 s."""
    members = {**({"partition": partition} if partition else {}), **slurm}
    return {"id": name, "subtime": subtime, "res": res, "walltime": 60, "profile": "d", "slurm": members}


def write(folder: Path, *jobs: dict[str, Any], conf: str = CONF) -> list[str]:
    """Write the files of a run; return the options that name them."""
    workload = {"nb_res": 2, "jobs": jobs, "profiles": {"d": {"type": "delay", "delay": 40}}}
    (folder / "platform.xml").write_text(PLATFORM)
    (folder / "workload.json").write_text(json.dumps(workload))
    (folder / "slurm.conf").write_text(conf)
    return ["-p", "platform.xml", "-w", "workload.json", "-s", "slurm", "-o", "conf=slurm.conf"]


def preempted(folder: Path) -> list[str]:
    """Write a run in which a job is requeued, and another one killed, for jobs of a higher tier."""
    return write(
        folder,
        job("again", 0, 2),
        job("first", 10, 2, "high"),
        job("gone", 100, 1, "killed"),
        job("second", 110, 2, "high"),
    )


def sharing(folder: Path) -> list[str]:
    """Write a run in which tasks share nodes: by backfill, a dependency, and a job with whole nodes."""

    def parts(name: str, subtime: float, tasks: int, cores: int, **members: Any) -> dict[str, Any]:
        return {**job(name, subtime, tasks), "demand": {"cores": cores, "memory": 100}, **members}

    arguments = write(
        folder,
        parts("0", 0, 2, 3, walltime=180),
        parts("1", 5, 2, 3),
        parts("2", 6, 1, 1),
        parts("3", 7, 1, 1, depends_on=["0"]),
        job("4", 8, 2),
        parts("5", 9, 2, 1),
        conf=(GOLDEN / "sharing.conf").read_text(),
    )
    sizes = '<prop id="cpu" value="400"/><prop id="mem" value="1000"/>'
    hosts = HOSTS.replace("/>", f">{sizes}</host>")
    (folder / "platform.xml").write_text(PLATFORM.replace(HOSTS, hosts))
    return arguments


def rows(folder: Path, name: str = "out_jobs.csv") -> list[dict[str, str]]:
    """The rows of the jobs file."""
    with (folder / name).open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", SAMPLE)
def test_a_recorded_case_has_the_starts_of_the_kernel(name: str, tmp_path: Path) -> None:
    """Through files, messages and the referee: each last start is that of the controller alone."""
    case = CASES[name]
    first = case["repetitions"][0]
    clock, began = first["clock_at_zero_mod_3600"], first["controller_started_at"]
    arguments = ["-o", "delays=recorded", "-o", f"clock={clock}", "-o", f"started={began}", "--enable-dynamic-jobs"]
    assert run_here(tmp_path, "simulate", *write_case(case, tmp_path), *arguments, "-e", "out", "--quiet") == 0
    found: dict[str, float] = {}
    for row in rows(tmp_path):
        if row["final_state"] != "REJECTED":
            key = row["job_id"].partition("#")[0]
            found[key] = max(found.get(key, 0.0), float(row["starting_time"]))
    expected = {key: start.at for key, start in play(case, clock, began).starts.items()}
    assert found == pytest.approx(expected, abs=0.02)


@given(SPECS)
@settings(max_examples=thorough(15), deadline=None)
def test_without_a_configuration_and_without_backfill_it_is_fcfs(specs: list[tuple[int, int, int, int]]) -> None:
    """The starts of all jobs are the same, to the last bit."""
    case = Case(hosts=6, jobs=tuple(specs))
    starts = []
    for name, options in (("fcfs", {}), ("slurm", {"scheduler": "builtin"})):
        played = RecordedRun(name, options)
        played.run([case.workload()], case.settings(), on=case.platform())
        starts.append(sorted((record.job.id, record.start, record.finish, record.state) for record in played.jobs))
    assert starts[0] == starts[1]


@pytest.mark.parametrize("protocol", ["v1.4", "v4", "v5"])
def test_preemption_has_the_recorded_conversation(protocol: str, tmp_path: Path) -> None:
    """A requeue is a kill and a submission; a cancellation is a kill. Batsim 1 sends profiles with jobs."""
    arguments = [*preempted(tmp_path), "--enable-dynamic-jobs", "--protocol", protocol, "--record", "run.jsonl"]
    arguments += ["--forward-profiles-on-submission"] if protocol == "v1.4" else []
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    assert recorded(tmp_path / "run.jsonl") == recorded(GOLDEN / f"preemption-{protocol}.jsonl")
    found = rows(tmp_path, "outjobs.csv" if protocol == "v5" else "out_jobs.csv")
    again = {"0": "again#1"} if protocol == "v1.4" else {}
    states = [
        (again.get(row["job_id"], row["job_id"]), float(row["starting_time"]), row["final_state"]) for row in found
    ]
    assert sorted(states) == [
        ("again", 0.0, "COMPLETED_KILLED"),
        ("again#1", 50.0, "COMPLETED_SUCCESSFULLY"),
        ("first", 10.0, "COMPLETED_SUCCESSFULLY"),
        ("gone", 100.0, "COMPLETED_KILLED"),
        ("second", 110.0, "COMPLETED_SUCCESSFULLY"),
    ]


@pytest.mark.parametrize("protocol", ["v1.4", "v5"])
def test_tasks_that_share_nodes_have_the_recorded_conversation(protocol: str, tmp_path: Path) -> None:
    """A small job is backfilled on the processor that is left; whole nodes wait for all tasks."""
    arguments = [*sharing(tmp_path), "--protocol", protocol, "--record", "run.jsonl"]
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    assert recorded(tmp_path / "run.jsonl") == recorded(GOLDEN / f"sharing-{protocol}.jsonl")
    found = rows(tmp_path, "outjobs.csv" if protocol == "v5" else "out_jobs.csv")
    starts = {row["job_id"]: (float(row["starting_time"]), row["allocated_resources"]) for row in found}
    assert starts == {
        "0": (0.0, "0-1"),
        "2": (10.0, "0"),
        "1": (40.0, "0-1"),
        "3": (40.0, "1"),
        "4": (80.0, "0-1"),
        "5": (120.0, "0"),
    }


def test_serve_decides_as_simulate(tmp_path: Path) -> None:
    """Over a socket, with the same files: the same jobs file."""
    arguments = preempted(tmp_path)
    common = [*arguments[:4], "--enable-dynamic-jobs", "--quiet"]
    assert run_here(tmp_path, "simulate", *common, *arguments[4:], "-e", "out") == 0
    here = (tmp_path / "out_jobs.csv").read_bytes()
    with serving(tmp_path, *arguments[4:]) as served:
        there = run(tmp_path, "simulate", *common, "--socket", served.address, "-e", "there")
        assert there.returncode == 0, there.stderr
        assert served.end()[0] == 0
    assert (tmp_path / "there_jobs.csv").read_bytes() == here


ACCOUNTS = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=associations\n"


@pytest.mark.parametrize(
    ("conf", "dump", "line"),
    [
        (
            f"{CONF}BackfillSpeed=3\n",
            None,
            "slurm.conf: line 10: BackfillSpeed: is an unknown or unsupported",
        ),
        (
            CONF.replace("n[0-1]", "n[0-2]"),
            None,
            "option conf: slurm.conf: NodeName: no host of the platform is called",
        ),
        (
            CONF.replace("REQUEUE", "SUSPEND"),
            None,
            "option conf: slurm.conf: PreemptMode=SUSPEND: Batsim cannot",
        ),
        (CONF, None, "option conf: slurm.conf: PreemptMode=REQUEUE submits jobs again: run Batsim, or simulate, with"),
        (CONF, "Cluster - 'small'\n", "option dump: conf must have AccountingStorageType=accounting_storage/slurmdbd"),
        (
            CONF.replace("Default=YES", "Default=YES QOS=cap") + ACCOUNTS,
            "add qos other\n",
            "slurm.conf: PartitionName=low: QOS: must be a QOS of the accounts (option dump), not cap",
        ),
        (CONF + ACCOUNTS, "Parent - 'chemistry'\n", "accounts: line 1: Parent - 'chemistry': must name an account"),
        (
            CONF + ACCOUNTS,
            "User - 'ada':Colour=red\n",
            "accounts: line 1: User - 'ada':Colour=red: colour is not",
        ),
    ],
)
def test_wrong_files_are_one_line(
    conf: str, dump: str | None, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """File, line and rule, exit code 2."""
    arguments = write(tmp_path, job("a", 0, 1), conf=conf)
    if dump is not None:
        (tmp_path / "accounts").write_text(dump)
        arguments += ["-o", "dump=accounts"]
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 2
    [error] = capsys.readouterr().err.splitlines()
    assert error.startswith(f"batsched-py: error: {line}")


@pytest.mark.parametrize(("strangers", "code"), [("stop", 2), ("refuse", 0)])
def test_a_user_without_an_association_ends_the_run_or_is_refused(
    strangers: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line names the file, the job, the user and the rule."""
    arguments = write(tmp_path, {**job("a", 0, 1), "user": "bob"}, job("b", 0, 1), conf=CONF + ACCOUNTS)
    arguments += ["-o", f"strangers={strangers}", "--enable-dynamic-jobs", "-e", "out", "--quiet"]
    assert run_here(tmp_path, "simulate", *arguments) == code
    [line] = capsys.readouterr().err.splitlines()
    if code:
        assert "slurm.conf: w0!a: user bob has no association: AccountingStorageEnforce requires one" in line
    else:
        assert line.endswith("w0!a rejected: Invalid account or account/partition combination specified")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"slurm": {"nodes": "4-2"}},
            'slurm.nodes: must be a whole number from 1, or a range such as "2-4", not',
        ),
        ({"slurm": {"colour": "red"}}, "slurm.colour: unknown; there are: account, qos"),
        ({"slurm": {"nodes": 2}}, "slurm.nodes: must be res, 1, for a job without a demand"),
        ({"slurm": {"partition": "none"}}, "Invalid partition name specified"),
        ({"slurm": {"exclusive": "user"}}, "slurm.exclusive: must be node, or absent, for a job without a demand"),
        ({"slurm": {"array_task": 3}}, "slurm.array_task: must be with the member array"),
        ({"slurm": {"switches_wait": 60}}, "slurm.switches_wait: must be with switches"),
        ({"slurm": {"mem": 1, "mem_per_cpu": 1}}, "slurm.mem: cannot be combined with mem_per_cpu"),
        ({"slurm": {"dependency": "afterok:b?after:c,after:d"}}, "slurm.dependency: must have commas, if all parts"),
        ({"slurm": {"dependency": "singleton?after:b"}}, "slurm.dependency: must not have singleton as an alternative"),
        ({"slurm": {"dependency": "singleton"}}, "slurm.dependency: singleton must be with job_name"),
        ({"slurm": {"dependency": "afterok:b+5"}}, "slurm.dependency: can have minutes (+5) with the kind after only"),
        ({"slurm": {"dependency": "later:b"}}, "slurm.dependency: must have parts KIND:NAME, such as"),
        (
            {"slurm": {"nodes": "1-2"}, "res": 2, "demand": {"cores": 1, "spread": True}},
            "slurm.nodes: must be res, 2, with demand.spread",
        ),
        (
            {"slurm": {"exclusive": "user"}, "demand": {"cores": 1, "exclusive": True}},
            "slurm.exclusive: must be node, or absent, with demand.exclusive",
        ),
        ({"depends_on": [{"job": "b", "when": "end", "delay": 5}]}, "depends_on.delay: must be whole minutes"),
    ],
)
def test_a_job_with_wrong_members_is_rejected_with_the_rule(
    members: dict[str, Any], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The others run."""
    arguments = write(tmp_path, {**job("a", 0, 1), **members}, job("b", 0, 1), conf=CONF.replace("REQUEUE", "CANCEL"))
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    [line] = capsys.readouterr().err.splitlines()
    assert f"w0!a rejected: {reason}" in line
    assert [row["final_state"] for row in rows(tmp_path)] == ["REJECTED", "COMPLETED_SUCCESSFULLY"]


def test_commands_are_given_at_their_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A held job waits for its release; a fault names the line."""
    arguments = write(tmp_path, job("a", 0, 1, hold=True), conf=CONF.replace("REQUEUE", "CANCEL"))
    (tmp_path / "commands").write_text("# the job is released\n50.5 scontrol release {a}\n60 scontrol hold {b}\n")
    assert run_here(tmp_path, "simulate", *arguments, "-o", "commands=commands", "-e", "out", "--quiet") == 0
    assert [row["starting_time"] for row in rows(tmp_path)] == ["50.500000"]
    assert "command in line 3: b was not submitted before" in capsys.readouterr().err


def test_an_array_that_waits_for_the_submission_of_another_job_keeps_its_limit(tmp_path: Path) -> None:
    """Its tasks are submitted together then."""
    array = {"array": {"id": "t", "limit": 1}, "depends_on": ["late"]}
    tasks = [{**job(f"t{number}", 0, 1), **array} for number in range(3)]
    arguments = write(tmp_path, *tasks, job("late", 5, 1), conf=CONF.replace("REQUEUE", "CANCEL"))
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    found = [float(row["starting_time"]) for row in rows(tmp_path) if row["job_id"] != "late"]
    assert [later - earlier for earlier, later in pairwise(sorted(found))] == [40, 40]


def test_a_job_with_whole_hosts_keeps_its_number(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Batsim starts it on as many as `res` says."""
    arguments = write(tmp_path, job("a", 0, 1, hold=True), conf=CONF.replace("REQUEUE", "CANCEL"))
    (tmp_path / "commands").write_text("5 scontrol update jobid={a} numnodes=2\n9 scontrol release {a}\n")
    assert run_here(tmp_path, "simulate", *arguments, "-o", "commands=commands", "-e", "out", "--quiet") == 0
    assert [row["starting_time"] for row in rows(tmp_path)] == ["9.000000"]
    assert "command in line 1: numnodes must be 1, as the member res says" in capsys.readouterr().err


def test_what_is_approximated_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A topology that is not used is refused."""
    conf = CONF.replace("REQUEUE", "CANCEL").replace("Default=YES", "Default=YES AllowAccounts=x") + "KillWait=9\n"
    arguments = write(tmp_path, job("a", 0, 1), conf=conf)
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    [line] = capsys.readouterr().err.splitlines()
    assert "slurm.conf: approximated: AllowAccounts, KillWait; `batsched-py slurm check` says how" in line
    (tmp_path / "topology.conf").write_text("gibberish\n")
    assert run_here(tmp_path, "simulate", *arguments, "-o", "topology=topology.conf", "-e", "out", "--quiet") == 2
    assert "option topology: conf must have TopologyPlugin=topology/tree" in capsys.readouterr().err


def test_what_is_implied_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Associations by limits, and a limit of a year."""
    accounts = "AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageEnforce=limits\n"
    jobs = [{name: value for name, value in job(name, 0, 1).items() if name != "walltime"} for name in "ab"]
    arguments = write(tmp_path, *jobs, conf=CONF.replace("REQUEUE", "CANCEL") + accounts)
    assert run_here(tmp_path, "simulate", *arguments, "-e", "out", "--quiet") == 0
    implied, unlimited = capsys.readouterr().err.splitlines()
    assert "slurm.conf: AccountingStorageEnforce=limits implies associations: each user must have one" in implied
    assert "w0!a has no walltime, and its partition no limit: Slurm plans with a year, also for later jobs" in unlimited


def test_delays_are_those_of_the_options(tmp_path: Path) -> None:
    """A job starts when its launch is over, and the next one when the end of the first is known."""
    arguments = write(tmp_path, job("a", 0, 2), job("b", 0, 2), conf=CONF.replace("REQUEUE", "CANCEL"))
    delays = ["-o", "launch=2", "-o", "complete=5", "-o", "cycle=4"]
    assert run_here(tmp_path, "simulate", *arguments, *delays, "-e", "out", "--quiet") == 0
    assert [row["starting_time"] for row in rows(tmp_path)] == ["2.000000", "50.000000"]

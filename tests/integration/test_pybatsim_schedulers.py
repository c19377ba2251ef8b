"""Schedulers written for pybatsim, wherever `-s` goes: as pybatsim itself decided, and faults that end well."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from batsched_py.campaigns import simulate
from batsched_py.testing import ContractTests
from tests.clone import ROOT
from tests.integration.programs import ask, batsim, recorded, run, run_here, serving
from tests.pybatsim_runs import CASES, DATA, Case
from tests.studies import written

FCFS = f"pybatsim:{DATA / 'strictFcfs.py'}"
EASY = f"pybatsim:{DATA / 'simpleEasy.py'}"
BY_NAME = {case.name: case for case in CASES}
TINY = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
#: A scheduler whose hook for the second job uses what is not there.
FAULTY = """\
from batsim.batsim import BatsimScheduler

class Faulty(BatsimScheduler):
    def onJobSubmission(self, job):
        if len(self.bs.jobs) == 2:
            self.bs.event_publisher.send("x")
"""


def messages(recording: Path) -> list[tuple[Any, Any]]:
    """Requests and replies of a recording as JSON values, with their events in order; paths begin in the clone."""
    clone = f"{ROOT}/".encode()
    return [(json.loads(one.request.replace(clone, b"")), json.loads(one.reply)) for one in recorded(recording)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_all_messages_are_those_of_pybatsim(case: Case, tmp_path: Path) -> None:
    """Every event of every exchange, with its time, as pybatsim 3.2.1 said over a socket."""
    ours = tmp_path / "ours.jsonl.gz"
    words = [*case.simulation, "-s", f"pybatsim:{DATA / case.scheduler}.py", *case.assignments, "--record", str(ours)]
    assert run_here(tmp_path, *words) == 0
    assert messages(ours) == messages(case.recording)
    assert run_here(tmp_path, "diff", str(ours), str(case.recording)) == 0


@pytest.mark.parametrize("name", ["easy-32", "sleeper", "failures", "killer"])
def test_recordings_are_replayed(name: str, tmp_path: Path) -> None:
    """`replay` of a recording that pybatsim made, by the file with which it was made."""
    case = BY_NAME[name]
    words = ["replay", str(case.recording), "-s", f"pybatsim:{DATA / case.scheduler}.py", *case.assignments]
    assert run_here(tmp_path, *words) == 0
    if name == "easy-32":
        assert run_here(tmp_path, *words[:2], "-s", FCFS) == 1


def test_a_recording_loads_no_scheduler_of_its_own_accord(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its header may name a file: it is run only with --trust-header."""
    assert run_here(tmp_path, "simulate", *TINY, "-s", FCFS, "--record", "run.jsonl", "--quiet") == 0
    assert run_here(tmp_path, "replay", "run.jsonl") == 2
    assert "--trust-header" in capsys.readouterr().err
    assert run_here(tmp_path, "replay", "run.jsonl", "--trust-header") == 0


def test_batsim_is_served(tmp_path: Path) -> None:
    """Over a socket, what pybatsim answered."""
    case = BY_NAME["filler"]
    words = ["-s", f"pybatsim:{DATA / case.scheduler}.py", *case.assignments]
    with serving(tmp_path, *words) as served, batsim(served.address) as socket:
        for one in recorded(case.recording):
            assert json.loads(ask(socket, one.request)) == json.loads(one.reply)
        assert served.end()[0] == 0


def test_batsim_does_not_hang_when_a_hook_fails(tmp_path: Path) -> None:
    """It gets an answer on which it stops; the user gets the hook, the job, the rule and the line."""
    (tmp_path / "faulty.py").write_text(FAULTY)
    with serving(tmp_path, "-s", "pybatsim:faulty.py") as served, batsim(served.address) as socket:
        requests = [one.request for one in recorded(BY_NAME["fcfs"].recording)]
        while b"EXECUTE" not in (reply := ask(socket, requests.pop(0))) and b'"events":[]' in reply.replace(b" ", b""):
            assert requests
        code, said = served.end()
    assert code == 3
    (line,) = [one for one in said if "onJobSubmission(" in one]
    rule = "AttributeError: self.bs.event_publisher: there is no socket for events: --record FILE keeps all messages"
    assert line.endswith(f"{rule} (faulty.py:6)")


def test_runs_are_compared_and_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`compare` with a built-in algorithm, and `explain` from the files of `simulate -e`."""
    words = [*TINY, "-s", FCFS, "--name", "theirs", "-s", "fcfs", "--metrics", "mean_wait"]
    assert run_here(tmp_path, "compare", *words) == 0
    assert "theirs" in capsys.readouterr().out
    for name, algorithm in (("ours", "fcfs"), ("theirs", FCFS)):
        assert run_here(tmp_path, "simulate", *TINY, "-s", algorithm, "-e", name, "--quiet") == 0
    assert (tmp_path / "ours_jobs.csv").read_bytes() == (tmp_path / "theirs_jobs.csv").read_bytes()
    capsys.readouterr()
    assert run_here(tmp_path, "explain", "theirs", "C") == 0
    assert "C" in capsys.readouterr().out


def test_campaigns_run_them_in_their_workers(tmp_path: Path) -> None:
    """By a path relative to the study, with options; the file is one of those that identify a run."""
    (tmp_path / "orderedFiller.py").write_bytes((DATA / "orderedFiller.py").read_bytes())
    study = 'platforms = "p.xml"\n[[workloads]]\nmodel = "lublin"\njobs = 20\nseeds = "1-2"\n[[algorithms]]\n'
    algorithm = 'algorithm = "pybatsim:orderedFiller.py"\noptions = { delay = [0, 2] }\n'
    written(tmp_path, study + algorithm)
    done = run(tmp_path, "campaign", "run", "study.toml", "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "4 runs: 4 done, 0 failed, 0 missing; 0 were there before" in done.stdout
    again = run(tmp_path, "campaign", "run", "study.toml", "--workers", "1")
    assert "4 were there before" in again.stdout
    with (tmp_path / "orderedFiller.py").open("a") as file:
        file.write("\n# changed\n")
    assert run(tmp_path, "campaign", "status", "study.toml").stdout != again.stdout


def test_notebooks_run_them(tmp_path: Path) -> None:
    """`simulate` in Python, twice in one process: a file that was edited is read again."""
    platform, workload = ROOT / "platforms" / "tiny4.xml", ROOT / "workloads" / "first.json"
    mine = tmp_path / "strictFcfs.py"
    mine.write_bytes((DATA / "strictFcfs.py").read_bytes())
    first = simulate(platform, workload, f"pybatsim:{mine}")
    assert first.columns() == simulate(platform, workload, "fcfs").columns()
    mine.write_text(mine.read_text().replace("self.queue.append(job)", "self.bs.reject_jobs([job])"))
    assert simulate(platform, workload, f"pybatsim:{mine}").metrics.rejected == len(first.columns()["job_id"])


def test_schedulers_are_described(tmp_path: Path) -> None:
    """`describe` names the scheduler; an unknown one is refused with pybatsim's rule of names."""
    told = run(tmp_path, "describe", FCFS)
    assert told.stdout.splitlines()[-1] == "It declares no options: any is handed over to it."
    (tmp_path / "other.py").write_text(FAULTY)
    refused = run(tmp_path, "describe", "pybatsim:other.py")
    assert refused.returncode == 2
    assert refused.stderr == (
        "batsched-py: error: algorithm pybatsim:other.py: it must define Other, by pybatsim's rule of names, or be "
        "named with its class: pybatsim:other.py:Class\n"
    )


class TestContractOfFailures(ContractTests):
    """The contract suite, of a scheduler that knows failures."""

    algorithm: ClassVar[str] = "pybatsim:../data/pybatsim/failureFiller.py"
    examples: ClassVar[int] = 8
    may_leave: ClassVar[bool] = True
    may_reject: ClassVar[bool] = True
    _crowds: ClassVar[int] = 2

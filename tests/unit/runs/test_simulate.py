"""A simulation from Python is that of the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from random import Random

import pytest

from batsched_py.campaigns import Run, simulate
from batsched_py.cli.main import run
from batsched_py.errors import (
    BatschedError,
    DeadlockError,
    InputError,
    OptionError,
    PlatformError,
    PluginError,
    WorkloadError,
)
from batsched_py.model.settings import Settings
from batsched_py.results.result_files import write_jobs
from batsched_py.schedulers.fcfs import Fcfs
from batsched_py.scheduling.plan import MOST_REPORTED
from batsched_py.session.session import Session
from batsched_py.traces.event_file import read_events
from batsched_py.traces.lublin import generate
from tests.clone import ROOT
from tests.platforms import plain_platform

PLATFORM, JOBS = ROOT / "platforms" / "cluster32.xml", ROOT / "workloads" / "lublin200.json"


def test_the_jobs_are_those_of_the_command(tmp_path: Path) -> None:
    """Byte for byte, with the options of both."""
    arguments = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-o", "reserve=hosts", "--message-latency"]
    assert run(["simulate", *arguments, "--clock", "fixed:2", "-e", str(tmp_path / "there"), "--quiet"]) == 0
    here = simulate(
        PLATFORM, JOBS, "easy", {"reserve": "hosts"}, settings=Settings(message_latency=True), clock="fixed:2"
    )
    write_jobs(tmp_path / "here.csv", here.result)
    assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there_jobs.csv").read_bytes()


def test_the_files_of_a_run_are_those_of_the_command(tmp_path: Path) -> None:
    """Byte for byte, but for times that were measured, and for the words of the command."""
    options = ["-o", "reserve=hosts", "-o", "order=sjf", "-E"]
    machine, jobs = ROOT / "platforms" / "energy16.xml", ROOT / "workloads" / "first.json"
    command = ["simulate", "-p", str(machine), "-w", str(jobs), "-s", "easy", *options]
    assert run([*command, "-e", str(tmp_path / "there" / "x"), "--quiet"]) == 0
    chosen = {"reserve": "hosts", "order": "sjf"}
    made = simulate(machine, jobs, "easy", chosen, settings=Settings(energy=True), trace=True, decisions=True)
    made.write(tmp_path / "here" / "x")
    there, here = ({file.name: file for file in (tmp_path / name).iterdir()} for name in ("there", "here"))
    assert sorted(here) == sorted(there)
    for name in here.keys() - {"x_run.json", "x_schedule.csv"}:
        assert here[name].read_bytes() == there[name].read_bytes(), name
    one, other = (json.loads(files["x_run.json"].read_text()) for files in (here, there))
    assert (one.pop("command"), other.pop("command")) == (
        [],
        ["batsched-py", *command, "-e", str(tmp_path / "there" / "x"), "--quiet"],
    )
    assert one.pop("measured").keys() == other.pop("measured").keys()
    assert one == other
    again = Run.read(tmp_path / "here" / "x")
    assert again.metrics == made.metrics
    assert again.decisions == made.decisions


def test_requests_and_their_recording_are_those_of_the_command(tmp_path: Path) -> None:
    """The same events ask for the same jobs, in the same messages."""
    event = {"type": "submit_job", "timestamp": 5, "job_id": "site!1", "profile": {"type": "delay", "delay": 50}}
    event["job"] = {"id": "site!1", "res": 2, "walltime": 60, "profile": "1"}
    events = tmp_path / "events.jsonl"
    events.write_text(json.dumps(event) + "\n")
    files = ["-p", str(PLATFORM), "-w", str(JOBS), "--events", str(events), "--record", str(tmp_path / "there.jsonl")]
    assert run(["simulate", *files, "-s", "easy", "--requests", "-e", str(tmp_path / "there"), "--quiet"]) == 0
    settings = Settings(external_events=read_events(events))
    made = simulate(PLATFORM, JOBS, "easy", settings=settings, requests=True, record=tmp_path / "here.jsonl")
    assert "site!1" in {job.job.id for job in made.result.jobs}
    made.write(tmp_path / "here")
    for name in ("_jobs.csv", ".jsonl"):
        assert (tmp_path / f"here{name}").read_bytes() == (tmp_path / f"there{name}").read_bytes()
    one, other = (json.loads((tmp_path / f"{name}_run.json").read_text())["settings"] for name in ("here", "there"))
    assert one == other


def test_the_error_of_a_run_is_that_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A deadlock names the jobs that wait, with the algorithm's reasons."""
    code = "from batsched_py.api import NoOptions, Scheduler\nclass Idle(Scheduler[NoOptions]):\n"
    (tmp_path / "idle.py").write_text(code + "    name = 'idle'\n    def decide(self, view, plan): pass\n")
    algorithm = f"{tmp_path / 'idle.py'}:Idle"
    assert run(["simulate", "-p", str(PLATFORM), "-w", str(JOBS), "-s", algorithm, "--quiet"]) == 3
    with pytest.raises(DeadlockError) as caught:
        simulate(PLATFORM, JOBS, algorithm)
    assert "\n  ".join([f"batsched-py: error: {caught.value.why}", *caught.value.waiting]) in capsys.readouterr().err
    assert caught.value.waiting[-1] == "and 190 more"


def test_a_run_is_written_with_what_it_kept(tmp_path: Path) -> None:
    """Without traces and decisions there are no such files; objects are named as far as they have names."""
    made = simulate(plain_platform(8), generate(30, 8, Random(1)), Fcfs)
    made.write(str(tmp_path / "x"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["x_jobs.csv", "x_run.json", "x_schedule.csv"]
    said = json.loads((tmp_path / "x_run.json").read_text())
    assert (said["algorithm"], said["platform"]) == ("batsched_py.schedulers.fcfs:Fcfs", None)
    assert made.decisions is None
    with pytest.raises(InputError, match="cannot be written"):
        made.write(tmp_path / "x_jobs.csv" / "y")


def test_reasons_are_known_if_decisions_were_kept() -> None:
    """As for the files of the command."""
    kept, bare = (simulate(PLATFORM, JOBS, "easy", decisions=wanted) for wanted in (True, False))
    assert kept.result.jobs == bare.result.jobs
    longest = max(kept.result.jobs, key=lambda record: record.waiting).job.id
    assert not bare.explain(longest).by_algorithm
    assert kept.explain(longest).by_algorithm


def test_included_examples_are_found_from_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by the commands."""
    monkeypatch.chdir(tmp_path)
    made = simulate("platforms/cluster32.xml", "workloads/lublin200.json", "fcfs")
    made.write("x")
    said = json.loads(Path("x_run.json").read_text())
    assert [said["platform"]["path"], said["workloads"][0]["path"]] == [
        "platforms/cluster32.xml",
        "workloads/lublin200.json",
    ]


def test_messages_are_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless they have to be: the first and the last, and few others."""
    written: list[bytes] = []
    answer = Session.answer

    def listen(session: Session, request: bytes) -> bytes:
        written.append(request)
        return answer(session, request)

    monkeypatch.setattr(Session, "answer", listen)
    assert simulate(PLATFORM, JOBS, "easy").result.messages > 10 * len(written) > 0


def test_metrics_are_those_of_the_summary() -> None:
    """The ones that the README shows."""
    found = simulate(str(PLATFORM), str(JOBS), "easy").metrics
    assert found.mean_bounded_slowdown == pytest.approx(180.0802, abs=1e-4)
    assert found.mean_wait == pytest.approx(7426.950, abs=1e-3)


def test_what_was_made_in_python_needs_no_file() -> None:
    """A platform, workloads and an algorithm that are objects; several workloads share the machine."""
    jobs = [generate(30, 8, Random(seed)) for seed in (1, 2)]
    both = simulate(plain_platform(8), jobs, Fcfs)
    assert both.metrics.jobs == 60
    assert {record.workload for record in both.result.jobs} == {"w0", "w1"}
    assert simulate(plain_platform(8), jobs, Fcfs).metrics == both.metrics


def test_rejections_and_warnings_are_handed_on() -> None:
    """With their reasons."""
    warnings: list[str] = []
    machine, jobs = plain_platform(8), generate(120, 32, Random(0))
    found = simulate(machine, jobs, "fcfs", settings=Settings(allow_oversized=True), warn=warnings.append)
    large = {record.job.id for record in found.result.jobs if record.job.size > 8}
    assert found.rejections.keys() == large
    assert len(large) > MOST_REPORTED
    assert len(warnings) == MOST_REPORTED + 1
    assert warnings[-1] == f"{len(large)} jobs were rejected; the first {MOST_REPORTED} were reported"


@pytest.mark.parametrize(
    ("files", "algorithm", "options", "error"),
    [
        (("nowhere.xml", JOBS), "easy", {}, PlatformError),
        ((PLATFORM, "nowhere.json"), "easy", {}, WorkloadError),
        ((PLATFORM, JOBS), "nobody", {}, PluginError),
        ((PLATFORM, JOBS), "easy", {"reserve": "cores"}, OptionError),
    ],
)
def test_errors_are_those_of_the_command(
    files: tuple[str, str],
    algorithm: str,
    options: dict[str, str],
    error: type[BatschedError],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, of the same words."""
    with pytest.raises(error) as caught:
        simulate(*files, algorithm, options)
    assignments = [f"-o{key}={value}" for key, value in options.items()]
    assert run(["simulate", "-p", str(files[0]), "-w", str(files[1]), "-s", algorithm, *assignments]) == 2
    assert capsys.readouterr().err == f"batsched-py: error: {caught.value}\n"


@pytest.mark.parametrize("algorithm", ["easy_idle_sleeper", "sleeper", "easy_dvfs"])
def test_what_an_algorithm_cannot_read_of_a_host_is_wrong_input(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, with the file, the host and the property; the algorithm is not to blame."""
    text = (ROOT / "platforms" / "energy16.xml").read_text()
    (tmp_path / "odd.xml").write_text(text.replace('"sleep_pstates" value="3:4:5"', '"sleep_pstates" value="3-4-5"', 1))
    monkeypatch.chdir(tmp_path)
    said = "odd.xml: host e00.sleep_pstates: must be sleep:off:on, numbers of pstates, not '3-4-5'"
    jobs = ROOT / "workloads" / "first.json"
    with pytest.raises(PlatformError, match=re.escape(said)):
        simulate("odd.xml", jobs, algorithm)
    assert run(["simulate", "-p", "odd.xml", "-w", str(jobs), "-s", algorithm, "--quiet"]) == 2
    assert capsys.readouterr().err == f"batsched-py: error: {said}\n"

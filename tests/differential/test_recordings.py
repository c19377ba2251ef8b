"""The recordings that the project carries: both sides agree with real Batsim, or differ where it is known why."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest
from msgspec.structs import replace

from batsched_py.model.settings import Settings
from batsched_py.simulator.simulation import Simulation
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.differential.__main__ import main
from tests.differential.explained import EXPLAINED, FACTS, MESSAGES
from tests.differential.our_side import follow
from tests.differential.recorded import Recorded, UnusableError, recordings
from tests.differential.their_side import fact_by_fact, message_by_message

RUNS = {run.name: run for run in recordings(ROOT / "tests" / "data" / "batsim")}

#: Those that differ, and it is known why.
EXPLAINED_MESSAGES = {name for name, comparison in EXPLAINED if comparison == MESSAGES}
EXPLAINED_FACTS = {name for name, comparison in EXPLAINED if comparison == FACTS}


def test_all_recordings_are_there() -> None:
    """So that no check below is empty."""
    assert len(RUNS) == 56


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_MESSAGES))
def test_the_simulator_sends_the_recorded_messages(name: str) -> None:
    """One by one, with messages that take time as in Batsim; told what was replied."""
    assert message_by_message(RUNS[name]).why == ()


@pytest.mark.parametrize("name", sorted(RUNS.keys() - EXPLAINED_FACTS))
def test_the_simulator_tells_the_recorded_facts(name: str) -> None:
    """At the same times, with messages that take no time."""
    assert fact_by_fact(RUNS[name]).why == ()


def test_a_job_as_long_as_its_walltime_ends_by_itself_where_messages_take_no_time() -> None:
    """The one fact of that recording that is told otherwise."""
    (why,) = fact_by_fact(RUNS["o07_easy_bf_mixed_cluster"]).why
    assert why == (
        "t=240 ends w0!m2: state 'COMPLETED_SUCCESSFULLY', recorded 'COMPLETED_WALLTIME_REACHED'; "
        "return_code 0, recorded -1"
    )


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_session_understands_the_requests_and_may_say_what_was_said(name: str) -> None:
    """Through State, View and Plan, with their checks."""
    assert follow(RUNS[name]).why == ()


def test_another_decision_is_noticed(tmp_path: Path) -> None:
    """A recording that somebody has changed agrees no longer, on either side."""
    recorded = RUNS["o01_fcfs_delays"]
    changed = tmp_path / recorded.name
    changed.mkdir()
    (tmp_path / "inputs").symlink_to(recorded.folder.parent / "inputs")
    (changed / "run.json").write_bytes((recorded.folder / "run.json").read_bytes())
    text = (recorded.folder / "transcript.jsonl").read_text()
    later = text.replace(
        '\\"job_id\\":\\"w0!1\\",\\"job_state\\":\\"COMPLETED_SUCCESSFULLY\\"',
        '\\"job_id\\":\\"w0!1\\",\\"job_state\\":\\"COMPLETED_FAILED\\"',
    )
    assert later != text
    (changed / "transcript.jsonl").write_text(later)
    assert [line for line in message_by_message(Recorded(changed)).why if "COMPLETED_FAILED" in line]
    assert [line for line in fact_by_fact(Recorded(changed)).why if "COMPLETED_FAILED" in line]


def record(folder: Path, replies: Sequence[Sequence[tuple[str, dict[str, Any]]]], *options: str) -> Path:
    """A recording of the simulator as if it were Batsim, on 4 hosts with two jobs of 10 s; the k-th reply is given."""
    folder.mkdir(parents=True)
    inputs = folder / "inputs"
    inputs.mkdir()
    (inputs / "tiny4.xml").write_bytes((ROOT / "platforms" / "tiny4.xml").read_bytes())
    jobs = [{"id": name, "subtime": 1, "res": 2, "walltime": 20, "profile": "d"} for name in "ab"]
    profiles = {"d": {"type": "delay", "delay": 10}}
    (inputs / "two.json").write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles}))
    left = list(replies)
    lines: list[str] = []

    def answer(request: bytes) -> bytes:
        now = orjson.loads(request)["now"]
        said = left.pop(0) if left else ()
        events = [{"timestamp": now, "type": kind, "data": data} for kind, data in said]
        reply = orjson.dumps({"now": now, "events": events})
        for who, text in (("batsim", request), ("scheduler", reply)):
            lines.append(json.dumps({"seq": len(lines) // 2, "from": who, "bytes": text.decode()}))
        return reply

    platform = read_platform(inputs / "tiny4.xml")
    workload = replace(read_workload(inputs / "two.json"), source="/inputs/two.json")
    Simulation(platform, [workload], Settings(message_latency=True)).run(answer)
    (folder / "transcript.jsonl").write_text("".join(f"{line}\n" for line in lines))
    command = " ".join(["batsim", "-p", "/inputs/tiny4.xml", "-w", "/inputs/two.json", *options])
    (folder / "run.json").write_text(json.dumps({"batsim": "4.2.1", "batsim_command": command}))
    return folder


STARTS = [("EXECUTE_JOB", {"job_id": "w0!a", "alloc": "0-1"}), ("EXECUTE_JOB", {"job_id": "w0!b", "alloc": "2-3"})]
KILL = ("KILL_JOB", {"job_ids": ["w0!a"]})


def test_a_kill_that_is_said_twice_in_one_reply_is_no_difference(tmp_path: Path) -> None:
    """Batsim ignores the second, and so does the Plan."""
    recorded = Recorded(record(tmp_path / "killed", [[], [*STARTS, KILL, KILL]]))
    assert (message_by_message(recorded).why, fact_by_fact(recorded).why, follow(recorded).why) == ((), (), ())


def test_messages_to_jobs_are_said_by_the_plan(tmp_path: Path) -> None:
    """TO_JOB_MSG, to a job that does not listen."""
    message = ("TO_JOB_MSG", {"job_id": "w0!a", "msg": "hello"})
    recorded = Recorded(record(tmp_path / "told", [[], [*STARTS, message]]))
    assert (message_by_message(recorded).why, follow(recorded).why) == ((), ())


@pytest.mark.parametrize(
    ("option", "missing", "why"),
    [
        ("-W montage.xml", "", "Batsim ran with -W, which the simulator does not have"),
        ("", "inputs/two.json", "its input two.json is not there"),
        ("--events /inputs/events.txt", "", "its input events.txt is not there"),
        ("", "transcript.jsonl", "No such file"),
    ],
)
def test_a_recording_that_cannot_be_used_is_named_and_the_others_are_compared(
    option: str, missing: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the reason; the exit code is that of the others."""
    record(tmp_path / "good", [[], STARTS])
    bad = record(tmp_path / "bad", [[], STARTS], *option.split())
    if missing:
        (bad / missing).unlink()
    assert main([str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "bad cannot be used: " in told
    assert why in told
    assert "1 of 2 recordings cannot be used" in told
    assert "their side: 1 of 1 agree; our side: 1 of 1 agree" in told


def test_a_folder_without_a_usable_recording_is_no_success(tmp_path: Path) -> None:
    """Nothing was compared."""
    record(tmp_path / "bad", [[], STARTS], "-W", "montage.xml")
    assert main([str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda run: run.pop("batsim_command"), "run.json has no batsim_command"),
        (lambda run: run.update(batsim_command="batsim -p /inputs/tiny4.xml"), "without a platform or a workload"),
    ],
)
def test_what_a_recording_must_have(change: Any, why: str, tmp_path: Path) -> None:
    """A platform and workloads, of which its command tells."""
    folder = record(tmp_path / "run", [[], STARTS])
    run = json.loads((folder / "run.json").read_text())
    change(run)
    (folder / "run.json").write_text(json.dumps(run))
    with pytest.raises(UnusableError, match=why):
        Recorded(folder)


def test_a_reply_that_batsim_refuses_cannot_be_followed(tmp_path: Path) -> None:
    """It is not for the Plan to say it."""
    folder = record(tmp_path / "wrong", [[], STARTS])
    transcript = folder / "transcript.jsonl"
    transcript.write_text(transcript.read_text().replace("EXECUTE_JOB", "EXECUTE_IT", 1))
    with pytest.raises(UnusableError, match="its scheduler said what Batsim refuses"):
        follow(Recorded(folder))

"""Uses of batsched-py, end to end: processes of their own, real sockets, a real Redis.

Deciding beside a Batsim; an experiment with jobs of one's own; and, in CI, a recording that guards an algorithm.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import redis

from batsched_py.protocol.dialect import V4
from batsched_py.transcripts.replay import same_decision
from tests.docs.pages import blocks
from tests.integration.programs import ROOT, ask, batsim, recorded, run, serving

GOLDEN = ROOT / "tests" / "data" / "batsim"

#: Runs of real Batsim 4.2.1 -> who decides alike here, and whether its replies have the same bytes.
RECORDED = [
    ("o01_fcfs_delays", ["-s", "fcfs"], True),
    ("o05_easy_bf_burst", ["-s", "easy"], True),
    ("o07_easy_bf_mixed_cluster", ["-s", "easy", "-o", "reserve=hosts"], True),
    ("o16_energy_easy", ["-s", "easy"], True),
    ("o09_filler_no_walltime", ["-s", "filler"], False),
    ("o17_energy_sleeper", ["-s", "sleeper", "-o", "at_once=one"], True),
    ("o18_energy_watcher", ["-s", "energy_watcher", "-o", "at_once=one"], True),
    ("o19_machine_events", ["-s", "filler"], False),
    ("o23_rejecter", ["-s", "rejecter"], True),
]


# Deciding beside a Batsim.


@pytest.mark.parametrize(("name", "arguments", "to_the_byte"), RECORDED, ids=[name for name, _, _ in RECORDED])
def test_what_real_batsim_said_is_answered_as_it_was(
    tmp_path: Path, name: str, arguments: list[str], to_the_byte: bool
) -> None:
    """Batsim's own bytes, from the first to the last; every decision as recorded, and an end without a word."""
    exchanges = recorded(GOLDEN / name / "transcript.jsonl")
    with (
        serving(tmp_path, *arguments, "--record", "again.jsonl") as served,
        batsim(served.address) as client,
    ):
        for exchange in exchanges:
            reply = ask(client, exchange.request)
            same = reply == exchange.reply if to_the_byte else same_decision(exchange.reply, reply, V4)
            assert same, (exchange.number, reply)
        code, said = served.end()
    assert code == 0
    assert said[-1].startswith("the simulation ended at t=")
    assert [exchange.request for exchange in recorded(tmp_path / "again.jsonl")] == [
        exchange.request for exchange in exchanges
    ]


def test_what_real_batsim_said_with_redis_is_answered_as_it_was(tmp_path: Path, redis_port: int) -> None:
    """Its messages have the ids only; the jobs are in a Redis, which here is not where Batsim's was.

    As far as batsched's easy_bf_fast, which decided there, agrees with EASY here.
    """
    jobs = json.loads((GOLDEN / "inputs" / "delays60.json").read_text())["jobs"]
    with redis.Redis("127.0.0.1", redis_port) as client:
        client.mset({f"default:job_w0!{job['id']}": json.dumps({**job, "id": f"w0!{job['id']}"}) for job in jobs})
    with (
        serving(tmp_path, "-s", "easy", "--redis", f"127.0.0.1:{redis_port}") as served,
        batsim(served.address) as peer,
    ):
        for exchange in recorded(GOLDEN / "o14_redis_easy" / "transcript.jsonl")[:78]:
            assert b'"job":' not in exchange.request
            assert same_decision(exchange.reply, ask(peer, exchange.request), V4), exchange.number


def test_a_simulator_in_another_process_gets_the_schedule_of_one_in_this(tmp_path: Path) -> None:
    """On real Batsim's inputs: over the socket, in process, and by what is recorded on both ends."""
    files = ["-p", str(GOLDEN / "inputs" / "energy16.xml"), "-w", str(GOLDEN / "inputs" / "burst60.json")]
    alone = run(tmp_path, "simulate", *files, "-s", "easy", "-e", "alone", "--record", "alone.jsonl", "--quiet")
    assert alone.returncode == 0, alone.stderr
    with serving(tmp_path, "-s", "easy", "--record", "served.jsonl") as served:
        beside = run(tmp_path, "simulate", *files, "--socket", served.address, "-e", "beside", "--quiet")
        assert beside.returncode == 0, beside.stderr
        code, _ = served.end()
    assert code == 0
    assert (tmp_path / "beside_jobs.csv").read_bytes() == (tmp_path / "alone_jobs.csv").read_bytes()
    assert recorded(tmp_path / "served.jsonl") == recorded(tmp_path / "alone.jsonl")


# An experiment with jobs of one's own.


def tutorial(folder: Path, title: str) -> None:
    """The algorithm of docs/dynamic-jobs.md, as readers copy it."""
    [block] = [block for block in blocks(ROOT / "docs" / "dynamic-jobs.md") if block.title == title]
    (folder / title).write_text(block.text)


@pytest.mark.parametrize("name", ["harvest.py:Harvest", "arrivals.py:Arrivals"])
def test_an_experiment_with_jobs_of_ones_own_is_the_same_however_they_travel(
    tmp_path: Path, redis_port: int, name: str
) -> None:
    """In messages or through Redis, acknowledged or not: one schedule, and what is recorded says how they went."""
    tutorial(tmp_path, name.partition(":")[0])
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    schedules: dict[str, bytes] = {}
    for where in ("messages", "redis"):
        for how, acknowledged in (("silent", []), ("told", ["--acknowledge-dynamic-jobs"])):
            case = f"{where}-{how}"
            with serving(tmp_path, "-s", name, "--record", f"{case}.jsonl") as served:
                options = ["--enable-dynamic-jobs", *acknowledged]
                if where == "redis":
                    options += ["--enable-redis", "--redis-port", str(redis_port), "--redis-prefix", f"{name}-{case}"]
                done = run(tmp_path, "simulate", *files, "--socket", served.address, *options, "-e", case, "--quiet")
                assert done.returncode == 0, (case, done.stderr)
                code, said = served.end()
            assert code == 0, (case, said)
            schedules[case] = (tmp_path / f"{case}_jobs.csv").read_bytes()
            own, submitted = journeys(tmp_path / f"{case}.jsonl")
            assert own
            assert all(("job" in data) == (where == "messages") for data in (*own.values(), *submitted.values()))
            assert (own.keys() <= submitted.keys()) == bool(acknowledged)
            assert own.keys().isdisjoint(submitted.keys()) != bool(acknowledged)
    assert len(set(schedules.values())) == 1
    jobs = schedules["messages-silent"].decode().splitlines()[1:]
    assert len(jobs) == len(set(own) | set(submitted))


def journeys(recording: Path) -> tuple[dict[str, dict[str, object]], dict[str, dict[str, object]]]:
    """By job id: the data of REGISTER_JOB, and of JOB_SUBMITTED; registration was finished exactly once (BA-9)."""
    told = [
        (event["type"], event["data"])
        for exchange in recorded(recording)
        for message in (exchange.request, exchange.reply)
        for event in json.loads(message)["events"]
    ]
    assert told.count(("NOTIFY", {"type": "registration_finished"})) == 1
    own = {data["job_id"]: data for kind, data in told if kind == "REGISTER_JOB"}
    return own, {data["job_id"]: data for kind, data in told if kind == "JOB_SUBMITTED"}


# A recording that guards an algorithm in CI.

IN_ORDER = """\
from batsched_py.api import *

class InOrder(Scheduler[NoOptions]):
    name = "in-order"

    def decide(self, view, plan):
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                return
            plan.start(job, hosts)
"""


@pytest.fixture
def guarded(tmp_path: Path) -> Path:
    """A folder with an algorithm and a recording of it beside a Batsim."""
    (tmp_path / "mine.py").write_text(IN_ORDER)
    files = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
    with serving(tmp_path, "-s", "mine.py:InOrder", "--record", "golden.jsonl") as served:
        done = run(tmp_path, "simulate", *files, "--socket", served.address, "--quiet")
        assert done.returncode == 0, done.stderr
        assert served.end()[0] == 0
    return tmp_path


def test_a_recording_replays_as_long_as_no_decision_changes(guarded: Path) -> None:
    """Another way to the same decisions is no change; exit code 0, one line."""
    (guarded / "mine.py").write_text(IN_ORDER.replace("return", "break"))
    done = run(guarded, "replay", "golden.jsonl", "-s", "mine.py:InOrder")
    assert (done.returncode, done.stderr) == (0, "")
    count = len(recorded(guarded / "golden.jsonl"))
    same = f"all decisions are the same ({count} replies byte for byte)"
    assert done.stdout == f"mine.py:InOrder: {count} exchanges, {same}\n"


def test_a_replay_fails_when_a_decision_changes_and_names_it(guarded: Path) -> None:
    """Now others overtake: exit code 1, and where, when, in answer to what, what was and what is decided."""
    (guarded / "mine.py").write_text(IN_ORDER.replace("return", "continue"))
    done = run(guarded, "replay", "golden.jsonl", "-s", "mine.py:InOrder")
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()
    assert lines[1:6] == [
        "exchange 3, t=10: another decision",
        "  Batsim reported: JOB_SUBMITTED w0!C",
        "  - recorded, + now",
        "  - (nothing)",
        "  + EXECUTE_JOB w0!C on 3",
    ]


def test_a_replay_fails_when_the_algorithm_does(guarded: Path) -> None:
    """A defect is another decision too: the stop that Batsim would be sent stands in its place."""
    (guarded / "mine.py").write_text(IN_ORDER.replace("plan.start(job, hosts)", "plan.start(job, job.hosts)"))
    done = run(guarded, "replay", "golden.jsonl", "-s", "mine.py:InOrder")
    assert done.returncode == 1
    assert "AttributeError" in done.stdout
    assert "  - EXECUTE_JOB w0!A on 0-2" in done.stdout.splitlines()


def test_a_recording_can_be_moved_to_another_machine(guarded: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """All it needs is the algorithm: no platform, no workload, no Batsim."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("mine.py", "golden.jsonl"):
        shutil.copy(guarded / name, elsewhere / name)
    assert run(elsewhere, "replay", "golden.jsonl", "-s", "mine.py:InOrder").returncode == 0

"""Whole runs with Redis on and off: the same schedule, in one process and over sockets, with jobs of one's own too."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import redis

from tests.builders import begins_data, message
from tests.integration.programs import ENVIRONMENT, ask, batsim, run, run_here, serving
from tests.redis_server import free_port, started

#: An algorithm that submits a job of its own whenever one of the first jobs of the workload ends.
FOLLOWER = """\
from batsched_py.api import *

class Follower(Scheduler[NoOptions]):
    name = "follower"
    needs_dynamic_jobs = True

    def setup(self, view):
        self.left = 6

    def observe(self, event, view):
        if isinstance(event, JobCompleted) and not event.job_id.startswith("own!"):
            self.left -= 1

    def decide(self, view, plan):
        ended, self.ended = getattr(self, "ended", 6), self.left
        for number in range(ended, max(self.left, 0), -1):
            name = f"follower{number}"
            job = Job.create(f"own!{number}", size=1 + number % 2, profile=name, walltime=50)
            plan.submit(job, delay(3.25 * number))
        if self.left <= 0 and view.registration_open:
            plan.finish_registration()
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is None:
                return
            plan.start(job, hosts)
"""


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A generated platform and workload, and the algorithm."""
    inputs = tmp_path_factory.mktemp("inputs")
    made = run(inputs, "generate", "--jobs", "60", "--hosts", "16", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0, made.stderr
    (inputs / "follower.py").write_text(FOLLOWER)
    return inputs


@pytest.fixture
def folder(tmp_path: Path, inputs: Path) -> Path:
    """With a copy of them, and nothing else."""
    return Path(shutil.copytree(inputs, tmp_path, dirs_exist_ok=True))


CASES = [
    ("easy", []),
    ("easy", ["--forward-profiles-on-submission", "--message-latency"]),
    ("easy", ["--protocol", "v1.4"]),
    ("follower.py:Follower", ["--enable-dynamic-jobs", "--protocol", "v1.4"]),
    ("follower.py:Follower", ["--enable-dynamic-jobs"]),
    ("follower.py:Follower", ["--enable-dynamic-jobs", "--acknowledge-dynamic-jobs"]),
    (
        "follower.py:Follower",
        ["--enable-dynamic-jobs", "--forward-profiles-on-submission", "--acknowledge-dynamic-jobs"],
    ),
]


@pytest.mark.parametrize(("scheduler", "options"), CASES)
def test_redis_changes_no_schedule(folder: Path, redis_port: int, scheduler: str, options: list[str]) -> None:
    """In one process, and in two over ZeroMQ, with a real server: the same jobs file each time."""
    with redis.Redis("127.0.0.1", redis_port) as client:
        client.flushall()
    run_options = ["-p", "p.xml", "-w", "w.json", "--quiet", *options]
    stored = ["--enable-redis", "--redis-port", str(redis_port), "--redis-prefix", "lab"]
    files = []
    for name, more in (("plain", []), ("stored", stored)):
        assert run_here(folder, "simulate", *run_options, *more, "-s", scheduler, "-e", f"{name}_here") == 0
        with serving(folder, "-s", scheduler, "--record", f"{name}.jsonl") as served:
            there = run(folder, "simulate", *run_options, *more, "--socket", served.address, "-e", f"{name}_there")
            assert there.returncode == 0, there.stderr
            assert served.end()[0] == 0
        files += [(folder / f"{name}_{where}_jobs.csv").read_bytes() for where in ("here", "there")]
    assert files[0].count(b"\n") > 60
    assert files[0] == files[1] == files[2] == files[3]
    recorded = (folder / "stored.jsonl").read_text()
    assert "JOB_SUBMITTED" in recorded
    assert "subtime" not in recorded  # no job is described in a message
    assert run_here(folder, "replay", "stored.jsonl", "-s", scheduler) == 0


def test_redis_may_be_elsewhere_for_us(folder: Path, redis_port: int) -> None:
    """Batsim in a container has another name for it, and perhaps another prefix."""
    address = f"127.0.0.1:{redis_port}"
    files = ["-p", "p.xml", "-w", "w.json", "--quiet", "--enable-redis", "--redis-hostname", "a..b", "--redis", address]
    with serving(folder, "-s", "easy", "--redis", address, "--redis-prefix", "lab") as served:
        there = run(folder, "simulate", *files, "--redis-prefix", "lab", "--socket", served.address, "-e", "there")
        assert there.returncode == 0, there.stderr
        assert served.end()[0] == 0
    here = run(folder, "simulate", *files, "-s", "easy", "-e", "here", "--record", "here.jsonl")
    assert here.returncode == 0, here.stderr
    assert (folder / "here_jobs.csv").read_bytes() == (folder / "there_jobs.csv").read_bytes()
    found = run(folder, "replay", "here.jsonl", "--redis", address, "--redis-prefix", "lab")
    assert found.returncode == 0, found.stderr


def test_redis_may_want_a_password(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in the environment, and goes where the user says that Redis is, not where Batsim says."""
    port = free_port()
    monkeypatch.setitem(ENVIRONMENT, "BATSCHED_REDIS_PASSWORD", "secret")
    simulate = ["simulate", "-p", "p.xml", "-w", "w.json", "--quiet", "--enable-redis", "--redis-port", str(port)]
    with started(tmp_path, port, "--requirepass", "secret"):
        done = run(folder, *simulate, "-s", "easy", "--record", "kept.jsonl")
        assert done.returncode == 0, done.stderr
        refused = run(folder, "replay", "kept.jsonl")
        assert (refused.returncode, refused.stdout) == (4, "")
        assert refused.stderr.startswith(f"batsched-py: error: Redis 127.0.0.1:{port}: Authentication required")
        for arguments in (["--allow-redis", "127.0.0.1"], ["--redis", f"127.0.0.1:{port}"]):
            assert run(folder, "replay", "kept.jsonl", *arguments).returncode == 0


def test_a_missing_key_ends_serve_and_stops_batsim(tmp_path: Path, redis_port: int) -> None:
    """One line with server and key; exit code 4 (BA-14)."""
    config = {"redis-enabled": True, "redis-hostname": "127.0.0.1", "redis-port": redis_port, "redis-prefix": "none"}
    rule = f"Redis 127.0.0.1:{redis_port}: key none:job_w0!1: is missing, but Batsim has submitted this job"
    with serving(tmp_path, "-s", "easy") as served, batsim(served.address) as socket:
        ask(socket, message(0, ("SIMULATION_BEGINS", begins_data(config=config))))
        reply = json.loads(ask(socket, message(1, ("JOB_SUBMITTED", {"job_id": "w0!1"}))))
        assert [(event["type"], event["data"]) for event in reply["events"]] == [
            ("BATSCHED_PY_STOPPED", {"reason": rule})
        ]
        assert served.end() == (4, [f"batsched-py: error: {rule}"])

"""Platforms that change during a run, beside the recordings of real Batsim."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import DeadlockError, PlatformError
from batsched_py.model.settings import OnFailure, Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.runs.simulate import simulate
from batsched_py.simulator.machines import platform_changes
from batsched_py.simulator.machines.platform_changes import DRAWN, UNCHANGED
from batsched_py.traces.batsim_json import read_workload

SHARING = Settings(network="sharing")


def platform(folder: Path, host: str = "", link: str = "", **files: str) -> Path:
    """Write four hosts with a link each to a switch; the first host and its link have these attributes."""
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text)
    hosts = "".join(f'<host id="h{number}" speed="1Gf" {host if number == 0 else ""}/>' for number in range(4))
    links = "".join(f'<link id="l{number}" bandwidth="100MBps" {link if number == 0 else ""}/>' for number in range(4))
    routes = "".join(f'<route src="h{number}" dst="switch"><link_ctn id="l{number}"/></route>' for number in range(4))
    body = f'{hosts}<host id="master_host" speed="1Gf"/><router id="switch"/>{links}<link id="m" bandwidth="1GBps"/>'
    master = '<route src="master_host" dst="switch"><link_ctn id="m"/></route>'
    path = folder / "platform.xml"
    path.write_text(f'<platform version="4.1"><zone id="z" routing="Floyd">{body}{routes}{master}</zone></platform>')
    return path


def workload(folder: Path, *jobs: tuple[float, int, float, float], walltime: float | None = None) -> Workload:
    """Write jobs of (submission, hosts, seconds of computation, MB between each two hosts)."""
    profiles = {
        str(number): {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": size * 1e6}
        for number, (_, _, seconds, size) in enumerate(jobs)
    }
    listed = [
        {"id": str(number), "subtime": time, "res": hosts, "profile": str(number)}
        | ({"walltime": walltime} if walltime else {})
        for number, (time, hosts, *_) in enumerate(jobs)
    ]
    path = folder / "workload.json"
    path.write_bytes(orjson.dumps({"nb_res": 4, "jobs": listed, "profiles": profiles}))
    return read_workload(path)


def ends(result: Result) -> list[tuple[str, str, float]]:
    """Return (job, final state, end) of each job."""
    return sorted((record.job.id, record.state, round(record.finish, 6)) for record in result.jobs)


@pytest.mark.parametrize(
    ("on_failure", "expected"),
    [
        ("kill", [("w0!0", "COMPLETED_FAILED", 2.0), ("w0!1", "COMPLETED_SUCCESSFULLY", 13.0)]),
        (
            "requeue",
            [
                ("w0!0", "COMPLETED_FAILED", 2.0),
                ("w0!0~1", "COMPLETED_SUCCESSFULLY", 9.0),
                ("w0!1", "COMPLETED_SUCCESSFULLY", 19.0),
            ],
        ),
    ],
)
def test_a_host_that_goes_off_is_a_machine_that_fails(
    tmp_path: Path, on_failure: OnFailure, expected: list[tuple[str, str, float]]
) -> None:
    """The scheduler is notified; the next attempt waits for the host, and the job behind it for the attempt."""
    place = platform(tmp_path, 'state_file="s.txt"', s="2 0\n6 1\n")
    jobs = (
        workload(tmp_path, (0, 4, 10, 0), (3, 3, 10, 0))
        if on_failure == "kill"
        else workload(tmp_path, (0, 4, 3, 0), (3, 3, 10, 0))
    )
    run = simulate(place, jobs, "fcfs", settings=Settings(network="sharing", on_failure=on_failure))
    assert ends(run.result) == expected


@pytest.mark.parametrize("on_failure", ["kill", "requeue"])
def test_a_link_that_goes_off_ends_the_jobs_that_cross_it(tmp_path: Path, on_failure: OnFailure) -> None:
    """Those that start meanwhile wait for it; others go on."""
    place = platform(tmp_path, link='state_file="s.txt"', s="2 0\n6 1\n")
    jobs = workload(tmp_path, (0, 2, 10, 100), (0, 2, 10, 100), (7, 2, 1, 100))
    run = simulate(place, jobs, "fcfs", settings=Settings(network="sharing", on_failure=on_failure))
    expected = [("w0!0", "COMPLETED_FAILED", 2.0), ("w0!1", "COMPLETED_SUCCESSFULLY", 10.0)]
    again = [("w0!0~1", "COMPLETED_SUCCESSFULLY", 16.0)] if on_failure == "requeue" else []
    last = ("w0!2", "COMPLETED_SUCCESSFULLY", 12.0 if again else 9.0)
    assert ends(run.result) == sorted([*expected, *again, last])


def test_without_contention_nothing_changes_and_that_is_told(tmp_path: Path) -> None:
    """Ends are computed at the start then."""
    place = platform(tmp_path, 'speed_file="s.txt"', s="2 0.5\n")
    run = simulate(place, workload(tmp_path, (0, 1, 10, 0)), "fcfs", settings=Settings(network="alone"))
    assert ends(run.result) == [("w0!0", "COMPLETED_SUCCESSFULLY", 10.0)]
    assert UNCHANGED in run.result.approximations


def test_drawn_changes_are_told_and_the_same_each_time(tmp_path: Path) -> None:
    """SimGrid draws others."""
    place = platform(tmp_path, 'speed_file="s.txt"', s="STOCHASTIC LOOP\nUNIF 1 2 UNIF 0.2 0.9\n")
    jobs = workload(tmp_path, (0, 1, 10, 0))
    first, second = (simulate(place, jobs, "fcfs", settings=SHARING).result for _ in range(2))
    assert ends(first) == ends(second)
    assert ends(first)[0][2] > 11.0
    assert DRAWN in first.approximations


def test_a_walltime_ends_a_job_that_stands_still(tmp_path: Path) -> None:
    """It is something to come, so that changes go on, too."""
    place = platform(tmp_path, 'speed_file="s.txt"', s="1 0\n")
    run = simulate(place, workload(tmp_path, (0, 1, 10, 0), walltime=20.0), "fcfs", settings=SHARING)
    assert ends(run.result) == [("w0!0", "COMPLETED_WALLTIME_REACHED", 20.0)]


def test_changes_without_end_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of two lines would keep a run busy for ever."""
    monkeypatch.setattr(platform_changes, "MOST", 1000)
    place = platform(tmp_path, 'speed_file="s.txt"', s="STOCHASTIC LOOP\nDET 0 DET 1\n")
    with pytest.raises(PlatformError, match=r"platform\.xml: changes more than 1000 times until t=0"):
        simulate(place, workload(tmp_path, (0, 1, 10, 0)), "fcfs", settings=SHARING)


@pytest.mark.parametrize("kind", ["usage_trace", "smpi"])
def test_a_trace_in_replay_is_lost_with_its_second_host_or_a_link(tmp_path: Path, kind: str) -> None:
    """Its ranks run on all its hosts, and their messages cross links: the change back does not save it."""
    jobs, state = replayed(tmp_path, kind), 'state_file="s.txt"'
    place = platform(tmp_path, link=state if kind == "smpi" else "", s="2 0\n6 1\n")
    if kind == "usage_trace":
        place.write_text(place.read_text().replace('<host id="h1"', f'<host id="h1" {state}'))
    with pytest.raises(DeadlockError, match="w0!0 is lost with a host or link that went off"):
        simulate(place, jobs, "fcfs", settings=SHARING)
    run = simulate(place, jobs, "fcfs", settings=Settings(network="sharing", on_failure="kill"))
    assert ends(run.result) == [("w0!0", "COMPLETED_FAILED", 2.0), ("w0!1", "COMPLETED_SUCCESSFULLY", 10.0)]


@pytest.mark.parametrize("kind", ["smpi", "send"])
def test_a_task_that_begins_on_a_link_that_is_off_is_lost(tmp_path: Path, kind: str) -> None:
    """A message of a replayed trace, and a task of a job with messages; with --on-failure they wait for the link."""
    place = platform(tmp_path, link='state_file="s.txt"', s="0 0\n6 1\n")
    jobs = replayed(tmp_path, "smpi") if kind == "smpi" else talking(tmp_path)
    with pytest.raises(DeadlockError, match="w0!0 is lost with a host or link that went off"):
        simulate(place, jobs, "fcfs", settings=SHARING)
    run = simulate(place, jobs, "fcfs", settings=Settings(network="sharing", on_failure="kill"))
    assert ends(run.result)[0] == ("w0!0", "COMPLETED_SUCCESSFULLY", 10.0 if kind == "smpi" else 8.0)


def replayed(folder: Path, kind: str) -> Workload:
    """Write a job of two ranks that compute, or send 400 MB, for 4 s; and one that sleeps until t = 10."""
    ranks = {
        "usage_trace": ("m_usage 1 4e9\n", "m_usage 1 4e9\n"),
        "smpi": ("init\n0 send 1 0 399999984\n0 finalize\n", "init\n1 recv 0 0 399999984\n1 finalize\n"),
    }[kind]
    for rank, text in enumerate(ranks):
        (folder / f"r{rank}.txt").write_text(f"{rank} {text}")
    (folder / "t.txt").write_text("r0.txt\nr1.txt\n")
    return pair(folder, {"a": {"type": kind, "trace": "t.txt"}})


def talking(folder: Path) -> Workload:
    """Write a job that sends a text, then 100 MB in both directions of a link; and one that sleeps until t = 10."""
    steps = {"b": {"type": "send", "msg": {"a": 1}}, "c": {"type": "parallel_homogeneous", "cpu": 0, "com": 1e8}}
    return pair(folder, {"a": {"type": "composed", "repeat": 1, "seq": ["b", "c"]}, **steps})


def pair(folder: Path, profiles: dict[str, Any]) -> Workload:
    """Write a job of two hosts with profile `a`, and one that sleeps until t = 10."""
    listed = [{"id": str(number), "subtime": 0, "res": 2, "profile": name} for number, name in enumerate("az")]
    profiles = {**profiles, "z": {"type": "delay", "delay": 10}}
    (folder / "workload.json").write_bytes(orjson.dumps({"nb_res": 4, "jobs": listed, "profiles": profiles}))
    return read_workload(folder / "workload.json")

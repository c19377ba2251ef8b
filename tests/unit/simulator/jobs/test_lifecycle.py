"""Ends of jobs: by themselves, at their walltime, killed."""

import pytest

from batsched_py.model.settings import Settings
from batsched_py.traces.profile_table import SIMULATED_TYPES
from batsched_py.traces.replay_files import REPLAYED
from tests.unit.simulator.scenario import DELAYS, Profiles, execute, job, kill, platform, play, workload

PROFILES: Profiles = {
    **DELAYS,
    "fails": {"type": "delay", "delay": 10, "ret": 3},
    "cpu": {"type": "parallel_homogeneous", "cpu": 10e9},
    "nothing": {"type": "parallel_homogeneous", "cpu": 0},
    "seq": {"type": "composed", "repeat": 3, "seq": ["d10"]},
    "broken": {"type": "composed", "repeat": 3, "seq": ["d5", "fails", "d5"]},
    "cpu then delay": {"type": "composed", "seq": ["cpu", "d5"]},
    "delay then cpu": {"type": "composed", "seq": ["d5", "cpu"]},
}


@pytest.mark.parametrize(
    ("profile", "walltime", "state", "code", "duration"),
    [
        ("d10", None, "COMPLETED_SUCCESSFULLY", 0, 10),
        ("d10", 10.001, "COMPLETED_SUCCESSFULLY", 0, 10),
        ("d10", 10, "COMPLETED_WALLTIME_REACHED", -1, 10),
        ("d10", 4, "COMPLETED_WALLTIME_REACHED", -1, 4),
        ("fails", 20, "COMPLETED_FAILED", 3, 10),
        ("fails", 10, "COMPLETED_WALLTIME_REACHED", -1, 10),
        ("cpu", 10, "COMPLETED_SUCCESSFULLY", 0, 10),
        ("cpu", 9, "COMPLETED_WALLTIME_REACHED", -1, 9),
        ("seq", 31, "COMPLETED_SUCCESSFULLY", 0, 30),
        ("seq", 30, "COMPLETED_WALLTIME_REACHED", -1, 30),
        ("cpu then delay", 15, "COMPLETED_WALLTIME_REACHED", -1, 15),
        ("delay then cpu", 15, "COMPLETED_SUCCESSFULLY", 0, 15),
        ("broken", None, "COMPLETED_FAILED", 3, 15),
    ],
)
def test_how_a_job_ends(profile: str, walltime: float | None, state: str, code: int, duration: float) -> None:
    """A delay must end before its walltime, a parallel task may end with it; a failing step ends its sequence."""
    result, peer = play(
        workload(job("a", profile, at=1, walltime=walltime), profiles=PROFILES), {1.0: [execute("a", "0")]}
    )
    assert peer.told("JOB_COMPLETED") == [
        (1.0 + duration, {"job_id": "w0!a", "job_state": state, "return_code": code, "alloc": "0"})
    ]
    record = result.jobs[0]
    assert (record.state, record.return_code, record.execution) == (state, code, duration)


def test_walltimes_of_parallel_tasks_end_after_all_else_of_their_instant() -> None:
    """Delays and walltimes of delays, parallel tasks, walltimes of parallel tasks: whatever the order of starts."""
    jobs = [
        job("a", "cpu then delay", at=1, walltime=9),
        job("b", "seq", at=1, walltime=9),
        job("c", "cpu9", at=1),
        job("d", "cpu", at=1, walltime=9),
        job("e", "say cpu", at=1, walltime=9),
        job("f", "d9", at=1),
    ]
    profiles = {
        **PROFILES,
        "cpu9": {"type": "parallel_homogeneous", "cpu": 9e9},
        "d9": {"type": "delay", "delay": 9},
        "say": {"type": "send", "msg": {}, "sleeptime": 1},
        "say cpu": {"type": "composed", "seq": ["say", "cpu"]},
    }
    starts = [execute(name, str(host)) for host, name in enumerate("abcdef")]
    _, peer = play(workload(*jobs, profiles=profiles), {1.0: starts}, on=platform(6))
    ended = [data["job_id"][3:] for time, data in peer.told("JOB_COMPLETED") if time == 10.0]
    assert ended == ["b", "f", "c", "a", "d", "e"]


#: One profile of each type that lasts; `recv` goes on as soon as it looks.
EACH_TYPE: Profiles = {
    "delay": {"delay": 10},
    "parallel": {"cpu": [1e9]},
    "parallel_homogeneous": {"cpu": 1e9},
    "parallel_homogeneous_total": {"cpu": 1e9},
    "composed": {"seq": ["d10"]},
    "parallel_homogeneous_pfs": {"bytes_to_read": 1e9},
    "data_staging": {"nb_bytes": 1e9, "from": "a", "to": "b"},
    "send": {"msg": {}, "sleeptime": 1},
    "recv": {"polltime": 1},
}


def test_each_type_that_is_simulated_is_tried() -> None:
    """By the test below, and those that replay a trace in `test_replay`."""
    assert {*EACH_TYPE, *REPLAYED} == set(SIMULATED_TYPES)


@pytest.mark.parametrize("composed", [False, True])
@pytest.mark.parametrize(("ret", "state"), [(5, "COMPLETED_FAILED"), (-4, "COMPLETED_WALLTIME_REACHED")])
@pytest.mark.parametrize("kind", EACH_TYPE)
def test_each_type_of_profile_has_a_return_code(kind: str, ret: int, state: str, composed: bool) -> None:
    """Other than 0 it fails the job, and ends the composed profile that it is a step of."""
    profiles = {
        **DELAYS,
        "p": {"type": kind, **EACH_TYPE[kind], "ret": ret},
        "c": {"type": "composed", "seq": ["d5", "p", "d100"], "repeat": 2, "ret": 1},
    }
    mapping = {"storage_mapping": {"pfs": 3, "a": 3, "b": 2}}
    script = {1.0: [execute("a", "0", **mapping), ("TO_JOB_MSG", {"job_id": "w0!a", "msg": "x"})]}
    settings = Settings(roles={"h2": "storage", "h3": "storage"})
    result, peer = play(
        workload(job("a", "c" if composed else "p", at=1), profiles=profiles), script, settings=settings
    )
    assert peer.told("JOB_COMPLETED")[0][1]["return_code"] == ret
    assert (result.jobs[0].state, result.jobs[0].return_code) == (state, ret)
    assert result.jobs[0].execution < 16


def test_a_job_of_no_duration_is_recorded_as_ten_microseconds() -> None:
    """So that its stretch is a number; its end is told at once."""
    result, peer = play(workload(job("a", "nothing", at=1), profiles=PROFILES), {1.0: [execute("a", "0")]})
    assert result.jobs[0].execution == pytest.approx(1e-5)
    assert peer.told("JOB_COMPLETED")[0][0] == 1.0


@pytest.mark.parametrize(
    ("profile", "at", "code", "progress"),
    [
        ("d100", 51.0, -1, {"profile_name": "d100", "progress": 0.5}),
        ("d100", 1.0, -1, {"profile_name": "d100", "progress": 0.0}),
        ("cpu", 4.0, -2, {"profile_name": "cpu", "progress": 0.3}),
        (
            "seq",
            16.0,
            -1,
            {"profile_name": "seq", "current_task_index": 1, "current_task": {"profile_name": "d10", "progress": 0.5}},
        ),
    ],
)
def test_a_kill_is_told_as_completion_and_kill(profile: str, at: float, code: int, progress: object) -> None:
    """JOB_COMPLETED, then JOB_KILLED, in one message (E9)."""
    command = (*kill("a"), at)
    _, peer = play(workload(job("a", profile, at=1), profiles=PROFILES), {1.0: [execute("a", "0"), command]})
    completed = {"job_id": "w0!a", "job_state": "COMPLETED_KILLED", "return_code": code, "alloc": "0"}
    killed = {"job_ids": ["w0!a"], "job_progress": {"w0!a": progress}}
    assert [event["data"] for event in peer.heard[2]["events"]] == [completed, killed]


def test_a_second_kill_is_ignored() -> None:
    """Only the jobs of a request whose kill is new count; if there are none, nothing is reported."""
    jobs = workload(job("a", "d100", at=1), job("b", "d100", at=1))
    starts = [execute("a", "0"), execute("b", "1")]
    _, peer = play(jobs, {1.0: [*starts, kill("a"), kill("a"), kill("a", "b")]})
    assert [data["job_ids"] for _, data in peer.told("JOB_KILLED")] == [["w0!a"], ["w0!b"]]


def test_a_killed_job_frees_its_hosts_and_its_end_never_comes() -> None:
    """Another job starts there at once; the simulation ends with it."""
    jobs = workload(job("a", "d100", at=1), job("b", "d5", at=1))
    result, _ = play(jobs, {1.0: [execute("a", "0"), kill("a"), execute("b", "0")]})
    assert [record.finish for record in result.jobs] == [pytest.approx(1.00001), 6.0]
    assert result.end == 6.0


def test_jobs_are_recorded_in_order_of_their_ends() -> None:
    """Jobs that end together are in the order in which they were started."""
    jobs = workload(job("a", at=1), job("b", at=1), job("c", "d5", at=1))
    result, _ = play(jobs, {1.0: [execute("b", "0"), execute("a", "1"), execute("c", "2")]}, on=platform(3))
    assert [record.job.name for record in result.jobs] == ["c", "b", "a"]


def test_waiting_turnaround_and_stretch_are_batsims() -> None:
    """Stretch is turnaround divided by execution."""
    result, _ = play(workload(job("a", at=1)), {1.0: [(*execute("a", "0"), 11.0)]})
    record = result.jobs[0]
    assert (record.waiting, record.execution, record.turnaround, record.stretch) == (10.0, 10.0, 20.0, 2.0)

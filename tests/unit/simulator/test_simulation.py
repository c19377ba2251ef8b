"""The flow of messages, the passing of time and the end of a simulation."""

from typing import Any

import orjson
import pytest

from batsched_py.errors import DeadlockError, OptionError, PlatformError, RemoteProtocolError, WorkloadError
from batsched_py.model.job import Job
from batsched_py.model.settings import Settings
from batsched_py.results.progress import RunProgress
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import (
    Fcfs,
    Script,
    call,
    execute,
    job,
    kill,
    platform,
    play,
    reject,
    shape,
    workload,
)


def test_beginning_and_end_stand_alone() -> None:
    """SIMULATION_BEGINS and SIMULATION_ENDS each have a message of their own."""
    result, peer = play(workload(job("a", at=3)), {3.0: [execute("a", "0")]})
    assert shape(peer) == [
        (0.0, ["SIMULATION_BEGINS"]),
        (3.0, ["JOB_SUBMITTED", "NOTIFY"]),
        (13.0, ["JOB_COMPLETED"]),
        (13.0, ["SIMULATION_ENDS"]),
    ]
    assert (result.makespan, result.end, result.messages) == (13.0, 13.0, 4)


def test_submissions_come_before_ends_and_these_before_calls() -> None:
    """All that happens at t=6 is told in one message."""
    jobs = workload(job("a", at=1, profile="d5"), job("b", at=6))
    _, peer = play(jobs, {1.0: [execute("a", "0"), call(6)], 6.0: [reject("b")]})
    assert shape(peer)[2] == (6.0, ["JOB_SUBMITTED", "NOTIFY", "JOB_COMPLETED", "REQUESTED_CALL"])


def test_jobs_of_one_time_come_in_order_of_ids_as_text() -> None:
    """1, 10, 2: as Batsim sends them."""
    jobs = workload(*(job(name, at=1) for name in ("1", "2", "10")))
    _, peer = play(jobs, {1.0: [reject("1"), reject("2"), reject("10")]})
    assert [data["job_id"] for _, data in peer.told("JOB_SUBMITTED")] == ["w0!1", "w0!10", "w0!2"]


def test_workloads_are_numbered_in_their_order() -> None:
    """Jobs of two workloads have ids of their own, and no_more_static_job_to_submit comes after the last of all."""
    peer = Script({1.0: [("REJECT_JOB", {"job_id": f"w{number}!a"}) for number in (0, 1)]})
    result = Simulation(platform(), [workload(job("a", at=1)), workload(job("a", at=1))]).run(peer)
    assert [record.job.id for record in result.jobs] == ["w0!a", "w1!a"]
    assert len(peer.told("NOTIFY")) == 1


def test_floats_are_rounded_to_six_decimals_and_members_kept() -> None:
    """Integers stay integers, unknown members are forwarded, the id is the one of the run."""
    members = {"id": "a", "subtime": 1, "res": 1, "profile": "d10", "walltime": 20.12345678, "mine": [0.1234567, "x"]}
    odd = Job("a", 1, 1, 20.12345678, "d10", members)
    _, peer = play(workload(odd), {1.0: [reject("a")]})
    sent = peer.told("JOB_SUBMITTED")[0][1]["job"]
    assert sent == {**members, "id": "w0!a", "walltime": 20.123457, "mine": [0.123457, "x"]}
    assert list(sent) == list(members)


def test_a_pending_call_delays_the_end() -> None:
    """SIMULATION_ENDS waits for the far-away call (E14)."""
    result, peer = play(workload(job("a", at=1)), {1.0: [reject("a"), call(50)]})
    assert shape(peer)[-2:] == [(50.0, ["REQUESTED_CALL"]), (50.0, ["SIMULATION_ENDS"])]
    assert (result.makespan, result.end) == (0.0, 50.0)


def test_a_reply_in_the_future_lets_time_pass() -> None:
    """Events before that time come with the next message, with their own older times."""
    jobs = workload(job("a", at=1, profile="d5"), job("b", at=30))
    _, peer = play(jobs, {1.0: [execute("a", "0"), (*call(100), 20.0)], 30.0: [reject("b")]})
    assert shape(peer)[2] == (20.0, ["JOB_COMPLETED"])
    assert peer.told("JOB_COMPLETED")[0][0] == 6.0


def test_time_passes_until_the_now_of_the_reply() -> None:
    """Also without any command: the scheduler has thought for 20 s."""
    requests: list[Any] = []

    def thinker(raw: bytes) -> bytes:
        requests.append(orjson.loads(raw))
        now = requests[-1]["now"]
        if len(requests) == 2:
            event = {"timestamp": now, "type": "EXECUTE_JOB", "data": {"job_id": "w0!a", "alloc": "0"}}
            return orjson.dumps({"now": now + 20, "events": [event]})
        return orjson.dumps({"now": now, "events": []})

    Simulation(platform(), [workload(job("a", at=1))]).run(thinker)
    assert (requests[2]["now"], requests[2]["events"][0]["timestamp"]) == (21.0, 11.0)


def test_descending_timestamps_are_each_slept_to() -> None:
    """A command whose time has passed is applied at once."""
    jobs = workload(job("a", at=1), job("b", at=1))
    late, early = (*execute("a", "0"), 8.0), (*execute("b", "1"), 4.0)
    result, _ = play(jobs, {1.0: [late, early]})
    assert {record.job.name: record.start for record in result.jobs} == {"a": 8.0, "b": 8.0}


def test_a_job_that_ends_before_a_later_command_is_not_killed() -> None:
    """The kill at t=11 finds it completed: listed, without progress, and completed once (E9)."""
    _, peer = play(workload(job("a", at=1)), {1.0: [execute("a", "0"), (*kill("a"), 11.0)]})
    assert [data["job_state"] for _, data in peer.told("JOB_COMPLETED")] == ["COMPLETED_SUCCESSFULLY"]
    assert peer.told("JOB_KILLED") == [(11.0, {"job_ids": ["w0!a"], "job_progress": {}})]


def test_a_standstill_is_told_apart_from_the_end() -> None:
    """Nothing will ever happen and jobs wait: one line says when, who, how large, and how many hosts are free."""
    with pytest.raises(DeadlockError) as caught:
        play(workload(job("a", at=1), job("b", at=2, res=3)), {2.0: []})
    assert str(caught.value) == (
        "t=2.000000: nothing will ever happen again, yet 2 jobs wait for a decision (w0!a of 1 host, w0!b of 3 hosts);"
        " 4 of 4 hosts are free, no call is pending"
    )


def test_an_unfinished_registration_is_a_standstill() -> None:
    """All jobs are over, but the scheduler might still register some (E15)."""
    with pytest.raises(DeadlockError, match="registration was never finished"):
        play(workload(job("a", at=1)), {1.0: [reject("a")]}, settings=Settings(dynamic_jobs=True))


def test_an_empty_workload_ends_at_once() -> None:
    """Begin, no more jobs, end."""
    result, peer = play(workload(), {})
    assert [types for _, types in shape(peer)] == [["SIMULATION_BEGINS"], ["NOTIFY"], ["SIMULATION_ENDS"]]
    assert (result.jobs, result.makespan) == ((), 0.0)


def test_a_job_larger_than_the_platform_is_an_error_in_the_workload() -> None:
    """Unless it is allowed; then it is sent, and the scheduler must reject it."""
    jobs = workload(job("a", at=1, res=5))
    with pytest.raises(WorkloadError, match=r"test workload: job a\.res: asks for 5 hosts, the platform has 4"):
        play(jobs, {})
    result, _ = play(jobs, {1.0: [reject("a")]}, settings=Settings(allow_oversized=True))
    assert [record.state for record in result.jobs] == ["REJECTED"]


def test_only_the_first_hosts_take_part_if_so_asked() -> None:
    """--mmax counts compute hosts in lexicographic order."""
    result, peer = play(workload(job("a", at=1)), {1.0: [reject("a")]}, settings=Settings(machines=2))
    assert [host["name"] for host in peer.told("SIMULATION_BEGINS")[0][1]["compute_resources"]] == ["h0", "h1"]
    assert result.host_count == 2


def test_some_host_must_take_part() -> None:
    """--mmax 0 leaves nothing."""
    with pytest.raises(OptionError, match="must be from 1, not 0"):
        play(workload(), {}, settings=Settings(machines=0))


def test_a_platform_needs_a_compute_host() -> None:
    """The master alone runs no jobs."""
    with pytest.raises(PlatformError, match="must have a compute host"):
        Simulation(platform(0), [])


@pytest.mark.parametrize("reply", [b"", b"[]", b'{"now": 0}', b'{"now": 0, "events": [{"timestamp": 0, "type": "X"}]}'])
def test_what_is_no_reply_is_refused(reply: bytes) -> None:
    """Malformed bytes stop the simulation as they stop Batsim."""
    with pytest.raises(RemoteProtocolError):
        Simulation(platform(), [workload(job("a"))]).run(lambda _: reply)


def test_progress_is_told_now_and_then() -> None:
    """About a hundred times in a run, whatever the number of jobs."""
    reports: list[RunProgress] = []
    jobs = workload(*(job(str(number), at=number) for number in range(1000)))
    Simulation(platform(), [jobs]).run(Fcfs(4), reports.append)
    assert 50 <= len(reports) <= 150
    assert (reports[-1].jobs_total, reports[0].jobs_ended) == (1000, 0)


def test_wall_clock_time_is_divided_between_both_sides() -> None:
    """The clock is read around each exchange and nowhere else."""
    ticks = iter(range(100))
    result = Simulation(platform(), [workload(job("a"))]).run(Fcfs(4), clock=lambda: float(next(ticks)))
    assert result.deciding_seconds == result.messages
    assert result.deciding_seconds + result.simulating_seconds == 2 * result.messages + 1

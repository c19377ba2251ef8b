"""Properties of every simulation, whatever the workload."""

import json
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.results.records import Result
from batsched_py.simulator.simulation import Simulation
from tests.unit.simulator.scenario import DELAYS, Fcfs, Profiles, job, platform, workload

HOSTS = 5
PROFILES: Profiles = {
    **DELAYS,
    "cpu": {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
    "nothing": {"type": "parallel_homogeneous", "cpu": 0},
    "fails": {"type": "delay", "delay": 1 / 3, "ret": 7},
    "seq": {"type": "composed", "repeat": 2, "seq": ["d5", "cpu"]},
}


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    times = st.sampled_from([0, 1, 2.5, 1 / 3, 10, 10.0000004, 40])
    jobs = [
        job(
            str(number),
            draw(st.sampled_from(sorted(PROFILES))),
            res=draw(st.integers(1, HOSTS + 1)),
            at=draw(times),
            walltime=draw(st.sampled_from([None, 5, 10, 16, 1 / 7])),
        )
        for number in range(draw(st.integers(0, 12)))
    ]
    return workload(*jobs, profiles=PROFILES)


def simulate(what: Workload) -> tuple[Result, Fcfs]:
    peer = Fcfs(HOSTS)
    simulation = Simulation(platform(HOSTS), [what], Settings(allow_oversized=True))
    return simulation.run(peer, clock=lambda: 0.0), peer


@given(workloads())
def test_every_job_ends_exactly_once(what: Workload) -> None:
    """In the records and in the messages; a rejected one in the records only."""
    result, peer = simulate(what)
    assert sorted(record.job.id for record in result.jobs) == sorted(f"w0!{each.id}" for each in what.jobs)
    told = Counter(
        event["data"]["job_id"]
        for raw in peer.raw
        for event in json.loads(raw)["events"]
        if event["type"] == "JOB_COMPLETED"
    )
    assert told == Counter(record.job.id for record in result.jobs if not record.rejected)


@given(workloads())
def test_no_host_runs_two_jobs_at_once(what: Workload) -> None:
    """Jobs on one host follow each other; a job of no duration lies on the border."""
    result, _ = simulate(what)
    for host in range(HOSTS):
        here = [record for record in result.jobs if host in record.hosts and record.execution > 1.1e-5]
        here.sort(key=lambda record: record.start)
        for before, after in pairwise(here):
            assert before.finish <= after.start


@given(workloads())
def test_host_time_is_conserved(what: Workload) -> None:
    """The time of jobs is that in which hosts computed; a job of no duration takes none."""
    result, _ = simulate(what)
    taken = sum(len(record.hosts) * record.execution for record in result.jobs if record.execution > 1.1e-5)
    assert abs(taken - result.host_seconds["computing"]) < 1e-6


@given(workloads())
def test_no_job_starts_before_it_is_submitted(what: Workload) -> None:
    """Up to the rounding of messages to six decimals."""
    result, _ = simulate(what)
    assert all(record.rejected or record.waiting >= 0 for record in result.jobs)


@given(workloads())
def test_time_never_goes_back_in_messages(what: Workload) -> None:
    """Between messages and within one (E3)."""
    _, peer = simulate(what)
    before = 0.0
    for raw in peer.raw:
        message = json.loads(raw)
        times = [*(event["timestamp"] for event in message["events"]), message["now"]]
        assert times == sorted(times)
        assert before <= message["now"]
        before = message["now"]


@given(workloads())
def test_the_same_input_gives_the_same_bytes(what: Workload) -> None:
    """Twice the same messages, twice the same result."""
    (first_result, first), (second_result, second) = simulate(what), simulate(what)
    assert first.raw == second.raw
    assert first_result == second_result

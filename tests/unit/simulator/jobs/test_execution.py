"""Durations of profiles: against the jobs of a recorded run on a cluster, and by hand."""

import csv

import pytest

from batsched_py.errors import RefusedError
from batsched_py.hostset import HostSet
from batsched_py.model.profile import parse_profile
from batsched_py.simulator.contention.demand import Processors
from batsched_py.simulator.contention.transfers import TransferModel
from batsched_py.simulator.jobs.execution import NO_CONTENTION, HostsByRole, ProfileExecution, communication, ending
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.simgrid_xml import read_platform
from tests.clone import ROOT
from tests.unit.simulator.scenario import DELAYS, Profiles, execute, job, platform, play, workload

DATA = ROOT / "tests" / "data" / "batsim"

PROFILES: Profiles = {
    **DELAYS,
    "each": {"type": "parallel_homogeneous", "cpu": 4e9},
    "total": {"type": "parallel_homogeneous_total", "cpu": 4e9},
    "uneven": {"type": "parallel", "cpu": [1e9, 3e9]},
    "totals": {"type": "composed", "seq": ["total", "total"]},
}


def test_durations_are_those_of_a_recorded_run() -> None:
    """Every job of the run on a 32-host cluster lasted as long as we say, up to a microsecond."""
    platform = read_platform(DATA / "inputs" / "cluster32.xml")
    jobs = read_workload(DATA / "inputs" / "mixed40.json")
    hosts = platform.compute_hosts()
    processors = Processors([host.speeds[0] for host in hosts], [host.cores for host in hosts])
    execution = ProfileExecution(TransferModel(platform, hosts), processors, set())
    walltimes = {each.id: each.walltime for each in jobs.jobs}
    with (DATA / "o07_easy_bf_mixed_cluster" / "out_jobs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 40
    for row in rows:
        site = HostsByRole(list(HostSet.parse(row["allocated_resources"])))
        profile = jobs.profiles[row["profile"]]
        work = execution.work(profile, jobs.profiles, site)
        duration, _ = ending(work, walltimes[row["job_id"]])
        assert duration == pytest.approx(float(row["execution_time"]), abs=1.1e-6), row["job_id"]
    assert execution.approximations == {NO_CONTENTION}


@pytest.mark.parametrize(
    ("profile", "size", "alloc", "duration"),
    [("each", 2, "0-1", 4.0), ("total", 2, "0-1", 2.0), ("uneven", 2, "0-1", 3.0)],
)
def test_computation_lasts_as_long_as_its_slowest_host(profile: str, size: int, alloc: str, duration: float) -> None:
    """Flops over the host's speed."""
    result, _ = play(workload(job("a", profile, at=1, res=size), profiles=PROFILES), {1.0: [execute("a", alloc)]})
    assert result.jobs[0].execution == duration


@pytest.mark.parametrize(("profile", "duration"), [("total", 1.0), ("totals", 2.0)])
def test_a_total_amount_is_spread_over_whatever_hosts_it_gets(profile: str, duration: float) -> None:
    """Also a sequence of totals: only these may run on another number of hosts than they ask for."""
    result, _ = play(workload(job("a", profile, at=1, res=2), profiles=PROFILES), {1.0: [execute("a", "0-3")]})
    assert result.jobs[0].execution == duration


@pytest.mark.parametrize(("profile", "sent"), [("each", 90.0), ("total", 30.0), ("matrix", 7.0)])
def test_what_each_executor_sends(profile: str, sent: float) -> None:
    """A total is divided by the number of hosts, as real Batsim does; nobody sends to itself unless it is told to."""
    profiles = {
        "each": parse_profile("each", {"type": "parallel_homogeneous", "cpu": 1, "com": 90}),
        "total": parse_profile("total", {"type": "parallel_homogeneous_total", "cpu": 1, "com": 90}),
        "matrix": parse_profile("matrix", {"type": "parallel", "cpu": [1, 1, 1], "com": [0, 7, 7, 7, 0, 7, 7, 7, 0]}),
    }
    transfers = [transfer for transfer in communication(profiles[profile], [4, 5, 6]) if transfer[2]]
    pairs = [(4, 5), (4, 6), (5, 4), (5, 6), (6, 4), (6, 5)]
    assert transfers == [(source, target, sent) for source, target in pairs]


def test_executors_that_share_a_host_add_up() -> None:
    """A mapping places two executors on each of two hosts: twice the flops (E19)."""
    mapping = {"0": "0", "1": "0", "2": "1", "3": "1"}
    jobs = workload(job("a", "each", at=1, res=4), profiles=PROFILES)
    result, _ = play(jobs, {1.0: [execute("a", "0-1", mapping=mapping)]})
    assert result.jobs[0].execution == 8.0


def test_the_speed_is_that_of_the_pstate() -> None:
    """A host that begins in a slow pstate stays slow."""
    slow = platform(1, (1e9, 5e8))
    jobs = workload(job("a", "each", at=1), profiles=PROFILES)
    result, _ = play(jobs, {1.0: [execute("a", "0")]}, on=slow)
    assert result.jobs[0].execution == 4.0


def test_less_work_than_takes_any_time_is_done_at_once() -> None:
    """Flops of which there are too few for a float to tell the time."""
    profiles: Profiles = {"p": {"type": "parallel_homogeneous", "cpu": 5e-324}}
    result, _ = play(workload(job("a", "p", at=1, res=2), profiles=profiles), {1.0: [execute("a", "0-1")]})
    assert result.jobs[0].success
    assert result.jobs[0].execution < 1e-4


ENDLESS: Profiles = {
    "task": {"type": "parallel_homogeneous", "cpu": 1.7e308, "com": 0},
    "c0": {"type": "composed", "repeat": 10**9, "seq": ["task"] * 9},
    **{f"c{level}": {"type": "composed", "repeat": 10**9, "seq": [f"c{level - 1}"] * 9} for level in range(1, 40)},
}


def test_what_lasts_longer_than_numbers_reach_ends_by_its_walltime() -> None:
    """Its progress is a number, too."""
    result, _ = play(workload(job("a", "c39", res=2, at=1, walltime=7), profiles=ENDLESS), {1.0: [execute("a", "0-1")]})
    assert [(record.finish, record.state) for record in result.jobs] == [(8.0, "COMPLETED_WALLTIME_REACHED")]


@pytest.mark.parametrize("name", ["task", "c0", "c39"])
def test_what_lasts_longer_than_clocks_go_must_have_a_walltime(name: str) -> None:
    """Else the simulation would end when no time is left."""
    rule = f"job w0!a runs {name} without a walltime: must be at most 60000000000 s, .* not 1e"
    with pytest.raises(RefusedError, match=rule):
        play(workload(job("a", name, res=2, at=1), profiles=ENDLESS), {1.0: [execute("a", "0-1")]})

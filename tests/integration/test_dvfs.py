"""A power state for each job, against the simulator: as slow as is safe for the walltime."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import OptionError
from batsched_py.model.job import Job
from batsched_py.model.profile import parse_profile
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.results.records import JobRecord
from batsched_py.testing import Bench, play
from batsched_py.testing.case import Outage, Peer
from batsched_py.testing.strategies import outages
from tests.integration.energy_runs import SPECS, ComputingCase, Spec, run
from tests.integration.variants import HOSTS, Promises
from tests.recorded_run import RecordedRun
from tests.unit.simulator.scenario import SLEEPER, SLEEPER_SPEEDS, platform

#: Flop/s in each pstate of the hosts of the contract suite: 1e9 and 5e8, or 6e8; those that only switch do not count.
SPEEDS = "1e9,5e8,1,1,1,1,1,1"
DVFS: list[dict[str, str]] = [
    {"pstate": "1", "speeds": SPEEDS, "reserve": "hosts"},
    {"policy": "slowest", "speeds": SPEEDS, "margin": "1", "backfill_order": "sjf"},
    {"policy": "slowest", "speeds": SPEEDS, "slack": "5", "reserve": "hosts", "order": "sjf"},
]
PEERS: list[Peer] = ["simulator", "late"]


@pytest.mark.parametrize("peer", PEERS)
@pytest.mark.parametrize("options", DVFS)
@given(SPECS, outages(HOSTS), st.integers(0, 2**16))
@settings(max_examples=25)
def test_jobs_that_compute_end_though_hosts_change_their_pstates_and_fail(
    options: dict[str, str], peer: Peer, specs: list[Spec], drawn: tuple[Outage, ...], seed: int
) -> None:
    """The jobs of the contract suite are delays, which are slowed down nowhere."""
    repaired = tuple((begin, hosts, end or 50) for begin, hosts, end in drawn)
    case = ComputingCase(jobs=tuple(specs), outages=repaired, peer=peer, seed=seed, energy=True)
    played = play(load("easy_dvfs"), options, case)
    assert (len(played.endings), played.deadlock) == (len(specs), "")


@given(SPECS)
@settings(max_examples=25)
def test_no_job_reaches_its_walltime_that_would_not_at_full_speed(specs: list[Spec]) -> None:
    """With a margin below 1, of jobs that compute."""
    result, _ = run("easy_dvfs", {"policy": "slowest", "speeds": SPEEDS}, specs, computing=True)
    for record in result.jobs:
        _, _, duration, walltime = specs[int(record.job.name)]
        reached = record.state == "COMPLETED_WALLTIME_REACHED"
        assert duration == walltime or reached == (duration > walltime)


@given(SPECS)
@settings(max_examples=15)
def test_in_the_first_pstate_nothing_is_switched_and_it_is_easy(specs: list[Spec]) -> None:
    """The default where no speeds are known."""
    ours, talk = run("easy_dvfs", {}, specs)
    theirs, _ = run("easy", {}, specs)
    assert talk.said("SET_RESOURCE_STATE") == []
    assert [record.start for record in ours.jobs] == [record.start for record in theirs.jobs]


def play_one(members: dict[str, object], walltime: float, options: dict[str, str]) -> tuple[JobRecord, RecordedRun]:
    """One job of two hosts on four hosts: 1 Gflop/s in pstate 0, 0.5 in pstate 1."""
    talk = RecordedRun("easy_dvfs", options)
    job = Job.create("1", size=2, profile="p", submit_time=0, walltime=walltime)
    work = Workload("test", 4, (job,), {"p": parse_profile("p", members)})
    on = platform(4, SLEEPER_SPEEDS, **SLEEPER, speed_per_state="1e9,5e8,1,1,1")
    return talk.run([work], Settings(energy=True), on).jobs[0], talk


@pytest.mark.parametrize(
    ("members", "walltime", "seconds"),
    [
        ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, 30, 20),
        ({"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}, 21, 10),
        ({"type": "parallel_homogeneous_total", "cpu": 2e10, "com": 0}, 30, 20),
        ({"type": "parallel", "cpu": [1e10, 1e9]}, 30, 20),
        ({"type": "parallel", "cpu": [1e10, 1e9], "com": [0, 1, 0, 0]}, 30, 10),
    ],
)
def test_a_job_computes_as_slowly_as_is_safe(members: dict[str, object], walltime: float, seconds: float) -> None:
    """10 s at full speed, 20 s at half of it; 20 s are not safe in 21 s, and who communicates is not slowed down."""
    record, talk = play_one(members, walltime, {"policy": "slowest"})
    assert record.finish - record.start == pytest.approx(seconds, rel=1e-3)
    assert [data["state"] for data in talk.details("SET_RESOURCE_STATE")] == (["1"] if seconds == 20 else [])


def test_a_fixed_pstate_is_left_for_a_faster_one_where_it_is_not_safe() -> None:
    """The speeds are a property here; the hosts are already in the faster one."""
    task: dict[str, object] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    assert play_one(task, 30, {"pstate": "1"})[0].finish == pytest.approx(20)
    assert play_one(task, 21, {"pstate": "1"})[0].finish == pytest.approx(10)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"pstate": "2"}, "option pstate: host h0000 computes in 0, 1, not in 2"),
        ({"policy": "slowest"}, "option policy: .* host h0000 has no property speed_per_state"),
        ({"policy": "fixed"}, "policy=fixed needs the option pstate"),
        ({"policy": "slowest", "pstate": "0"}, "pstate is for policy=fixed"),
        ({"margin": "1.1"}, "option margin of easy_dvfs: must be at most 1"),
        ({"speeds": "fast"}, "speeds: must be flop/s"),
        ({"speeds": "1e9,0,1,1,1"}, "speeds: must be flop/s"),
        ({"speeds": "1e9"}, "option speeds: must be one for each pstate, not 1 for the 5 pstates of host h0000"),
    ],
)
def test_options_that_do_not_fit_the_hosts_are_named(options: dict[str, str], why: str) -> None:
    """As the user's mistake, not as a failure of the algorithm."""
    with pytest.raises(OptionError, match=why):
        run("easy_dvfs", options, [(0, 1, 1, 1)])


def test_speeds_that_all_hosts_tell_are_not_given_again() -> None:
    """They would be ignored."""
    task: dict[str, object] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    with pytest.raises(OptionError, match="option speeds: all hosts have the property"):
        play_one(task, 30, {"speeds": SPEEDS})


def test_the_slowest_that_is_safe_is_the_default_where_hosts_tell_their_speeds() -> None:
    """10 s at full speed, of 30."""
    task: dict[str, object] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    assert play_one(task, 30, {})[0].finish == pytest.approx(20)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, ["t=0: host h0 tells no speeds (property speed_per_state): jobs compute there in its first pstate"]),
        ({"pstate": "0"}, []),
        (
            {"pstate": "1"},
            [
                "t=0: host h0 tells no speeds (property speed_per_state): jobs may reach their walltimes in pstate 1"
                " that would not at full speed"
            ],
        ),
    ],
)
def test_what_unknown_speeds_mean_is_told_once(options: dict[str, str], told: list[str]) -> None:
    """At the first decision."""
    heard: list[str] = []
    bench = Bench("easy_dvfs", hosts=4, options=options, warn=heard.append)
    bench.submit(size=2, walltime=10)
    bench.decide()
    assert heard == told


@pytest.mark.parametrize("options", [{}, {"pstate": "1"}], ids=["at once", "when acknowledged"])
@pytest.mark.parametrize("reserve", ["counts", "hosts"])
def test_slack_counts_for_jobs_that_run(options: dict[str, str], reserve: str) -> None:
    """A job of 100 s is thought to hold its hosts for 105 s, by those who are promised them too."""
    bench = Bench("easy_dvfs", hosts=4, options={"slack": "5", "reserve": reserve, **options})
    bench.submit("first", size=4, walltime=100)
    if not bench.decide().started:
        bench.at(1).finish_switches()
        bench.decide()
    started = bench.now
    blocked = bench.submit("second", size=4, walltime=100)
    assert bench.decide().promises[blocked] == started + 105


CAPPED: list[dict[str, str]] = [
    {"pstate": "0", "power_cap": "700", "speeds": SPEEDS},
    {"power_cap": "660", "speeds": SPEEDS, "margin": "1", "backfill_order": "sjf"},
    {"pstate": "0", "power_cap": "640", "speeds": SPEEDS, "slack": "2"},
]


@pytest.mark.parametrize("computing", [False, True], ids=["delays", "computing"])
@pytest.mark.parametrize("options", CAPPED)
@given(SPECS)
@settings(max_examples=20)
def test_the_hosts_never_draw_more_than_the_cap(options: dict[str, str], computing: bool, specs: list[Spec]) -> None:
    """By the simulator's meter, between any two of its rows; who cannot run is rejected, all others end."""
    result, talk = run("easy_dvfs", options, specs, computing=computing)
    assert len(result.jobs) == len(specs)
    assert result.trace is not None
    assert result.trace.energy is not None
    measured = [(0.0, 0.0), *zip(result.trace.energy.times, result.trace.energy.joules, strict=True)]
    for (before, consumed), (time, joules) in pairwise(measured):
        assert joules - consumed <= float(options["power_cap"]) * (time - before) + 1e-6
    rejected = {record.job.id for record in result.jobs if record.state == "REJECTED"}
    assert rejected == set(talk.session.rejections)
    assert all("the cap is" in why for why in talk.session.rejections.values())


@pytest.mark.parametrize("options", CAPPED)
@given(SPECS)
@settings(max_examples=20)
def test_under_a_cap_no_promised_start_moves_to_later(options: dict[str, str], specs: list[Spec]) -> None:
    """A job that overtakes leaves hosts and watts to the first blocked job."""
    promises = Promises(tolerance=1e-6)
    result, _ = run("easy_dvfs", options, specs, computing=True, watch=promises.watch)
    promises.check(result.jobs, tolerance=1e-3)


@given(SPECS)
@settings(max_examples=15)
def test_a_cap_that_nobody_reaches_changes_nothing(specs: list[Spec]) -> None:
    """Promises are on hosts, as they are under a cap."""
    options = {"pstate": "1", "speeds": SPEEDS, "reserve": "hosts"}
    ours, _ = run("easy_dvfs", {**options, "power_cap": "1e6"}, specs, computing=True)
    theirs, _ = run("easy_dvfs", options, specs, computing=True)
    assert [(each.job.id, each.start, each.hosts) for each in ours.jobs] == [
        (each.job.id, each.start, each.hosts) for each in theirs.jobs
    ]


@pytest.mark.parametrize(
    ("cap", "seconds", "switched"),
    [("1000", 10, []), ("600", 10, []), ("599", 20, ["1"]), ("440", 20, ["1"])],
)
def test_under_a_cap_a_job_computes_more_slowly(cap: str, seconds: float, switched: list[str]) -> None:
    """Four idle hosts draw 400 W; two of them draw 100 W more each at full speed, 20 W more in pstate 1."""
    members: dict[str, object] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    record, talk = play_one(members, 30, {"pstate": "0", "power_cap": cap})
    assert record.finish - record.start == pytest.approx(seconds, rel=1e-3)
    assert [data["state"] for data in talk.details("SET_RESOURCE_STATE")] == switched


def test_a_job_that_could_not_even_run_alone_is_rejected() -> None:
    """With the watts of the other hosts, in its slowest safe pstate."""
    members: dict[str, object] = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}
    record, talk = play_one(members, 30, {"power_cap": "439"})
    assert record.state == "REJECTED"
    why = "may draw 440 W with what the other hosts draw, the cap is 439 W"
    assert talk.session.rejections == {record.job.id: why}


def test_who_overtakes_leaves_the_blocked_job_its_watts() -> None:
    """A host at work adds 100 W to the 400 W of all, no job may be slowed down: A and one more, or B with two hosts.

    B waits for A; C would be beside it until 32, D ends before.
    """
    jobs, profiles = [], {}
    for name, at, size, seconds, walltime in (
        ("A", 0, 1, 10, 12),
        ("B", 1, 2, 5, 5),
        ("C", 2, 1, 30, 30),
        ("D", 2, 1, 5, 5),
    ):
        jobs.append(Job.create(name, size=size, profile=name, submit_time=at, walltime=walltime + 0.5))
        profiles[name] = parse_profile(name, {"type": "parallel_homogeneous", "cpu": seconds * 1e9, "com": 0})
    talk = RecordedRun("easy_dvfs", {"power_cap": "600"})
    on = platform(4, SLEEPER_SPEEDS, **SLEEPER, speed_per_state="1e9,5e8,1,1,1")
    result = talk.run([Workload("test", 4, tuple(jobs), profiles)], Settings(energy=True), on)
    starts = {record.job.name: round(record.start, 6) for record in result.jobs}
    assert starts == {"A": 0.0, "D": 2.0, "B": 10.0, "C": 15.0}

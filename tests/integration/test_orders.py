"""Backfilling in any order, with jobs without walltimes, and by predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import strategies as st

from batsched_py.model.job import Job
from batsched_py.model.profile import Delay
from batsched_py.model.workload import Workload
from batsched_py.planning.policies.ordering import ORDERS
from batsched_py.results.records import JobRecord
from batsched_py.session.session import Session
from batsched_py.testing import Bench
from batsched_py.testing.play import Watch
from tests.drawing import given_once
from tests.integration.variants import HOSTS, PLATFORM, SPECS, Promises, workload
from tests.recorded_run import RecordedRun

Spec = tuple[int, int, int, int]
#: As SPECS, where some jobs have no walltime.
OPEN_SPECS = st.lists(
    st.tuples(st.integers(0, 12), st.integers(1, HOSTS), st.integers(1, 9), st.none() | st.integers(1, 12)),
    min_size=1,
    max_size=25,
)


def all_alike(job: Job, now: float) -> float:
    """An order that says nothing, asked again and again."""
    return 0.0


def large(job: Job, now: float) -> float:
    """As desc_size, asked again and again."""
    return -job.size


def schedule(name: str, options: Mapping[str, Any], jobs: Workload, watch: Watch | None = None) -> list[JobRecord]:
    """Records in the order of submission."""
    recorded = RecordedRun(name, options, watch=watch)
    recorded.run([jobs], on=PLATFORM)
    return recorded.by_submission()


def starts(name: str, options: Mapping[str, Any], specs: list[Spec]) -> list[float]:
    return [record.start for record in schedule(name, options, workload(specs))]


@pytest.mark.parametrize("depth", ["1", "2", "none"])
@pytest.mark.parametrize("reserve", ["counts", "hosts"])
@pytest.mark.parametrize("order", ["asc_area", "lcfs", "wfp3"])
@given_once(SPECS)
def test_the_first_of_the_order_never_waits_while_it_fits(
    order: str, reserve: str, depth: str, specs: list[Spec]
) -> None:
    """Whenever a message was answered."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        view = session.view
        waiting = ORDERS[order].sorted(view.queue, view.now)
        assert not waiting or waiting[0].size > len(view.free)

    schedule("backfill", {"order": order, "reserve": reserve, "depth": depth}, workload(specs), watch)


@pytest.mark.parametrize("backfill_order", ["fcfs", "sjf"])
@given_once(SPECS)
def test_an_order_that_says_nothing_is_the_order_of_arrival(backfill_order: str, specs: list[Spec]) -> None:
    """EASY on counts makes the same of promises that are kept and of promises that are made again."""
    expected = starts("easy", {"backfill_order": backfill_order}, specs)
    order = f"{__name__}:all_alike"
    assert starts("easy", {"order": order, "backfill_order": backfill_order}, specs) == expected


@given_once(SPECS, [(0, 4, 9, 9), (0, 3, 9, 9), (1, 5, 5, 5), (2, 1, 2, 2), (3, 2, 9, 9)])
def test_a_kept_order_is_the_one_that_is_found_again(specs: list[Spec]) -> None:
    """Looking only at those who arrived changes nothing."""
    order = f"{__name__}:large"
    assert starts("easy", {"order": "desc_size"}, specs) == starts("easy", {"order": order}, specs)


@pytest.mark.parametrize("depth", ["1", "2"])
@given_once(SPECS)
def test_in_an_order_only_so_many_hold_a_promise_at_a_time(depth: str, specs: list[Spec]) -> None:
    """A job that comes before the head takes its promise: the earlier promise no longer counts."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        assert len(session.plan.promises) <= int(depth)

    schedule("backfill", {"order": "asc_area", "depth": depth}, workload(specs), watch)


def test_in_an_order_the_first_is_promised_and_others_overtake() -> None:
    """Shortest first: the head is the short large job, not the one that came first."""
    specs = [(0, 4, 10, 10), (1, 6, 9, 9), (2, 6, 3, 3), (3, 2, 7, 7), (4, 2, 8, 8)]
    assert starts("easy", {}, specs) == [0, 10, 19, 3, 22]
    assert starts("easy", {"order": "sjf"}, specs) == [0, 21, 10, 3, 13]
    assert starts("conservative", {"order": "sjf"}, specs) == [0, 21, 10, 3, 13]


@pytest.mark.parametrize("running", [True, False], ids=["nothing is released", "a job ends"])
@pytest.mark.parametrize("order", ["fcfs", "desc_size"])
def test_jobs_that_arrive_together_overtake_in_order_or_each_as_it_came(order: str, running: bool) -> None:
    """Two hosts are free, four are promised at 100: the first has 90 s, the shorter one comes second."""
    first = {}
    for arrivals in ("together", "one_by_one"):
        bench = Bench("easy", hosts=4, options={"order": order, "backfill_order": "sjf", "arrivals": arrivals})
        bench.run(size=2, walltime=100)
        other = None if running else bench.run(size=2, walltime=100)
        bench.submit(size=4, walltime=10)
        assert not bench.decide().started
        if other is not None:
            bench.end(other)
        long, short = bench.submit(size=2, walltime=90), bench.submit(size=2, walltime=10)
        first[arrivals] = {long: "long", short: "short"}[next(iter(bench.decide().started))]
    assert first == {"together": "short", "one_by_one": "long"}


def test_any_order_says_who_overtakes_first() -> None:
    """One gap of two hosts, three that fit."""
    specs = [(0, 4, 20, 20), (1, 6, 5, 5), (1, 2, 9, 9), (1, 1, 8, 8), (1, 1, 3, 3)]
    assert starts("easy", {"backfill_order": "fcfs"}, specs)[2:] == [1, 10, 10]
    assert starts("easy", {"backfill_order": "asc_size"}, specs)[2:] == [9, 1, 1]
    assert starts("easy", {"backfill_order": "desc_area"}, specs)[2:] == [1, 10, 10]
    assert starts("easy", {"backfill_order": "asc_walltime"}, specs)[2:] == [9, 1, 1]


def open_workload(specs: list[tuple[int, int, int, int | None]]) -> Workload:
    """Delay jobs, some of them without a walltime."""
    profiles = {f"d{run}": Delay(f"d{run}", "delay", {"type": "delay", "delay": run}, run) for _, _, run, _ in specs}
    jobs = [
        Job.create(f"{number:03d}", size=size, profile=f"d{run}", submit_time=submit, walltime=walltime)
        for number, (submit, size, run, walltime) in enumerate(specs)
    ]
    return Workload("open", HOSTS, tuple(sorted(jobs, key=lambda job: (job.submit_time, job.id))), profiles)


@pytest.mark.parametrize("depth", ["1", "2", "none"])
@pytest.mark.parametrize("reserve", ["counts", "hosts"])
@given_once(OPEN_SPECS)
def test_jobs_without_walltimes_break_no_promise(
    reserve: str, depth: str, specs: list[tuple[int, int, int, int | None]]
) -> None:
    """They run, all of them, and nobody starts later than promised."""
    promises = Promises()
    options = {"walltimes": "optional", "reserve": reserve, "depth": depth}
    jobs = schedule("backfill", options, open_workload(specs), promises.watch)
    assert len(jobs) == len(specs)
    promises.check(jobs)
    for record in jobs:
        assert record.state in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED")


@pytest.mark.parametrize("name", ["easy", "conservative", "backfill", "easy_plus_plus"])
def test_jobs_without_walltimes_are_rejected_unless_they_may_run(name: str) -> None:
    """By option; the first needs a walltime."""
    jobs = open_workload([(0, 1, 5, None), (0, 1, 5, 9)])
    assert [record.state for record in schedule(name, {}, jobs)] == ["REJECTED", "COMPLETED_SUCCESSFULLY"]
    states = [record.state for record in schedule(name, {"walltimes": "optional"}, jobs)]
    assert states == ["COMPLETED_SUCCESSFULLY", "COMPLETED_SUCCESSFULLY"]


def test_a_job_without_a_walltime_takes_only_what_nobody_is_promised() -> None:
    """Four of six hosts are promised at 10: two may run for ever, a third may not."""
    jobs = open_workload([(0, 5, 10, 10), (1, 4, 5, 5), (2, 1, 30, None), (3, 1, 3, 3)])
    assert [record.start for record in schedule("easy", {"walltimes": "optional"}, jobs)] == [0, 10, 2, 10]
    jobs = open_workload([(0, 5, 10, 10), (1, 6, 5, 5), (2, 1, 30, None), (3, 1, 3, 3)])
    assert [record.start for record in schedule("easy", {"walltimes": "optional"}, jobs)] == [0, 10, 15, 3]


def test_who_waits_for_a_job_without_a_walltime_is_promised_nothing() -> None:
    """Nobody knows when it ends: until then whoever fits may overtake."""
    jobs = open_workload([(0, 5, 10, None), (1, 6, 5, 5), (2, 1, 30, 30)])
    for name in ("easy", "conservative"):
        assert [record.start for record in schedule(name, {"walltimes": "optional"}, jobs)] == [0, 32, 2]


def users_workload(specs: list[tuple[int, int, int, int, str]]) -> Workload:
    """(submit time, hosts, run time, walltime, user)."""
    profiles = {f"d{run}": Delay(f"d{run}", "delay", {"type": "delay", "delay": run}, run) for _, _, run, _, _ in specs}
    jobs = [
        Job.create(
            f"{number:03d}",
            size=size,
            profile=f"d{run}",
            submit_time=submit,
            walltime=walltime,
            extra={"owner": user} if user else {},
        )
        for number, (submit, size, run, walltime, user) in enumerate(specs)
    ]
    return Workload("users", HOSTS, tuple(jobs), profiles)


#: Two jobs of ada and of bob that tell: ada's run 10 s, bob's 100 s.
PAST = [(0, 1, 10, 500, "ada"), (0, 1, 10, 500, "ada"), (0, 1, 100, 500, "bob"), (0, 1, 100, 500, "bob")]
PLUS = {"user": "owner"}


def plus_plus(options: Mapping[str, Any], *specs: tuple[int, int, int, int, str]) -> list[float]:
    """Starts of the jobs that come after the PAST."""
    records = schedule("easy_plus_plus", {**PLUS, **options}, users_workload([*PAST, *specs]))
    return [record.start for record in records][len(PAST) :]


def test_predictions_let_overtake_whose_walltime_would_not() -> None:
    """The head is promised 300; ada's job asks for 500 s, but her last two took 10."""
    specs = [(200, 5, 100, 100, ""), (201, 6, 10, 10, ""), (202, 1, 10, 500, "ada"), (202, 1, 10, 500, "bob")]
    assert plus_plus({}, *specs) == [200, 300, 202, 310]
    jobs = users_workload([*PAST, *specs])
    assert [record.start for record in schedule("easy", {}, jobs)][4:] == [200, 300, 310, 310]
    assert plus_plus({"user": "user"}, *specs) == [200, 300, 310, 310]


def test_the_predicted_shortest_overtakes_first() -> None:
    """Bob asks for less than ada, and is expected to take longer."""
    specs = [(200, 5, 200, 200, ""), (201, 6, 10, 10, ""), (202, 1, 90, 150, "bob"), (202, 1, 10, 500, "ada")]
    assert plus_plus({}, *specs) == [200, 400, 212, 202]
    assert plus_plus({"backfill_order": "fcfs"}, *specs) == [200, 400, 202, 292]


def test_a_job_that_outlives_its_prediction_is_corrected_and_may_run_until_its_walltime() -> None:
    """Ada's is expected to end at 210; then at 270, 510 and 1110, and each time longer jobs may overtake the head."""
    specs = [(200, 4, 900, 1000, "ada"), (201, 6, 5, 5, ""), (202, 2, 50, 50, ""), (203, 1, 280, 280, "")]
    assert plus_plus({}, *specs) == [200, 1100, 210, 510]
    records = schedule("easy_plus_plus", PLUS, users_workload([*PAST, *specs]))
    assert [record.state for record in records[4:]] == ["COMPLETED_SUCCESSFULLY"] + ["COMPLETED_WALLTIME_REACHED"] * 3

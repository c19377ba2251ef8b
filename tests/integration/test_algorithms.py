"""The algorithms against the simulator: what each promises, on any workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from batsched_py.api import HostSet, Scheduler, View
from batsched_py.planning.future.reserving_books import CountBook
from batsched_py.planning.policies.ordering import ORDERS
from batsched_py.results.records import JobRecord
from batsched_py.schedulers.backfill import Backfill
from batsched_py.schedulers.backfilling.loop import BackfillLoop
from batsched_py.session.session import Session
from batsched_py.testing import Bench
from batsched_py.testing.play import Watch
from tests.drawing import given_once
from tests.integration.variants import EASY, PLATFORM, PROMISING, SPECS, Promises, workload
from tests.recorded_run import RecordedRun


def run(
    name: str | type[Scheduler[Any]],
    options: Mapping[str, Any],
    specs: list[tuple[int, int, int, int]],
    watch: Watch | None = None,
) -> list[JobRecord]:
    """Records in the order of submission."""
    recorded = RecordedRun(name, options, watch=watch)
    recorded.run([workload(specs)], on=PLATFORM)
    return recorded.by_submission()


def placed(records: Sequence[JobRecord]) -> list[tuple[float, HostSet]]:
    """When each started, and where."""
    return [(record.start, record.hosts) for record in records]


@given_once(SPECS)
def test_fcfs_starts_jobs_in_order_of_arrival(specs: list[tuple[int, int, int, int]]) -> None:
    """Nobody overtakes."""
    starts = [record.start for record in run("fcfs", {}, specs)]
    assert starts == sorted(starts)


@given_once(SPECS)
def test_priority_in_order_of_arrival_is_fcfs(specs: list[tuple[int, int, int, int]]) -> None:
    """Every start and every host."""
    ours, theirs = (run(name, {}, specs) for name in ("priority", "fcfs"))
    assert placed(ours) == placed(theirs)


@pytest.mark.parametrize("order", ["lcfs", "asc_size", "wfp3"])
@given_once(SPECS)
def test_priority_serves_nobody_before_the_first_of_its_order(
    order: str, specs: list[tuple[int, int, int, int]]
) -> None:
    """Whenever a message was answered, the first of the order does not fit."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        view = session.view
        waiting = ORDERS[order].sorted(view.queue, view.now)
        assert not waiting or waiting[0].size > len(view.free)

    run("priority", {"order": order}, specs, watch)


@given_once(SPECS)
def test_filler_leaves_no_job_waiting_that_would_fit(specs: list[tuple[int, int, int, int]]) -> None:
    """Whenever a message was answered, every waiting job is larger than what is free."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        free = len(session.view.free)
        assert all(job.size > free for job in session.view.queue)

    run("filler", {}, specs, watch)


@pytest.mark.parametrize(("name", "options"), PROMISING)
@given_once(SPECS, [(0, 4, 5, 5), (0, 6, 5, 5), (1, 2, 4, 4), (1, 1, 9, 9), (2, 2, 9, 12)])
def test_no_promised_start_ever_moves_to_later(
    name: str, options: dict[str, str], specs: list[tuple[int, int, int, int]]
) -> None:
    """A promise may come nearer when jobs end early; the job starts no later than any promise it was given."""
    promises = Promises()
    promises.check(run(name, options, specs, promises.watch))


@pytest.mark.parametrize(("name", "options"), EASY)
@given_once(SPECS)
def test_easy_starts_the_oldest_waiting_job_as_soon_as_it_fits(
    name: str, options: dict[str, str], specs: list[tuple[int, int, int, int]]
) -> None:
    """The first in the queue never waits while enough hosts are free."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        first = session.view.queue.first()
        assert first is None or first.size > len(session.view.free)

    run(name, options, specs, watch)


@pytest.mark.parametrize("reserve", ["counts", "hosts"])
@given_once(SPECS)
def test_under_conservative_every_waiting_job_holds_a_promise(
    reserve: str, specs: list[tuple[int, int, int, int]]
) -> None:
    """From the message of its arrival on."""

    def watch(session: Session, request: bytes, reply: bytes) -> None:
        assert {job.id for job in session.view.queue} == set(session.plan.promises)

    run("conservative", {"reserve": reserve}, specs, watch)


@pytest.mark.parametrize("reserve", ["counts", "hosts"])
@pytest.mark.parametrize(("name", "depth"), [("easy", "1"), ("conservative", "none"), ("conservative", "25")])
@given_once(SPECS)
def test_backfilling_of_a_depth_is_easy_or_conservative(
    name: str, depth: str, reserve: str, specs: list[tuple[int, int, int, int]]
) -> None:
    """The same starts on the same hosts: EASY is a depth of 1, conservative any that no queue exceeds."""
    expected = run(name, {"reserve": reserve}, specs)
    found = run("backfill", {"reserve": reserve, "depth": depth}, specs)
    assert placed(found) == placed(expected)


@given_once(SPECS)
def test_a_single_claim_is_a_shadow(specs: list[tuple[int, int, int, int]]) -> None:
    """EASY's shadow time and extra hosts say as much as a promise with an end, where there is but one."""

    class Claiming(Backfill):
        def setup(self, view: View) -> None:
            super().setup(view)
            self.loop = BackfillLoop(self.rules, view, CountBook)

    assert placed(run(Claiming, {"depth": 1}, specs)) == placed(run("easy", {}, specs))


def starts(name: str, options: Mapping[str, str], specs: list[tuple[int, int, int, int]]) -> list[float]:
    return [record.start for record in run(name, options, specs)]


def test_easy_backfills_what_fcfs_leaves_idle() -> None:
    """The textbook: a small job runs in the gap before the large one that waits."""
    specs = [(0, 4, 10, 10), (1, 6, 5, 5), (2, 2, 8, 8), (2, 2, 9, 9)]
    assert starts("fcfs", {}, specs) == [0, 10, 15, 15]
    assert starts("easy", {}, specs) == [0, 10, 2, 15]


def test_promises_on_counts_let_more_jobs_overtake_than_promises_on_hosts() -> None:
    """On counts a long job takes the free host 0, because five hosts will be free for four; on hosts it is promised."""
    specs = [(0, 1, 1, 1), (0, 2, 10, 10), (0, 2, 4, 4), (0, 1, 20, 20), (1, 4, 5, 5), (2, 1, 12, 12)]
    assert starts("easy", {"reserve": "counts"}, specs)[4:] == [10, 2]
    assert starts("easy", {"reserve": "hosts"}, specs)[4:] == [10, 4]


def test_the_shortest_overtakes_first_if_asked() -> None:
    """One gap, two that fit: arrival order or walltime decides."""
    specs = [(0, 5, 10, 10), (0, 6, 5, 5), (1, 1, 9, 9), (1, 1, 3, 3)]
    assert starts("easy", {"backfill_order": "fcfs"}, specs)[2:] == [1, 15]
    assert starts("easy", {"backfill_order": "sjf"}, specs)[2:] == [15, 1]


def test_a_chosen_order_serves_the_first_and_blocks_the_others() -> None:
    """Shortest first: the short one comes first though it is last, and the large one holds up who would fit."""
    specs = [(0, 6, 10, 10), (1, 4, 9, 9), (2, 6, 3, 3), (3, 2, 5, 5)]
    assert starts("priority", {"order": "fcfs"}, specs) == [0, 10, 19, 22]
    assert starts("priority", {"order": "sjf"}, specs) == [0, 13, 10, 13]
    assert starts("priority", {"order": "desc_size"}, specs) == [0, 13, 10, 13]


@pytest.mark.parametrize("reserve", ["counts", "hosts"])
def test_who_had_no_start_to_foresee_comes_before_those_who_came_later(reserve: str) -> None:
    """B must wait for a job without a walltime; once that has ended B starts, and D, which came later, after it."""
    bench = Bench("conservative", hosts=4, options={"walltimes": "optional", "reserve": reserve})
    endless, other, third = bench.submit("A"), bench.submit("X", size=2, walltime=100), bench.submit("W", walltime=100)
    bench.decide()
    bench.at(1).submit("B", size=4, walltime=50)
    bench.submit("D", size=3, walltime=50)
    assert set(bench.decide().promises) == {"w0!D"}
    bench.at(2).end(third)
    bench.decide()
    bench.at(10).end(endless)
    bench.decide()
    bench.at(20).end(other)
    decision = bench.decide()
    assert set(decision.started) == {"w0!B"}
    assert decision.promises == {"w0!D": 70}

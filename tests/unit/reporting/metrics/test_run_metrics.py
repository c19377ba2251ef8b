"""The metrics of runs and jobs, on schedules small enough to work out by hand."""

from __future__ import annotations

from dataclasses import fields
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.reporting.api import RunMetrics, Schedule, measure_jobs, measure_run, read_schedule, summarise_jobs
from batsched_py.reporting.metrics.catalogue import METRIC_INFO
from batsched_py.reporting.pictures.window import Window
from batsched_py.results.records import JobRecord
from tests.clone import ROOT
from tests.unit.reporting.records import record, rejected

BATSIM = ROOT / "tests" / "data" / "batsim"


def schedule(*jobs: JobRecord, hosts: int = 4) -> Schedule:
    """A run of these jobs."""
    return Schedule("run", jobs, hosts, {})


def owned(job: JobRecord, user: str | int) -> JobRecord:
    """Return such a record, of a job of a user."""
    return replace(job, job=replace(job.job, members={"user": user}))


FIRST = record("1", submit=0, start=0, finish=30, hosts="0-1")
SECOND = record("2", submit=10, start=30, finish=50, hosts="0-3")


def test_metrics_of_two_jobs_are_those_worked_out_by_hand() -> None:
    """4 hosts; 2 of them for 30 s, then 4 of them for 20 s; the second waits 20 s."""
    found = measure_run(schedule(FIRST, SECOND))
    assert (found.jobs, found.ran, found.successful, found.rejected, found.hosts) == (2, 2, 2, 0, 4)
    assert (found.makespan, found.utilisation, found.throughput) == (50.0, 140 / 200, 2 / 50)
    assert (found.mean_wait, found.median_wait, found.p90_wait, found.max_wait) == (10, 10, 18, 20)
    assert (found.mean_turnaround, found.max_turnaround) == (35, 40)
    assert (found.mean_slowdown, found.max_slowdown, found.mean_bounded_slowdown) == (1.5, 2, 1.5)
    assert (found.mean_per_processor_slowdown, found.mean_per_processor_bounded_slowdown) == (1, 1)
    assert (found.mean_queue_length, found.max_queue_length) == (20 / 50, 1)
    assert (found.mean_queued_hosts, found.max_queued_hosts) == (80 / 50, 4)
    assert (found.mean_pieces, found.contiguous, found.fragmentation) == (1, 1, 0)
    assert (found.computing_time, found.idle_time, found.unavailable_time) == (140, 60, 0)
    assert (found.energy, found.mean_power, found.mean_job_energy) == (None, None, None)
    assert (found.users, found.fairness_wait, found.with_deadline, found.deadlines_met) == (0, None, 0, None)


def test_the_bound_is_an_option() -> None:
    """A job of 2 s that waited 18 s: with tau = 10 it was slowed down twice, with tau = 1 ten times."""
    run = schedule(record(submit=0, start=18, finish=20, hosts="0-1"))
    assert measure_run(run).mean_bounded_slowdown == 2
    assert measure_run(run, tau=1).mean_bounded_slowdown == 10
    assert measure_run(run, tau=1).mean_per_processor_bounded_slowdown == 5
    assert measure_run(run, tau=40).mean_bounded_slowdown == 1


def test_a_wide_job_is_slowed_down_less_per_processor() -> None:
    """Divided by its hosts, and at least 1."""
    (found,) = measure_jobs(schedule(record(submit=0, start=90, finish=100, hosts="0-3")))
    assert (found.slowdown, found.per_processor_slowdown, found.per_processor_bounded_slowdown) == (10, 2.5, 2.5)


def test_a_job_that_took_no_time_has_no_slowdown() -> None:
    """Nor has a run with such a job a mean of them; bounded ones it has."""
    run = schedule(record(start=5, finish=5), record("2"))
    found = measure_run(run)
    assert (found.mean_slowdown, found.max_slowdown, found.mean_per_processor_slowdown) == (None, None, None)
    assert found.mean_bounded_slowdown == 1


def test_the_slowdowns_of_some_jobs_are_their_own() -> None:
    """Jobs of a window, or in another order, have the same slowdowns as if all were measured."""
    run = read_schedule(BATSIM / "o02_easy_bf_delays")
    every = {job.record.job.id: job for job in measure_jobs(run)}
    times = sorted(each.job.submit_time for each in run.jobs)
    part = Window(times[len(times) // 3], times[-1], (0, 1)).submitted(run)
    assert 0 < len(part.jobs) < len(run.jobs)
    backwards = replace(run, jobs=tuple(reversed(run.jobs)))
    for some in (part, backwards):
        assert [job.slowdown for job in measure_jobs(some)] == [every[each.job.id].slowdown for each in some.jobs]


def test_holes_between_hosts_are_counted_in_host_seconds() -> None:
    """For 10 s hosts 0, 2 and 3 are free: a third of them stands apart; for 30 s all four are, in one piece."""
    run = schedule(record("1", finish=10, hosts="1"), record("2", start=40, finish=50, hosts="0-3"))
    found = measure_run(run)
    assert found.fragmentation == 10 / (30 + 4 * 30)
    parted = measure_run(schedule(record("1", hosts="0 2-3"), record("2", hosts="1")))
    assert (parted.mean_pieces, parted.contiguous) == (1.5, 0.5)


def test_fairness_is_among_users() -> None:
    """Means of each user's jobs; jobs of nobody are left out. Users may be numbers."""
    jobs = [record(str(number), start=start, finish=start + 10) for number, start in enumerate((10, 30, 20, 99))]
    users = [owned(jobs[0], 1), owned(jobs[1], 1), owned(jobs[2], "2"), jobs[3]]
    found = measure_run(schedule(*users))
    assert (found.users, found.fairness_wait, found.fairness_bounded_slowdown) == (2, 1, 1)
    alone = measure_run(schedule(owned(jobs[0], "a"), owned(record("5"), "b")))
    assert alone.fairness_wait == 0.5


def test_deadlines_are_counted() -> None:
    """Met by jobs that ended in time and succeeded; rejected ones missed theirs."""
    due = {"deadline": 50}
    late = replace(SECOND, finish=50.5)
    failed = replace(FIRST, state="COMPLETED_FAILED")
    jobs = [replace(job, job=replace(job.job, members=due)) for job in (FIRST, late, failed, rejected())]
    found = measure_run(schedule(*jobs, SECOND))
    assert (found.with_deadline, found.deadlines_met) == (4, 1)


def test_states_are_counted() -> None:
    """Each by itself; jobs that Batsim 1.4 does not list were rejected."""
    states = ("COMPLETED_FAILED", "COMPLETED_WALLTIME_REACHED", "COMPLETED_KILLED", "COMPLETED_KILLED")
    jobs = [record(str(number), state=state) for number, state in enumerate(states)]
    found = measure_run(replace(schedule(*jobs, rejected()), unlisted=2))
    assert (found.jobs, found.ran, found.successful, found.failed) == (7, 4, 0, 1)
    assert (found.walltime_reached, found.killed, found.rejected) == (1, 2, 3)


def test_without_a_job_that_ran_metrics_are_none() -> None:
    """Neither zero, which would look like a good metric, nor a division by zero."""
    for run in (schedule(), schedule(rejected()), schedule(hosts=0)):
        found = measure_run(run)
        assert found.makespan == 0
        assert {found.utilisation, found.throughput, found.mean_wait, found.p99_wait, found.max_slowdown} == {None}
        assert {found.mean_queue_length, found.max_queue_length, found.mean_pieces, found.fragmentation} == {None}
        assert {found.mean_power, found.mean_job_energy, found.fairness_wait, found.deadlines_met} == {None}


def test_of_a_log_is_told_what_needs_no_hosts() -> None:
    """Its jobs have a size."""
    job = Job.create("log!1", size=3, profile="")
    found = measure_run(schedule(JobRecord(job, "COMPLETED_SUCCESSFULLY", 0, 5.0, 15.0, HostSet())))
    assert (found.utilisation, found.mean_wait, found.computing_time, found.idle_time) == (0.5, 5, 30, 30)
    assert (found.mean_pieces, found.contiguous, found.fragmentation) == (None, None, None)


@pytest.mark.parametrize("name", ["o02_easy_bf_delays", "o10_edge", "o16_energy_easy", "o19_machine_events"])
def test_what_simulate_shows_is_the_same(name: str) -> None:
    """One definition, two places."""
    run = read_schedule(BATSIM / name)
    found, summary = measure_run(run), summarise_jobs(run.jobs, run.hosts)
    for metric in ("jobs", "hosts", "makespan", "utilisation", "throughput", "mean_wait", "max_wait"):
        assert getattr(found, metric) == getattr(summary, metric)
    assert found.mean_bounded_slowdown == summary.mean_bounded_slowdown
    assert found.mean_turnaround == summary.mean_turnaround


def test_what_simulate_shows_holds_for_logs_and_other_bounds() -> None:
    """Jobs count with their size where their hosts are not known."""
    jobs = [JobRecord(Job.create("log!1", size=3, profile=""), "COMPLETED_SUCCESSFULLY", 0, 5.0, 15.0, HostSet())]
    summary = summarise_jobs(jobs, 6, 30.0)
    assert (summary.utilisation, summary.mean_bounded_slowdown) == (0.5 * 10 / 15, 1.0)


def test_energy_is_told_per_run_and_per_job() -> None:
    """The run's is Batsim's own; mean power is over the time in which it was counted."""
    found = measure_run(read_schedule(BATSIM / "o16_energy_easy"))
    assert found.energy == 14240194.480004
    assert found.mean_power == pytest.approx(14240194.480004 / (9373.622 - 5.073))
    assert found.mean_job_energy is not None


def test_hosts_that_sleep_are_seen_in_the_trace() -> None:
    """All states together are all hosts for the makespan."""
    found = measure_run(read_schedule(BATSIM / "o17_energy_sleeper"))
    times = (found.computing_time, found.idle_time, found.sleeping_time)
    assert times == pytest.approx((99430, 1260, 228808))
    states = [value or 0.0 for name, value in found.by_name.items() if name.endswith("_time")]
    assert sum(states) == pytest.approx(found.hosts * found.makespan)


def test_hosts_that_were_away_are_what_is_left() -> None:
    """From the trace: 4 hosts from 357.816 to 948.316 s, one from 1030.82 to 1507.47 s."""
    found = measure_run(read_schedule(BATSIM / "o19_machine_events"))
    assert found.unavailable_time == pytest.approx(4 * (948.316 - 357.816) + 1507.47 - 1030.82)


def test_storage_is_no_piece_of_a_job() -> None:
    """Its hosts are numbered after the compute hosts."""
    (found,) = measure_jobs(schedule(record(hosts="0-1 5"), hosts=4))
    assert (found.size, found.pieces) == (2, 1)


def test_energy_that_is_known_of_some_jobs_only_has_no_mean() -> None:
    """It would be that of those."""
    assert measure_run(schedule(replace(FIRST, energy=7.0), SECOND)).mean_job_energy is None
    assert measure_run(schedule(replace(FIRST, energy=7.0), replace(SECOND, energy=9.0))).mean_job_energy == 8


JOBS = st.lists(st.tuples(st.integers(0, 99), st.floats(0, 99), st.floats(0, 99), st.integers(1, 15)), max_size=12)


@given(JOBS, st.randoms(use_true_random=False))
def test_the_order_of_the_jobs_does_not_matter(jobs: list[tuple[int, float, float, int]], chance: Random) -> None:
    """Not even in the last bit."""
    records = [
        owned(record(str(number), submit=submit, start=submit + wait, finish=submit + wait + run), number % 3)
        for number, (submit, wait, run, _) in enumerate(jobs)
    ]
    records = [replace(each, hosts=HostSet(bits)) for each, (_, _, _, bits) in zip(records, jobs, strict=True)]
    shuffled = list(records)
    chance.shuffle(shuffled)
    assert measure_run(schedule(*shuffled)) == measure_run(schedule(*records))


def test_each_metric_has_a_title_of_its_own() -> None:
    """It has a place in the table, in the order of the fields."""
    assert tuple(METRIC_INFO) == tuple(field.name for field in fields(RunMetrics))
    assert len({info.title for info in METRIC_INFO.values()}) == len(METRIC_INFO)

"""Schedules over time, against what each instant by itself shows."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.bits import bit_runs
from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.reporting.api import (
    Schedule,
    busy_hosts,
    fragmentation,
    host_states,
    power,
    queue_length,
    queued_hosts,
    running_jobs,
    utilisation,
)
from batsched_py.reporting.metrics.host_times import host_times
from batsched_py.reporting.metrics.steps import integral
from batsched_py.reporting.schedules.occupancy import TakenHosts, free_hosts, longest_run
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import EnergyRows, StateRows
from tests.unit.reporting.records import record, rejected


def schedule(*jobs: JobRecord, hosts: int = 4) -> Schedule:
    """A run of these jobs."""
    return Schedule("run", jobs, hosts, {})


FIRST = record("1", submit=0, start=0, finish=30, hosts="0-1")
SECOND = record("2", submit=10, start=30, finish=50, hosts="0-3")
THIRD = record("3", submit=10, start=10, finish=20, hosts="3")
RUN = schedule(FIRST, SECOND, THIRD, rejected(submit=5))


def test_hosts_in_use_are_those_worked_out_by_hand() -> None:
    """Two, a third for ten seconds, and then all four."""
    assert busy_hosts(RUN) == [(0, 2), (10, 3), (20, 2), (30, 4), (50, 0)]
    assert utilisation(RUN) == [(0, 0.5), (10, 0.75), (20, 0.5), (30, 1), (50, 0)]
    assert running_jobs(RUN) == [(0, 1), (10, 2), (20, 1), (50, 0)]


def test_a_job_waits_from_its_submission_to_its_start() -> None:
    """Rejected jobs are not counted: nothing tells when they were rejected."""
    assert queue_length(RUN) == [(0, 0), (10, 1), (30, 0)]
    assert queued_hosts(RUN) == [(0, 0), (10, 4), (30, 0)]


def test_holes_between_hosts_are_those_worked_out_by_hand() -> None:
    """While 0, 1 and 3 are taken only host 2 is free: one run. With 0-1 alone in use 2-3 are one run, too."""
    assert fragmentation(RUN) == [(0, 0.0)]
    holes = schedule(record(hosts="1", finish=10), hosts=4)
    assert fragmentation(holes) == [(0, 1 / 3), (10, 0)]


def test_where_hosts_are_unknown_there_is_no_fragmentation() -> None:
    """The size of a job of a log counts for its hosts."""
    job = Job.create("log!1", size=3, profile="")
    log = schedule(JobRecord(job, "COMPLETED_SUCCESSFULLY", 0, 5.0, 15.0, HostSet()))
    assert fragmentation(log) == []
    assert busy_hosts(log) == [(0, 0), (5, 3), (15, 0)]
    assert host_states(log) == {"idle": [(0, 4), (5, 1), (15, 4)], "computing": [(0, 0), (5, 3), (15, 0)]}


def test_no_more_hosts_than_there_are_compute_or_are_idle() -> None:
    """A log may tell of jobs on more processors than its header has; at each instant the others are not counted."""
    jobs = [Job.create(f"log!{size}", size=size, profile="") for size in (1, 4)]
    log = schedule(
        JobRecord(jobs[0], "COMPLETED_SUCCESSFULLY", 0, 0.0, 30.0, HostSet()),
        JobRecord(jobs[1], "COMPLETED_SUCCESSFULLY", 0, 10.0, 20.0, HostSet()),
        hosts=2,
    )
    assert busy_hosts(log) == [(0, 1), (10, 5), (20, 1), (30, 0)]
    assert host_states(log) == {
        "idle": [(0, 1), (10, 0), (20, 1), (30, 2)],
        "computing": [(0, 1), (10, 2), (20, 1), (30, 0)],
    }
    assert host_times(log, 0.0, 30.0)["computing"] == 10 + 20 + 10
    assert host_times(log, 0.0, 30.0)["idle"] == 10 + 10


def test_without_hosts_there_is_no_utilisation() -> None:
    """Rather than a division by zero."""
    assert utilisation(schedule(hosts=0)) == []


JOBS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 8), st.integers(1, 255)), max_size=10)


@given(JOBS)
def test_a_host_is_free_at_the_instants_at_which_no_job_has_it(jobs: list[tuple[int, int, int]]) -> None:
    """Even if several jobs share it; hosts above the compute hosts are storage."""
    records = [
        JobRecord(Job.create(f"w0!{number}", size=1, profile="p"), "", 0, start, start + length, HostSet(bits))
        for number, (start, length, bits) in enumerate(jobs)
    ]
    steps = list(free_hosts(records, 6, TakenHosts()))
    assert steps[0][0] == 0
    assert all(left[0] < right[0] for left, right in pairwise(steps))
    for instant in range(22):
        free = next(free for time, free in reversed(steps) if time <= instant)
        taken = [bits for start, length, bits in jobs if start <= instant < start + length]
        assert free == 0b111111 & ~sum(1 << host for host in range(8) if any(bits >> host & 1 for bits in taken))


@given(st.integers(0, 2**90))
def test_the_longest_run_is_the_longest_of_all_runs(bits: int) -> None:
    """Found without looking at each."""
    assert longest_run(bits) == max((high - low + 1 for low, high in bit_runs(bits)), default=0)


def test_states_of_hosts_are_those_that_were_traced() -> None:
    """The last of several rows of one time counts."""
    rows = StateRows()
    for time, *counts in ((0, 0, 0, 0, 4, 0), (5, 0, 0, 1, 3, 0), (5, 0, 0, 1, 1, 2), (8, 1, 0, 0, 1, 2)):
        rows.times.append(time)
        rows.counts.extend(counts)
    states = host_states(Schedule("run", (), 4, {}, machine_states=rows))
    assert states["idle"] == [(0, 4), (5, 1)]
    assert states["computing"] == [(0, 0), (5, 2)]
    assert states["switching_off"] == [(0, 0), (5, 1), (8, 0)]
    assert states["sleeping"] == [(0, 0), (8, 1)]


def test_power_is_the_mean_between_two_rows() -> None:
    """Its integral is the energy."""
    rows = EnergyRows()
    for time, joules in ((0.0, 0.0), (2.0, 200.0), (2.0, 200.0), (6.0, 240.0)):
        rows.times.append(time)
        rows.joules.append(joules)
    run = Schedule("run", (), 4, {}, consumed_energy=rows)
    assert power(run) == [(0, 100), (2, 10), (6, 0)]
    assert integral(power(run), 0, 6) == 240
    assert power(schedule()) == []


@pytest.mark.parametrize("hosts", ["0-3", "0-1 3"])
def test_all_hosts_in_use_leave_no_holes(hosts: str) -> None:
    """Nor does a single free host."""
    assert fragmentation(schedule(record(hosts=hosts))) == [(0, 0.0)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 5), st.integers(1, 15)), max_size=9))
def test_a_host_is_free_when_the_last_of_those_that_share_it_has_ended(jobs: list[tuple[int, int, int]]) -> None:
    """By counting, host by host."""
    ran = [
        record(f"{number}", start=start, finish=start + run, hosts=str(HostSet(bits)))
        for number, (start, run, bits) in enumerate(jobs)
    ]
    free = dict(free_hosts(ran, 4, TakenHosts()))
    for time, bits in free.items():
        taken = [HostSet(bits) for start, run, bits in jobs if start <= time < start + run]
        assert HostSet(bits) == HostSet.range(4) - HostSet.from_ids(host for hosts in taken for host in hosts)

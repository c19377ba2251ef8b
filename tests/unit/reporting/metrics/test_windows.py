"""The metrics of a part of a run, on schedules small enough to work out by hand."""

from __future__ import annotations

import math
from array import array

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.reporting.api import RunMetrics, Schedule, measure_run
from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import EnergyRows
from tests.unit.reporting import lease_runs
from tests.unit.reporting.records import record, rejected

#: Two hosts for 40 s; four for 20 s after a wait of 30 s; one for 100 s after a wait of 20 s.
JOBS = (
    record("1", submit=0, start=0, finish=40, hosts="0-1"),
    record("2", submit=10, start=40, finish=60, hosts="0-3"),
    record("3", submit=40, start=60, finish=160, hosts="1"),
    rejected("4", submit=45),
)
RUN = Schedule("run", JOBS, 4, {})


def test_jobs_count_where_they_were_submitted_and_hosts_while_it_lasts() -> None:
    """From 20 to 70: two jobs are submitted, the machine is busy with others as well."""
    found = measure_run(RUN, window=TimeWindow(20, 70))
    assert (found.jobs, found.ran, found.rejected, found.outside_window) == (2, 1, 1, 2)
    assert (found.mean_wait, found.max_turnaround) == (20, 120)
    assert found.utilisation == (20 * 2 + 20 * 4 + 10 * 1) / (4 * 50)
    assert found.throughput == 2 / 50
    assert found.makespan == 140
    assert (found.mean_queue_length, found.max_queue_length) == ((20 + 20) / 50, 1)
    assert found.mean_queued_hosts == (20 * 4 + 20 * 1) / 50
    assert (found.computing_time, found.idle_time) == (130, 70)
    assert found.fragmentation == 10 * (3 - 2) / 70
    assert (found.window_begin, found.window_end) == (20, 70)


def test_an_empty_window_has_no_jobs_and_idle_hosts() -> None:
    """Means have no meaning there."""
    found = measure_run(RUN, window=TimeWindow(200, 210))
    assert (found.jobs, found.mean_wait, found.utilisation, found.throughput) == (0, None, 0, 0)
    assert (found.makespan, found.idle_time, found.max_queue_length) == (0, 40, 0)


def test_energy_is_that_of_the_time() -> None:
    """Between two rows of the trace power is constant; without a trace nobody knows."""
    rows = EnergyRows(array("d", [0.0, 100.0, 160.0]), array("d", [0.0, 1000.0, 1300.0]), ["s", "e", "e"])
    found = measure_run(replace(RUN, consumed_energy=rows), window=TimeWindow(50, 130))
    assert found.energy == 500 + 150
    assert found.mean_power == 650 / 80
    counted = replace(RUN, jobs=tuple(replace(job, energy=5.0) for job in JOBS), batsim_row={"consumed_joules": "9"})
    assert measure_run(counted).energy == 9
    assert measure_run(counted, window=TimeWindow(0, 130)).energy is None


def test_leases_are_cut_like_hosts() -> None:
    """Their time on hosts in the window counts, for any lease."""
    run = lease_runs.schedule()
    whole = measure_run(run)
    assert run.leases is not None
    parts = [measure_run(run, window=TimeWindow(*time)) for time in ((0, 1000), (1000, run.leases.end))]
    shares = [
        part.lease_utilisation * (part.window_end - part.window_begin)
        for part in parts
        if part.lease_utilisation is not None and part.window_end is not None and part.window_begin is not None
    ]
    assert whole.lease_utilisation is not None
    assert math.isclose(sum(shares), whole.lease_utilisation * run.leases.end)
    assert sum(part.leases or 0 for part in parts) == whole.leases


def jobs(draw: st.DrawFn) -> list[JobRecord]:
    """Some jobs one after the other on hosts of their own."""
    found = []
    for number in range(draw(st.integers(1, 6))):
        submit, wait, run = (draw(st.integers(0, 30)) for _ in range(3))
        start, hosts = submit + wait, str(number)
        found.append(record(hosts, submit=submit, start=start, finish=start + run + 1, hosts=hosts))
    return found


@given(st.composite(jobs)(), st.integers(1, 40))
def test_windows_add_up_to_the_run(records: list[JobRecord], cut: int) -> None:
    """Jobs and hosts' time on both sides of a cut are those of the whole."""
    run = Schedule("run", tuple(records), 6, {})
    whole, end = measure_run(run), run.end
    if cut >= end:
        return
    parts = [measure_run(run, window=window) for window in (TimeWindow(0, cut), TimeWindow(cut, end))]
    assert sum(part.jobs for part in parts) == whole.jobs
    for name in ("computing_time", "idle_time"):
        assert math.isclose(sum(getattr(part, name) for part in parts), getattr(whole, name), abs_tol=1e-9)
    everything = measure_run(run, window=TimeWindow(0, end))
    assert without_window(everything) == without_window(whole)


def without_window(run: RunMetrics) -> dict[str, object]:
    """All metrics but those that tell the window."""
    return {name: value for name, value in run.by_name.items() if "window" not in name}

"""The data of a page: columns with the content of the schedules, and nothing twice."""

from __future__ import annotations

from array import array
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.html.content import MOST_POINTS, energy_growth, pack, state_growth
from batsched_py.reporting.pictures.html.short_numbers import short
from batsched_py.reporting.pictures.window import number_jobs
from batsched_py.results.records import JobRecord
from batsched_py.results.tracing import EnergyRows, StateRows
from tests.unit.reporting.records import record, rejected


def schedule(*records: JobRecord, name: str = "run", states: StateRows | None = None) -> Schedule:
    return Schedule(name=name, jobs=records, hosts=4, batsim_row={}, machine_states=states)


def test_jobs_are_columns_by_start() -> None:
    """Times are short, hosts are spelled once."""
    first = record("a", submit=1, start=5.25, finish=10.5, hosts="0-1")
    second = record("b", start=2, finish=4, hosts="3", state="COMPLETED_KILLED")
    third = record("c", start=20, finish=21, hosts="0-1")
    content = pack([schedule(first, second, third)])
    [run] = content.runs
    assert [content.names[job] for job in run.job] == ["b", "a", "c"]
    assert (run.submit, run.start, run.run) == ([0, 1, 0], [2, 5.25, 20], [2, 5.25, 1])
    assert (run.size, run.sets, run.set) == ([1, 2, 2], ["3", "0-1"], [0, 1, 1])
    assert [content.states[state] for state in run.state] == ["killed", "successful", "successful"]


def test_jobs_are_numbered_over_all_runs() -> None:
    """By submission, those of the first run first; a job has one number wherever it is."""
    one = schedule(record("b", submit=7), record("a", submit=3))
    other = schedule(record("c", submit=0), record("a", submit=3))
    assert number_jobs([one, other]) == {"w0!a": 0, "w0!b": 1, "w0!c": 2}
    content = pack([one, other])
    assert content.names == ["a", "b", "c"]
    assert content.prefix == "w0!"
    assert sorted(content.runs[1].job) == [0, 2]


def test_names_are_whole_if_there_are_several_workloads() -> None:
    """Short ones would not be told apart."""
    content = pack([schedule(record("1"), record("1", workload="w1"))])
    assert (content.names, content.prefix) == (["w0!1", "w1!1"], "")


def test_rejected_jobs_have_no_times() -> None:
    """They are named only."""
    [run] = pack([schedule(rejected("r"), record("1"))]).runs
    assert (run.job, run.rejected, run.start) == ([0], [1], [0])


def test_without_hosts_there_are_no_sets() -> None:
    """A log tells sizes only."""
    known = record("1", hosts="0-1")
    unknown = JobRecord(known.job, known.state, 0, 0.0, 10.0, type(known.hosts)())
    [run] = pack([schedule(unknown)]).runs
    assert (run.size, run.sets, run.set) == ([2], [], [])


def test_numbers_are_as_short_as_files_have_them() -> None:
    """Six digits after the point, none if they are zeros."""
    assert [repr(short(number)) for number in (3.0, 0.1 + 0.2, 12345.6789012, 1e-7)] == [
        "3",
        "0.3",
        "12345.678901",
        "0",
    ]


def test_host_states_are_left_out_where_hosts_only_compute_and_idle() -> None:
    """The utilisation says it all."""
    usual, unusual = StateRows(), StateRows()
    for time, counts in ((0.0, (0, 0, 0, 3, 1)), (5.0, (0, 0, 0, 4, 0))):
        usual.times.append(time)
        usual.counts.extend(counts)
    for time, counts in ((0.0, (0, 0, 0, 3, 1)), (5.0, (1, 0, 0, 3, 0)), (9.0, (1, 0, 0, 3, 0))):
        unusual.times.append(time)
        unusual.counts.extend(counts)
    [without], [with_states] = pack([schedule(states=usual)]).runs, pack([schedule(states=unusual)]).runs
    assert without.machines is None
    assert with_states.machines is not None
    assert with_states.machines.totals == [[0.0, 0.0, 4.0], [0.0] * 3, [0.0] * 3, [0.0, 15.0, 27.0], [0.0, 5.0, 5.0]]


def rows(points: list[tuple[float, float]]) -> EnergyRows:
    found = EnergyRows()
    for time, joules in points:
        found.times.append(time)
        found.joules.append(joules)
    return found


def test_rows_of_one_instant_are_one_point() -> None:
    """Times ascend strictly, so that power between them can be told."""
    found = energy_growth(rows([(0, 0), (0, 0), (5, 50), (5, 50), (9, 70)]))
    assert found is not None
    assert (found.time, found.totals) == ([0, 5, 9], [[0, 50, 70]])


def test_without_time_there_is_nothing() -> None:
    """Neither without rows nor with those of a single instant."""
    assert energy_growth(rows([])) is None
    assert energy_growth(rows([(0, 0), (0, 0)])) is None


def test_power_before_the_first_row_is_that_until_it() -> None:
    """The energy up to then was consumed since 0; hosts without a row are idle."""
    found = energy_growth(rows([(10, 500), (20, 900)]))
    assert found is not None
    assert (found.time, found.totals) == ([0, 10, 20], [[0, 500, 900]])
    states = StateRows()
    states.times.extend([10, 20])
    states.counts.extend([1, 0, 0, 3, 0, 0, 0, 0, 4, 0])
    hosts = state_growth(states, 4)
    assert hosts is not None
    assert (hosts.time, hosts.totals[0], hosts.totals[3]) == ([0, 10, 20], [0, 0, 10], [0, 40, 70])


@given(st.lists(st.floats(0, 100), min_size=2, max_size=60), st.integers(1, 20))
def test_what_remains_of_many_rows_is_true_and_ends_where_they_end(steps: list[float], most: int) -> None:
    """Each point is one of the rows; times ascend strictly; no more points than asked for, and the first."""
    points, time = [(0.0, 0.0)], 0.0
    for step in steps:
        time += step
        points.append((time, 2 * time))
    found = energy_growth(rows(points), most)
    if found is None:
        assert points[0][0] == points[-1][0]
        return
    assert set(zip(found.time, found.totals[0], strict=True)) <= set(points)
    assert all(before < after for before, after in pairwise(found.time))
    assert (found.time[0], found.time[-1]) == (points[0][0], points[-1][0])
    assert len(found.time) <= most + 2


def test_a_long_trace_becomes_short() -> None:
    """About as many points as a picture is wide."""
    found = energy_growth(rows([(float(number), 3.0 * number) for number in range(50_000)]))
    assert found is not None
    assert len(found.time) <= MOST_POINTS + 2


def test_states_are_told_where_a_host_sleeps() -> None:
    """In the order of a trace; hosts that only compute and idle need no picture."""
    asleep = StateRows(array("d", [0, 10]), array("L", [1, 0, 0, 1, 2, 4, 0, 0, 0, 0]))
    awake = StateRows(array("d", [0, 10]), array("L", [0, 0, 0, 2, 2, 0, 0, 0, 4, 0]))
    found = state_growth(asleep, 4)
    assert found is not None
    assert found.totals == [[0, 10], [0, 0], [0, 0], [0, 10], [0, 20]]
    assert state_growth(awake, 4) is None

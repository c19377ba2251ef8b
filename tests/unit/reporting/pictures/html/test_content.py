"""What a page carries: columns that say the same as the schedules, and nothing twice."""

from __future__ import annotations

from batsched_py.reporting.pictures.html.content import pack, short
from batsched_py.reporting.pictures.window import number_jobs
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.outputs.tracing import StateRows
from batsched_py.simulator.records import JobRecord
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

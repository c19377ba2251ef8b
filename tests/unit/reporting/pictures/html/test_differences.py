"""Jobs of two runs, matched by id."""

from __future__ import annotations

from batsched_py.reporting.api import Schedule
from batsched_py.reporting.pictures.html.differences import JobChange, MovedJob, compare_runs
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record, rejected


def schedule(*records: JobRecord, name: str = "run") -> Schedule:
    return Schedule(name=name, jobs=records, hosts=4, batsim_row={})


def test_each_job_has_one_fate() -> None:
    """Earlier, later, elsewhere, the same, only here, only there; a rejected job does not run."""
    first = schedule(
        record("same"), record("hosts", hosts="0"), record("early", start=9, finish=19), record("late"),
        record("gone"), rejected("new"),
    )  # fmt: skip
    other = schedule(
        record("same", start=0.0004), record("hosts", hosts="1"), record("early", start=4, finish=14),
        record("late", start=70, finish=80), rejected("gone"), record("new"), name="other",
    )  # fmt: skip
    found = compare_runs(first, other)
    assert found.counts == dict.fromkeys(JobChange, 1)
    assert (found.name, found.earlier, found.later, found.shared) == ("other", 5, 70, 6)
    assert found.gained == (MovedJob("w0!early", -5, 4),)
    assert found.lost == (MovedJob("w0!late", 70, 70),)


def test_one_id_may_mean_another_job() -> None:
    """If its submission or its size differs; if most do, the runs are of different workloads."""
    first = schedule(*(record(name, start=9) for name in "abc"))
    other = schedule(record("a", start=9), record("b", start=9, hosts="0-1"), record("c", start=9, submit=3))
    found = compare_runs(first, other)
    assert (found.strangers, found.shared, found.comparable) == (2, 1, False)
    assert found.counts == {JobChange.ONLY_HERE: 2, JobChange.ONLY_THERE: 2, JobChange.SAME: 1}
    assert compare_runs(first, schedule(*(record(name, start=9) for name in "ab"), record("c", submit=3))).comparable


def test_the_most_moved_come_first() -> None:
    """There are at most five of each."""
    names = [str(number) for number in range(20)]
    first = schedule(*(record(name, start=100, finish=110) for name in names))
    other = schedule(*(record(name, start=100 + int(name) - 8, finish=200) for name in names))
    found = compare_runs(first, other)
    assert [move.seconds for move in found.gained] == [-8, -7, -6, -5, -4]
    assert [move.seconds for move in found.lost] == [11, 10, 9, 8, 7]


def test_without_hosts_nothing_is_elsewhere() -> None:
    """A log does not tell them."""
    known = schedule(record("1", hosts="0"))
    unknown = schedule(JobRecord(known.jobs[0].job, known.jobs[0].state, 0, 0.0, 10.0, type(known.jobs[0].hosts)()))
    assert compare_runs(known, unknown).counts[JobChange.SAME] == 1

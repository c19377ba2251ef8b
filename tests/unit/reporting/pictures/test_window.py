"""Windows of pictures: the time and the hosts that are shown."""

from __future__ import annotations

import pytest

from batsched_py.errors import OptionError
from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.window import Window, blocks, drawn, number_jobs, window_on
from tests.unit.reporting.records import record
from tests.unit.reporting.sample_schedules import FOUR, schedule


def test_by_default_all_of_all_schedules_is_shown() -> None:
    """From 0 to the last end, on the hosts of the largest machine."""
    later = schedule(record(start=5, finish=300), hosts=6)
    assert window_on([schedule(), later]) == Window(0.0, 300.0, (0, 1, 2, 3, 4, 5))


def test_a_window_is_what_was_asked_for() -> None:
    """Hosts that there are not are left out."""
    assert window_on([schedule()], 50.0, 90.0, HostSet.parse("1,3-9")) == Window(50.0, 90.0, (1, 3))


@pytest.mark.parametrize(
    ("begin", "end", "hosts", "said"),
    [
        (200.0, None, None, "there is no time from 200 to 200: the last job ends at 200"),
        (34560000.0, None, None, "there is no time from 34560000 to 200: the last job ends at 200"),
        (90.0, 50.0, None, "there is no time from 90 to 50: the last job ends at 200"),
        (None, None, "7-8", "there is no host 7-8 in run: they are numbered from 0 to 3"),
    ],
)
def test_a_window_on_nothing_is_an_error(begin: float | None, end: float | None, hosts: str | None, said: str) -> None:
    """One line with the values."""
    with pytest.raises(OptionError) as caught:
        window_on([schedule(hosts=16), schedule()], begin, end, None if hosts is None else HostSet.parse(hosts))
    assert str(caught.value) == said


def test_through_a_window_hosts_have_new_places() -> None:
    """1 and 3 are 0 and 1; who has neither is not seen."""
    part = Window(0.0, 200.0, (1, 3)).through(schedule(*FOUR, record("e", hosts="2")))
    assert part.hosts == 2
    assert [(job.job.name, str(job.hosts)) for job in part.jobs] == [("a", "0"), ("b", "1"), ("c", "1")]


def test_what_ran_within_the_time_is_shown() -> None:
    """A job that ends when the time begins is not."""
    window = Window(60.0, 100.0, (0,))
    assert [window.shows(job) for job in FOUR] == [True, False, False, False]


def test_what_was_submitted_within_the_time_is_found() -> None:
    """On the hosts of the window, or on unknown ones."""
    unknown = record("u", submit=15, hosts="")
    found = Window(10.0, 30.0, (0, 1)).submitted(schedule(*FOUR, unknown))
    assert [job.job.name for job in found.jobs] == ["c", "u"]


def test_numbers_go_by_submission_and_stay_in_a_part() -> None:
    """Rejected jobs have one, too."""
    run = schedule(*reversed(FOUR))
    assert number_jobs([run]) == {"w0!a": 0, "w0!b": 1, "w1!c": 2, "w0!d": 3}
    assert [(number, job.job.name) for number, job in drawn(run, window_on([run]), number_jobs([run]))] == [
        (0, "a"),
        (1, "b"),
        (2, "c"),
    ]
    part = drawn(run, Window(0.0, 200.0, (3,)), number_jobs([run]))
    assert [(number, str(job.hosts)) for number, job in part] == [(1, "0"), (2, "0")]


def test_jobs_submitted_at_once_have_the_same_numbers_in_all_runs() -> None:
    """In a file they stand in the order in which they ended."""
    assert number_jobs([schedule(record("b"), record("a"))]) == number_jobs([schedule(record("a"), record("b"))])


def test_jobs_without_a_compute_host_are_not_drawn() -> None:
    """They had storage only, or nothing."""
    run = schedule(record("a"), record("storage", hosts="4"), record("nothing", hosts=""))
    assert [job.job.name for _, job in drawn(run, window_on([run]), number_jobs([run]))] == ["a"]


def test_each_machine_has_its_own_hosts() -> None:
    """The smaller one is not drawn, or measured, on as many as the larger one has."""
    small, large = schedule(), schedule(hosts=16)
    window = window_on([small, large])
    assert window.through(small) == small
    assert window.through(large) == large
    assert Window(0.0, 200.0, (3, 9)).through(small).hosts == 1
    assert Window(0.0, 200.0, (3, 9)).through(large).hosts == 2


def test_in_a_window_on_all_hosts_all_jobs_count() -> None:
    """Storage hosts are not among them, nor the hosts of a log."""
    run = schedule(record("a"), record("storage", hosts="4"), record("unknown", hosts=""))
    assert window_on([run, schedule(hosts=9)]).submitted(run) == run


def test_a_window_on_jobs_that_took_no_time_is_a_second() -> None:
    """No time cannot be drawn; what is asked for must be some."""
    run = schedule(record(finish=0))
    assert window_on([run]) == Window(0.0, 1.0, (0, 1, 2, 3))
    with pytest.raises(OptionError, match="there is no time from 0 to 0"):
        window_on([run], begin=0.0)


def test_the_blocks_of_a_job_are_its_runs_of_hosts() -> None:
    """Without storage hosts, which come after the compute hosts."""
    assert list(blocks(record(hosts="0 2-3 5-9"), 7)) == [(0, 1), (2, 2), (5, 2)]

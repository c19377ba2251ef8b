"""Curves that compare runs."""

from __future__ import annotations

from typing import Any

import pytest
from matplotlib.axes import Axes
from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.reporting.pictures.paper.curves import MOST_POINTS, PLOTS, curves_figure, distribution
from batsched_py.reporting.pictures.paper.panels import MOST_STEPS, line_of
from batsched_py.reporting.pictures.window import Window, window_on
from batsched_py.results.records import JobRecord
from tests.unit.reporting.records import record
from tests.unit.reporting.sample_schedules import FOUR, schedule
from tests.unit.reporting.sample_schedules import line as points

#: All jobs at once, in turn: waits of 0, 90 and 1000 s after runs of 100 s.
SLOW = schedule(
    record("a", submit=0, start=0, finish=100, hosts="0-1"),
    record("b", submit=10, start=100, finish=200, hosts="0"),
    record("c", submit=20, start=1020, finish=1120, hosts="0"),
    name="slow",
)


def without_hosts(known: JobRecord) -> JobRecord:
    """The job as a log tells it: its size alone."""
    return replace(known, hosts=HostSet())


def drawn(kind: str, *runs: Any, window: Window | None = None) -> Axes:
    return curves_figure(kind, runs, window or window_on(runs)).axes[0]


def test_waits_are_shown_as_their_distribution_function() -> None:
    """The part of the jobs that waited no longer; each run has its line."""
    axes = drawn("waits", schedule(), SLOW)
    assert points(axes) == [(0, 0), (0, 1 / 3), (0, 2 / 3), (80, 1)]
    assert points(axes, 1) == [(0, 0), (0, 1 / 3), (90, 2 / 3), (1000, 1)]
    assert [line.get_label() for line in axes.lines] == ["run", "slow"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "1 min", "10 min", "1 h"]


def test_slowdowns_are_bounded() -> None:
    """Waits of 0, 90 and 1000 s before runs of 100 s."""
    axes = drawn("slowdowns", SLOW)
    assert points(axes) == [(1, 0), (1, pytest.approx(1 / 3)), (1.9, pytest.approx(2 / 3)), (11, 1)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "10", "100"]


def test_utilisation_and_queue_are_shown_over_time() -> None:
    """In per cent, and in jobs."""
    assert points(drawn("utilisation", schedule())) == [(0, 50), (10, 75), (60, 50), (100, 75), (200, 75)]
    assert points(drawn("queue", SLOW)) == [(0, 0), (10, 1), (20, 2), (100, 1), (1020, 0), (1120, 0)]


def test_a_window_is_about_submissions_hosts_and_time() -> None:
    """Waits are those of the jobs that were submitted within it; the line of the queue begins where it begins."""
    assert points(drawn("waits", schedule(), window=Window(15.0, 200.0, (0, 1, 2, 3)))) == [(80, 0), (80, 1)]
    assert points(drawn("queue", schedule(), window=Window(50.0, 150.0, (0, 1, 2, 3)))) == [(50, 1), (100, 0), (150, 0)]
    assert points(drawn("utilisation", schedule(), window=Window(0.0, 100.0, (3,)))) == [
        *((0, 0), (10, 100), (60, 0), (100, 0)),
    ]


@pytest.mark.parametrize("kind", PLOTS)
def test_jobs_without_hosts_can_be_compared_too(kind: str) -> None:
    """A log tells how many hosts a job had, not which."""
    log = schedule(*map(without_hosts, FOUR))
    assert points(drawn(kind, log)) == points(drawn(kind, schedule()))
    larger = schedule(record(finish=1), hosts=16)
    window = window_on([log])
    beside = drawn(kind, log, larger, window=Window(window.begin, window.end, tuple(range(16))))
    assert points(beside) == points(drawn(kind, schedule()))


def test_each_run_is_measured_by_its_own_machine() -> None:
    """Two of 4 hosts are a half, whatever size the other run's machine has."""
    both = drawn("utilisation", schedule(), schedule(hosts=16))
    assert points(both) == points(drawn("utilisation", schedule()))
    assert points(both, 1)[0] == (0, 12.5)


@pytest.mark.parametrize("kind", PLOTS)
def test_each_run_is_named_if_there_are_several(kind: str) -> None:
    """One alone needs no legend."""
    both, one = (
        curves_figure(kind, [schedule(), SLOW], window_on([SLOW])),
        curves_figure(kind, [SLOW], window_on([SLOW])),
    )
    assert [text.get_text() for text in both.legends[0].get_texts()] == ["run", "slow"]
    assert one.legends == []


def test_a_distribution_of_many_values_has_few_points() -> None:
    """The least and the largest are among them."""
    values, parts = distribution(list(range(28_481, 0, -1)))
    assert len(values) <= MOST_POINTS + 100
    assert (values[0], values[-1], parts[0], parts[-1]) == (1, 28_481, 1 / 28_481, 1.0)
    assert distribution([]) == ([], [])


def test_a_line_with_too_many_steps_is_a_mean() -> None:
    """Here 0 and 1 in turn: a half everywhere."""
    steps = [(float(time), float(time % 2)) for time in range(2 * MOST_STEPS)]
    times, values = line_of(steps, 0.0, 2.0 * MOST_STEPS, 10)
    assert (times[0], times[-1], len(times)) == (0, 2 * MOST_STEPS, 11)
    assert set(values) == {0.5}

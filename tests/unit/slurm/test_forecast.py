"""Windows of ends of running jobs, by which starts are planned."""

from __future__ import annotations

import pytest

from batsched_py.slurm.controller import SlurmController
from batsched_py.slurm.forecast import EndWindow
from tests.unit.slurm.clusters import PARTITION, controller, submit


@pytest.mark.parametrize(("first", "until"), [(1340, 1380), (1373, 1410), (2601, 2640), (1200, 1260)])
def test_the_first_window_ends_with_the_interval_of_30_s_after_that_of_the_first_end(first: int, until: int) -> None:
    """Intervals are those of the absolute clock."""
    assert EndWindow.of_first(first, None).until == until


def test_further_windows_are_twice_as_long_each_or_longer_by_a_constant() -> None:
    """30, 60, 120... or 30, 40, 50..."""
    doubled, linear = EndWindow(0, growth=None), EndWindow(0, growth=10)
    seen = []
    for window in (doubled, linear):
        for _ in range(3):
            window.move_to(window.until + 1)
            seen.append(window.until)
    assert seen == [30, 90, 210, 30, 70, 120]


def _planned(slurm: SlurmController) -> dict[str, float]:
    assert slurm.backfill.last is not None
    return {one.job: one.start for one in slurm.backfill.last.plan}


@pytest.mark.parametrize("plugin", ["cons_tres", "linear"])
def test_a_start_is_planned_at_the_last_end_of_a_window(plugin: str) -> None:
    """The job fits after the first end; with select/cons_tres the second is in the same window."""
    slurm = controller(f"SelectType=select/{plugin}\nSchedulerParameters=bf_interval=12", PARTITION)
    submit(slurm, "-J a -N 2 -n 8 -t 1", 0.0)
    slurm.advance(9)
    submit(slurm, "-J b -N 2 -n 8 -t 1", 9.5)
    slurm.advance(11)
    submit(slurm, "-J c -N 1 -n 4 -t 1", 11.5)
    slurm.advance(12)
    first, second = (job.limit_end for job in slurm.cluster.running)
    assert second - first < 30
    assert _planned(slurm)["c"] == (second if plugin == "cons_tres" else first)

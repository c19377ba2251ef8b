"""The controller: passes, their instants, and the jobs that they start."""

from __future__ import annotations

import pytest

from batsched_py.errors import SlurmRefusalError
from tests.unit.slurm.clusters import controller, starts, submit


def test_a_submission_makes_a_pass_due_at_the_next_tick_and_the_next_one_three_seconds_later() -> None:
    """sbatch starts nothing by itself."""
    slurm = controller()
    submit(slurm, "-J a -n 4 -t 1", 10.2)
    assert starts(slurm, 10.9) == []
    assert starts(slurm, 11) == [("a", 11, "n1")]
    submit(slurm, "-J b -n 4 -t 1", 11.3)
    assert starts(slurm, 20) == [("b", 14, "n2")]


def test_backfill_lets_a_short_job_pass_one_that_waits_for_all_nodes() -> None:
    """The job of four minutes would delay the wide one; that of one minute ends before the limit of the first."""
    slurm = controller("SchedulerParameters=bf_interval=5,bf_resolution=1")
    for options in ("-J first -N 3 -n 12 -t 2", "-J wide -N 4 -n 16 -t 1", "-J long -n 4 -t 4", "-J short -n 4 -t 1"):
        submit(slurm, options, 10.2)
    assert [(job, nodes) for job, _, nodes in starts(slurm, 60)] == [("first", "n[1-3]"), ("short", "n4")]


def test_a_job_over_its_limit_is_ended_by_the_next_sweep() -> None:
    """Limits are checked every 30 s from the controller's start."""
    slurm = controller()
    submit(slurm, "-J a -n 1 -t 1", 10.2)
    slurm.advance(80)
    assert slurm.next_wake() <= 90
    (stop,) = slurm.advance(90)
    assert (stop.job, stop.at) == ("a", 90)


def test_what_can_never_run_is_refused_at_submission() -> None:
    """The message is that of Slurm."""
    with pytest.raises(SlurmRefusalError, match="Invalid partition name specified"):
        submit(controller(), "-J a -p none")

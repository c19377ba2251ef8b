"""Accuracy of predicted run times: by hand, and the reader of their table."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from batsched_py.errors import InputError
from batsched_py.reporting.api import Schedule, measure_run
from batsched_py.reporting.schedules.run_time_tables import COLUMNS, RunTimeRow, read_run_times
from tests.unit.reporting.records import record

#: 30 s on two hosts, and 20 s on four.
JOBS = (
    record("1", submit=0, start=0, finish=30, hosts="0-1"),
    record("2", submit=10, start=30, finish=50, hosts="0-3"),
)


def test_accuracy_is_as_computed_by_hand() -> None:
    """The first was predicted 10 s too long, the second 15 s too short."""
    rows = {"w0!1": RunTimeRow(40.0, 30.0, 0), "w0!2": RunTimeRow(5.0, 20.0, 1)}
    found = measure_run(Schedule("run", JOBS, 4, {}, run_times=rows))
    assert (found.run_time_error, found.run_time_accuracy, found.under_predicted) == (12.5, (3 / 4 + 1 / 4) / 2, 0.5)
    assert found.mean_e_loss == pytest.approx((math.log(2 * 30) * 100 + math.log(4 * 20) * 15) / 2)


def test_predictions_of_jobs_that_took_no_time_are_measured() -> None:
    """The logarithm is 0 then, and a prediction of 0 is exact."""
    jobs = (record("1", submit=0, start=5, finish=5, hosts="0"),)
    found = measure_run(Schedule("run", jobs, 4, {}, run_times={"w0!1": RunTimeRow(0.0, 0.0, 0)}))
    assert (found.run_time_error, found.run_time_accuracy, found.under_predicted, found.mean_e_loss) == (0, 1, 0, 0)


def test_runs_without_predictions_have_no_accuracy() -> None:
    """None, not 0."""
    found = measure_run(Schedule("run", JOBS, 4, {}))
    assert (found.run_time_error, found.run_time_accuracy, found.under_predicted, found.mean_e_loss) == (None,) * 4


def test_a_table_of_a_users_own_is_left_alone(tmp_path: Path) -> None:
    """One with our columns must have numbers from 0 in them."""
    path = tmp_path / "x_run_times.csv"
    path.write_text("job,how long\nw0!1,long\n")
    assert read_run_times(path) is None
    path.write_text(",".join(COLUMNS) + "\nw0!1,10.5,12,1\n")
    assert read_run_times(path) == {"w0!1": RunTimeRow(10.5, 12.0, 1)}
    path.write_text(",".join(COLUMNS) + "\nw0!1,10,-12,1\n")
    with pytest.raises(InputError, match="line 2, column run_time: must be at least 0"):
        read_run_times(path)

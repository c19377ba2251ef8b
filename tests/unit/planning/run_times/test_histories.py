"""Predictions from the previous jobs of users, and corrections: by hand."""

from __future__ import annotations

import math

from batsched_py.model.job import Job
from batsched_py.planning.run_times.corrections import bounded, corrected
from batsched_py.planning.run_times.histories import LastTwo, MeanOfAll, PercentileOfAll
from batsched_py.planning.run_times.predictor import Predictor, User

JOB = Job.create("w0!1", size=1, profile="p", walltime=100.0)


def learned(predictor: Predictor, user: User, *runs: float) -> float | None:
    """Return the prediction for a job of a user after these runs."""
    for run in runs:
        predictor.learn(JOB, user, run, 0.0)
    return predictor.predict(JOB, user, 0.0)


def test_the_last_two_predict_nothing_before_a_user_has_ended_two_jobs() -> None:
    """One job says too little, and other users nothing."""
    past = LastTwo()
    assert learned(past, "ada") is None
    assert learned(past, "ada", 10.0) is None
    assert learned(past, "ada", 30.0) == 20.0
    assert learned(past, "bob") is None


def test_only_the_last_two_jobs_count() -> None:
    """In the order in which they ended."""
    assert learned(LastTwo(), 7, 1000.0, 10.0, 20.0) == 15.0


def test_the_mean_is_of_all_jobs() -> None:
    """The mean counts from the first job on."""
    past = MeanOfAll()
    assert learned(past, "ada") is None
    assert learned(past, "ada", 10.0) == 10.0
    assert learned(past, "ada", 20.0, 60.0) == 30.0


def test_a_percentile_is_the_run_time_of_nearest_rank() -> None:
    """The smallest that the percentage of jobs does not exceed."""
    runs = (50.0, 10.0, 40.0, 30.0, 20.0)
    found = [learned(PercentileOfAll(percentile), "ada", *runs) for percentile in (0.001, 20, 20.1, 50, 80, 81, 100)]
    assert found == [10.0, 10.0, 20.0, 30.0, 40.0, 50.0, 50.0]
    assert learned(PercentileOfAll(50), "ada") is None


def test_jobs_of_nobody_have_no_past() -> None:
    """A job without a user learns from no other."""
    for past in (LastTwo(), MeanOfAll(), PercentileOfAll(90)):
        assert learned(past, None, 1.0, 1.0) is None


def test_a_prediction_is_between_a_second_and_the_walltime() -> None:
    """Jobs that ended at once do not make the next one take no time; without a prediction the walltime counts."""
    assert [bounded(seconds, 100.0) for seconds in (0.25, 20.0, 900.0, None)] == [1.0, 20.0, 100.0, 100.0]
    assert bounded(0.25, 0.5) == 0.5
    assert bounded(900.0, math.inf) == 900.0


def test_corrections_grow_up_to_the_walltime() -> None:
    """A minute, five, a quarter of an hour... more than the first prediction; then the walltime."""
    assert [corrected(20.0, count, math.inf) for count in (1, 2, 3, 11)] == [80.0, 320.0, 920.0, 360_020.0]
    assert corrected(20.0, 12, 400_000.0) == 400_000.0
    assert corrected(20.0, 2, 100.0) == 100.0


def test_other_corrections_double_the_prediction_or_count_on_the_request() -> None:
    """Never more than the walltime."""
    assert [corrected(20.0, count, 100.0, "doubling") for count in (1, 2, 3, 5000)] == [40.0, 80.0, 100.0, 100.0]
    assert corrected(20.0, 1, 100.0, "request") == 100.0

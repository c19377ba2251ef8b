"""The regression of run times by scikit-learn."""

from __future__ import annotations

import pytest

from batsched_py.planning.run_times.scikit_learner import ScikitLearner
from tests.unit.planning.run_times.test_learner import job

pytest.importorskip("sklearn")


def predicted(seconds: list[float]) -> list[float | None]:
    """Return the predictions of jobs that take these times, one after the other."""
    learner, found = ScikitLearner(), []
    for number, run_time in enumerate(seconds):
        now = 1000.0 * number
        found.append(learner.predict(job(number), "ada", now))
        learner.begin(job(number), "ada", now)
        learner.learn(job(number), "ada", run_time, now + run_time)
    return found


def test_a_user_whose_jobs_all_take_as_long_is_predicted_well() -> None:
    """There is no prediction before a job has ended; two predictors that learned the same predict the same."""
    found = predicted([60.0] * 50)
    assert found[0] is None
    assert found[-1] == pytest.approx(60.0, rel=0.1)
    assert predicted([60.0] * 50) == found


def test_outliers_do_not_make_it_diverge() -> None:
    """Inputs are bounded: after a job of a century predictions are those of short jobs again."""
    found = predicted([60.0, *[30.0, 90.0] * 20, 3e9, *[30.0, 90.0] * 50])
    assert all(one is None or one > 0 for one in found)
    assert 20.0 < (found[-1] or 0.0) < 120.0

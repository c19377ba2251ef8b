"""The on-line regression of run times."""

from __future__ import annotations

import math

from batsched_py.model.job import Job
from batsched_py.planning.run_times.learner import OnlineLearner, UserPast, products


def job(number: int, walltime: float | None = 600.0, size: int = 2) -> Job:
    """Return a job of this number."""
    return Job.create(f"w0!{number}", size=size, profile="p", walltime=walltime)


def test_products_contain_each_feature_and_each_pair_once() -> None:
    """The first feature is 1."""
    assert products([1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0, 4.0, 6.0, 9.0]


def test_features_are_the_users_past() -> None:
    """Run times that are missing are the walltime; means are over those that are known."""
    past = UserPast()
    past.last, past.count, past.seconds, past.hosts, past.last_end = (10.0, 700.0), 2, 710.0, 6, 40.0
    past.running["w0!9"] = (4, 90.0)
    found = past.features(job(1), 100.0)
    assert found[:8] == [1.0, 600.0, 10.0, 600.0, 600.0, 305.0, 305.0, 355.0]
    assert found[8:16] == [2.0, 3.0, 2.0 / 3.0, 60.0, 1.0, 10.0, 10.0, 4.0]
    assert math.isclose(found[16] ** 2 + found[17] ** 2, 1.0)
    assert len(found) == 20


def test_the_first_step_is_as_computed_by_hand() -> None:
    """The loss of a first prediction of 0 is the error times log(hosts * run time), whose slope is minus the logarithm.

    The rate is divided by the root of the squared features per job, each relative to the largest; the step of a weight
    is the rate, divided by the scale of its feature. So the next prediction of the same features is their sum.
    """
    learner = OnlineLearner(rate=10.0)
    learner.fit([2.0, -3.0, 0.0], math.exp(5.0) / 4, 4)
    rate = 10.0 * math.sqrt(1 / 2)
    assert learner._weights == [rate / 2.0, -rate / 3.0, 0.0]
    assert math.isclose(learner._value([2.0, -3.0, 0.0]), 2.0 * rate)


def test_a_user_whose_jobs_all_take_as_long_is_predicted_well() -> None:
    """After some jobs the error is below a tenth of that of the walltime."""
    learner = OnlineLearner(rate=10.0)
    assert learner.predict(job(0), "ada", 0.0) is None
    for number in range(200):
        now = 1000.0 * number
        learner.predict(job(number), "ada", now)
        learner.begin(job(number), "ada", now)
        learner.learn(job(number), "ada", 60.0, now + 60.0)
    assert abs((learner.predict(job(200), "ada", 200_000.0) or 0.0) - 60.0) < 54.0


def test_jobs_without_a_walltime_are_predicted() -> None:
    """No feature is infinite."""
    learner = OnlineLearner()
    learner.predict(job(1, None), None, 0.0)
    learner.learn(job(1, None), None, 30.0, 30.0)
    assert math.isfinite(learner.predict(job(2, None), None, 40.0) or 0.0)

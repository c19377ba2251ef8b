"""Predictions of run times: by hand."""

from __future__ import annotations

import math

from batsched_py.planning.prediction import LastTwo, corrected


def test_the_walltime_counts_until_a_user_has_ended_two_jobs() -> None:
    """One job tells too little."""
    past = LastTwo()
    assert past.predict("ada", 100.0) == 100.0
    past.learn("ada", 10.0)
    assert past.predict("ada", 100.0) == 100.0
    past.learn("ada", 30.0)
    assert past.predict("ada", 100.0) == 20.0
    assert past.predict("bob", 100.0) == 100.0


def test_only_the_last_two_jobs_count() -> None:
    """In the order in which they ended."""
    past = LastTwo()
    for run in (1000.0, 10.0, 20.0):
        past.learn(7, run)
    assert past.predict(7, 100.0) == 15.0


def test_a_prediction_is_between_a_second_and_the_walltime() -> None:
    """Jobs that ended at once do not make the next one take no time."""
    past = LastTwo()
    past.learn("ada", 0.0)
    past.learn("ada", 0.5)
    assert past.predict("ada", 100.0) == 1.0
    assert past.predict("ada", 0.5) == 0.5
    past.learn("ada", 900.0)
    past.learn("ada", 900.0)
    assert past.predict("ada", 100.0) == 100.0


def test_jobs_of_nobody_have_no_past() -> None:
    """A job without a user learns from no other."""
    past = LastTwo()
    past.learn(None, 1.0)
    past.learn(None, 1.0)
    assert past.predict(None, 50.0) == 50.0


def test_corrections_grow_up_to_the_walltime() -> None:
    """A minute, five, a quarter of an hour... more than the first prediction; then the walltime."""
    assert [corrected(20.0, count, math.inf) for count in (1, 2, 3, 11)] == [80.0, 320.0, 920.0, 360_020.0]
    assert corrected(20.0, 12, 400_000.0) == 400_000.0
    assert corrected(20.0, 2, 100.0) == 100.0

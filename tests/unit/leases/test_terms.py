"""The terms of a lease are read from the job, and what is wrong is named."""

from __future__ import annotations

import math
from typing import Any

import pytest

from batsched_py.leases.terms import Kind, Terms, TermsError, read_terms
from batsched_py.model.job import Job


def leased(lease: Any) -> Job:
    """A job of t=900 with this lease."""
    return Job.create("w0!1", size=1, profile="p", submit_time=900.0, walltime=10.0, extra={"lease": lease})


def test_a_job_without_a_lease_is_best_effort() -> None:
    """And may be stopped for others."""
    plain = Job.create("w0!1", size=1, profile="p")
    assert read_terms(plain) == Terms(Kind.BEST_EFFORT, None, preemptible=True)


@pytest.mark.parametrize(
    ("lease", "terms"),
    [
        (None, Terms(Kind.BEST_EFFORT, None, True)),
        ({}, Terms(Kind.BEST_EFFORT, None, True)),
        ({"start": None, "preemptible": False}, Terms(Kind.BEST_EFFORT, None, False)),
        ({"start": "now"}, Terms(Kind.IMMEDIATE, None, False)),
        ({"start": 1800}, Terms(Kind.ADVANCE, 1800.0, False)),
        ({"start": 0.5, "preemptible": True}, Terms(Kind.ADVANCE, 0.5, True)),
        ({"start": "+900"}, Terms(Kind.ADVANCE, 1800.0, False)),
        ({"start": "+0.25"}, Terms(Kind.ADVANCE, 900.25, False)),
    ],
)
def test_the_start_says_what_a_lease_is(lease: Any, terms: Terms) -> None:
    """Nothing, "now", an instant, or seconds after the submission."""
    assert read_terms(leased(lease)) == terms


@pytest.mark.parametrize(
    ("lease", "field", "rule"),
    [
        (1800, "lease", "must be an object, not 1800"),
        ({"strat": 5}, "lease.strat", "there is no such term"),
        ({"start": True}, "lease.start", "not True"),
        ({"start": -1}, "lease.start", "not -1"),
        ({"start": "900"}, "lease.start", "not '900'"),
        ({"start": "+-3"}, "lease.start", "not '+-3'"),
        ({"start": "+1e3"}, "lease.start", "not '+1e3'"),
        ({"start": [5]}, "lease.start", "not [5]"),
        ({"start": math.nan}, "lease.start", "not nan"),
        ({"start": math.inf}, "lease.start", "must be at most 60000000000 s"),
        ({"start": 10**400}, "lease.start", "must be at most 60000000000 s"),
        ({"start": "+" + "9" * 400}, "lease.start", "must be at most 60000000000 s"),
        ({"preemptible": "perhaps"}, "lease.preemptible", "must be true or false, not 'perhaps'"),
        ({"start": 5, "preemptible": None}, "lease.preemptible", "must be true or false, not None"),
    ],
)
def test_a_wrong_lease_names_the_field_and_the_rule(lease: Any, field: str, rule: str) -> None:
    """Whatever stands there."""
    with pytest.raises(TermsError) as error:
        read_terms(leased(lease))
    assert error.value.field == field
    assert rule in error.value.rule

"""The terms of a lease are read from the job, and what is wrong is named."""

from __future__ import annotations

import math
from typing import Any

import pytest

from batsched_py.model.job import Job
from batsched_py.model.lease_kind import LeaseKind
from batsched_py.model.lease_terms import ALL_TERMS, UNLIMITED, Terms, read_terms
from batsched_py.reading.faults import FieldError


def leased(lease: Any) -> Job:
    """A job of t=900 with this lease."""
    return Job.create("w0!1", size=1, profile="p", submit_time=900.0, walltime=10.0, extra={"lease": lease})


def test_a_job_without_a_lease_is_best_effort() -> None:
    """It may be stopped for others."""
    plain = Job.create("w0!1", size=1, profile="p")
    assert read_terms(plain) == Terms(LeaseKind.BEST_EFFORT, None, preemptible=True)


@pytest.mark.parametrize(
    ("lease", "terms"),
    [
        (None, Terms(LeaseKind.BEST_EFFORT, None, True)),
        ({}, Terms(LeaseKind.BEST_EFFORT, None, True)),
        ({"start": None, "preemptible": False}, Terms(LeaseKind.BEST_EFFORT, None, False)),
        ({"start": "now"}, Terms(LeaseKind.IMMEDIATE, None, False)),
        ({"start": 1800}, Terms(LeaseKind.ADVANCE, 1800.0, False)),
        ({"start": 0.5, "preemptible": True}, Terms(LeaseKind.ADVANCE, 0.5, True)),
        ({"start": "+900"}, Terms(LeaseKind.ADVANCE, 1800.0, False)),
        ({"start": "+0.25"}, Terms(LeaseKind.ADVANCE, 900.25, False)),
    ],
)
def test_the_start_says_what_a_lease_is(lease: Any, terms: Terms) -> None:
    """Nothing, "now", an instant, or seconds after the submission."""
    assert read_terms(leased(lease)) == terms


@pytest.mark.parametrize(
    ("opennebula", "plain"),
    [
        ({"start": "best_effort", "preemptible": "yes"}, {}),
        ({"start": "best_effort", "preemptible": "no"}, {"preemptible": False}),
        ({"start": "now", "duration": "unlimited"}, {"start": "now", "duration": UNLIMITED}),
        ({"start": "+01:00:00"}, {"start": 4500}),
    ],
)
def test_words_of_opennebula_are_understood(opennebula: Any, plain: Any) -> None:
    """H74, H110: as in the parameter HAIZEA of its templates."""
    assert read_terms(leased(opennebula), ALL_TERMS) == read_terms(leased(plain), ALL_TERMS)


_PREEMPTIBLE = 'must be "yes", "no", "true", "false" or true or false,'


@pytest.mark.parametrize(
    ("lease", "field", "rule"),
    [
        (1800, "lease", "must be an object, not 1800"),
        ({"strat": 5}, "lease.strat", "unknown; did you mean start?"),
        ({"start": True}, "lease.start", "not True"),
        ({"start": -1}, "lease.start", "not -1"),
        ({"start": "900"}, "lease.start", "not '900'"),
        ({"start": "+-3"}, "lease.start", "not '+-3'"),
        ({"start": "+1e3"}, "lease.start", "not '+1e3'"),
        ({"start": [5]}, "lease.start", "not [5]"),
        ({"start": math.nan}, "lease.start", "not nan"),
        ({"start": math.inf}, "lease.start", "must be at most 100000000000 s"),
        ({"start": 10**400}, "lease.start", "must be at most 100000000000 s"),
        ({"start": "+" + "9" * 400}, "lease.start", "must be at most 100000000000 s"),
        (
            {"preemptible": "perhaps"},
            "lease.preemptible",
            f"{_PREEMPTIBLE} not 'perhaps'",
        ),
        (
            {"start": 5, "preemptible": None},
            "lease.preemptible",
            f"{_PREEMPTIBLE} not None",
        ),
    ],
)
def test_a_wrong_lease_names_the_field_and_the_rule(lease: Any, field: str, rule: str) -> None:
    """It does so for any value."""
    with pytest.raises(FieldError) as error:
        read_terms(leased(lease))
    assert error.value.path == field
    assert rule in error.value.rule


@pytest.mark.parametrize(
    ("lease", "field", "rule"),
    [
        ({"start": "now", "deadline": 5000}, "deadline", "cannot be combined with an immediate start"),
        ({"deadline": "soon"}, "deadline", "must be null or a number of seconds from 0, or"),
        ({"deadline": 1e300}, "deadline", "must be at most 100000000000 s"),
        ({"start": "+99999999999:00:00:00"}, "start", "must be at most 100000000000 s"),
        ({"preemptible": "maybe"}, "preemptible", f"{_PREEMPTIBLE} not 'maybe'"),
        ({"duration": 0}, "duration", 'must be null, "unlimited" or a number of seconds greater than 0'),
        ({"duration": True}, "duration", 'must be null, "unlimited" or a number of seconds greater than 0'),
        ({"capacity": 100}, "capacity", "must be null or an object or a list of objects, not 100"),
        ({"capacity": {"CPU": 50, "cpu": 100}}, "capacity.cpu", "is CPU, which is given too"),
        ({"capacity": []}, "capacity", "must not be empty"),
        ({"capacity": [7]}, "capacity[0]", "must be an object, not 7"),
        ({"capacity": [{"cpu": 100}]}, "capacity[0].count", "is missing"),
        ({"capacity": [{"count": 0}]}, "capacity[0].count", "must be a whole number from 1, not 0"),
        ({"capacity": [{"count": 2}]}, "capacity", "counts 2 nodes, but the job's res is 1"),
        ({"capacity": {"cpu": 0}}, "capacity.cpu", "must be a number greater than 0, not 0"),
        ({"capacity": {"cpu": [50, "x"]}}, "capacity.cpu[1]", "must be a number greater than 0"),
        ({"capacity": [{"count": 1, "memory": -1}]}, "capacity[0].memory", "must be a number greater than 0"),
        ({"software": "a.img"}, "software", "must be null or an object, not 'a.img'"),
        ({"software": {"image": "a.img"}}, "software.size", "is missing"),
        ({"software": {"image": "a.img", "size": -1}}, "software.size", "must be a number of MB from 0, not -1"),
        ({"software": {"image": None, "size": 1}}, "software.image", "must be a text, not None"),
        ({"software": {"image": "", "size": 1}}, "software.image", "must not be empty"),
        ({"software": {"image": "a,b", "size": 1}}, "software.image", "must have no comma"),
        ({"group": 5}, "group", "must be null or a text, not 5"),
        ({"group": "a\nb"}, "group", "must have no comma"),
        ({"constraint": 5}, "constraint", "must be null or a text, not 5"),
        ({"constraint": ""}, "constraint", "must not be empty"),
        ({"constraint": "1" * 10_001}, "constraint", "must have at most 10000 characters"),
    ],
)
def test_each_wrong_term_names_the_field_and_the_rule(lease: Any, field: str, rule: str) -> None:
    """One line, whatever the value."""
    with pytest.raises(FieldError) as error:
        read_terms(leased(lease), ALL_TERMS)
    assert error.value.path == f"lease.{field}"
    assert rule in error.value.rule
    assert str(error.value).isprintable()

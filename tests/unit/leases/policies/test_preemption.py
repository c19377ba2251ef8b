"""Policies of preemption: the score of those who may give way."""

from __future__ import annotations

import pytest

from batsched_py.leases.lease import Lease
from batsched_py.leases.policies.preemption import NEVER, Preemptability, ReservationsFirst
from batsched_py.model.lease_kind import LeaseKind

DAY = 86400.0


def asked(kind: LeaseKind, submit: float = 0.0) -> Lease:
    """A lease of this kind."""
    return Lease(1, kind, submit, 60.0, ((100.0, 1024.0),))


@pytest.mark.parametrize(
    ("days", "score"), [(0, 1.0), (1, 0.967742), (3.5, 0.887097), (6.999, 0.774226), (7, NEVER), (30, NEVER)]
)
def test_the_score_falls_with_the_age_and_ends_after_a_week(days: float, score: float) -> None:
    """H57: counted from the submission."""
    preemptor, victim = asked(LeaseKind.ADVANCE), asked(LeaseKind.BEST_EFFORT, submit=500.0)
    assert ReservationsFirst().score(preemptor, victim, 500.0 + days * DAY) == pytest.approx(score, abs=1e-6)


def test_only_best_effort_leases_give_way_and_only_to_reservations() -> None:
    """H56."""
    scores = {
        (preemptor, victim): ReservationsFirst().score(asked(preemptor), asked(victim), 0.0)
        for preemptor in LeaseKind
        for victim in LeaseKind
    }
    assert [pair for pair, score in scores.items() if score >= 0] == [(LeaseKind.ADVANCE, LeaseKind.BEST_EFFORT)]
    assert Preemptability().score(asked(LeaseKind.ADVANCE), asked(LeaseKind.BEST_EFFORT), 0.0) == NEVER

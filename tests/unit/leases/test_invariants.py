"""Invariants of the lease scheduler on random workloads with random rules, each by an independent checker.

The same workloads in every run; `make fuzz FUZZ=leases` draws others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy

from tests.drawing import drawn
from tests.ha_cases import HaCase
from tests.lease_invariants import (
    INVARIANTS,
    PlayedCase,
    leases_start_in_their_order,
    no_promise_is_broken,
)
from tests.lease_workloads import IN_TURN, UNDISTURBED, WITH_DEADLINES, WITH_IMAGES, WITHOUT_IMAGES
from tests.thoroughness import thorough

#: Workloads of each kind.
COUNT = 110
WORKLOADS = {"plain": WITHOUT_IMAGES, "images": WITH_IMAGES, "deadlines": WITH_DEADLINES}


@cache
def played(strategy: SearchStrategy[HaCase]) -> Sequence[PlayedCase]:
    """Runs of as many workloads, each made once for all invariants."""
    return [PlayedCase(case) for case in drawn(strategy, COUNT)]


def all_hold(invariant: Callable[[PlayedCase], None], runs: Sequence[PlayedCase]) -> None:
    """Assert that it holds in each of these runs."""
    for run in runs:
        invariant(run)


def holds(invariant: Callable[[PlayedCase], None], strategy: SearchStrategy[HaCase]) -> None:
    """Assert that it does in each run; a workload for which it does not is made small."""

    @settings(max_examples=thorough(COUNT))
    @given(strategy)
    def searched(case: HaCase) -> None:
        invariant(PlayedCase(case))

    try:
        all_hold(invariant, played(strategy))
    except Exception:
        searched()
        raise


@pytest.mark.parametrize("workloads", WORKLOADS)
@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: invariant.__name__)
def test_an_invariant_of_all_runs(invariant: Callable[[PlayedCase], None], workloads: str) -> None:
    """It is named as it is."""
    holds(invariant, WORKLOADS[workloads])


def test_no_promise_is_broken() -> None:
    """H33."""
    holds(no_promise_is_broken, UNDISTURBED)


def test_leases_start_in_their_order() -> None:
    """H31."""
    holds(leases_start_in_their_order, IN_TURN)


def test_the_same_requests_have_the_same_outcome() -> None:
    """Nothing depends on memory addresses or on the order of sets, as it did in Haizea."""
    for run in played(WITH_IMAGES)[:50]:
        again = PlayedCase(run.case)
        assert [lease.history for lease in again.leases] == [lease.history for lease in run.leases]


def test_workloads_have_all_that_there_is_to_check() -> None:
    """Suspensions, lost runs, migrations, transfers, and requests that are refused."""
    runs = [*played(WITHOUT_IMAGES), *played(WITH_IMAGES)]
    uses = [one.use.value for run in runs for one in run.executed()]
    assert {use for use in uses if uses.count(use) >= 20} >= {"vm", "shutdown", "suspend", "resume", "transfer"}
    assert {"migrate-memory", "migrate-disk"} <= set(uses)
    states = [lease.state.label for run in runs for lease in run.leases]
    assert states.count("Rejected") >= 100


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ({"hold_cpu": False, "honour_preemptible": False}, "no_host_is_overbooked"),
        ({"honour_preemptible": False}, "who_is_kept_is_left_alone"),
    ],
)
def test_a_rule_of_the_original_is_noticed(rule: dict[str, bool], broken: str) -> None:
    """The checkers see what they are there for: with these rules of Haizea runs break what must be true."""
    [invariant] = [each for each in INVARIANTS if each.__name__ == broken]
    runs = [PlayedCase(case, checked=False, **rule) for case in drawn(WITHOUT_IMAGES, 300)]
    with pytest.raises(AssertionError):
        all_hold(invariant, runs)

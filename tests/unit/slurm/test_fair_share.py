"""Fair share on drawn trees of accounts: shares, usage with decay, and ranks."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.slurm.accounts import Accounts, Association
from batsched_py.slurm.fair_share import association_usages, classic_shares, decay, fair_tree_shares
from tests.thoroughness import thorough


@st.composite
def trees(draw: st.DrawFn) -> Accounts:
    """Accounts below each other with users, shares and usage."""
    accounts = Accounts()
    names = ["root"]
    for number in range(draw(st.integers(1, 5))):
        name = f"account{number}"
        accounts.add_account(name, draw(st.sampled_from(names))).shares = draw(st.integers(0, 9))
        names.append(name)
    for number in range(draw(st.integers(1, 8))):
        user = accounts.add_user(f"user{number}", draw(st.sampled_from(names)))
        user.shares, user.usage = draw(st.integers(0, 9)), draw(st.sampled_from((0.0, 1.0, 40.0, 3600.0)))
    return accounts


def every(accounts: Accounts) -> list[Association]:
    """All accounts."""
    return list(accounts.by_account.values())


@given(trees())
@settings(max_examples=thorough(60), deadline=None)
def test_shares_of_siblings_sum_to_one(accounts: Accounts) -> None:
    """Unless all of them are 0; in the classic formula they sum to the share of their parent."""
    usages = association_usages(accounts)
    for shares, is_classic in (
        (fair_tree_shares(accounts, usages), False),
        (classic_shares(accounts, usages, usages), True),
    ):
        for parent in every(accounts):
            whole = shares[id(parent)].norm_shares if is_classic else 1.0
            if any(child.shares for child in parent.children):
                assert sum(shares[id(child)].norm_shares for child in parent.children) == pytest.approx(whole)


@given(trees(), st.sampled_from((0.0, 60.0, 7200.0)), st.lists(st.sampled_from((1.0, 30.0, 300.0)), max_size=4))
@settings(max_examples=thorough(40), deadline=None)
def test_the_usage_of_a_parent_is_the_sum_of_its_children_with_decay(
    accounts: Accounts, half_life: float, periods: list[float]
) -> None:
    """Before and after any number of periods, in which all usage is left by the same part."""
    before = association_usages(accounts)
    for seconds in periods:
        decay(accounts, seconds, half_life)
    after = association_usages(accounts)
    left = 0.5 ** (sum(periods) / half_life) if half_life else 1.0
    for parent in every(accounts):
        own = parent.usage + sum(after[id(child)] for child in parent.children)
        assert after[id(parent)] == pytest.approx(own)
        assert after[id(parent)] == pytest.approx(before[id(parent)] * left)


@given(trees())
@settings(max_examples=thorough(60), deadline=None)
def test_a_user_below_a_better_account_has_the_better_factor(accounts: Accounts) -> None:
    """The use of single users does not matter: the first level at which two paths differ decides; factors are ranks."""
    shares: Any = fair_tree_shares(accounts, association_usages(accounts))
    users = accounts.users()
    factors = sorted(shares[id(user)].factor for user in users)
    assert factors[-1] == 1.0
    assert all(later == earlier or later - earlier >= 1 / len(users) - 1e-9 for earlier, later in pairwise(factors))
    for one in users:
        for other in users:
            here, there = (
                [shares[id(step)].level for step in user.path() if step.parent][::-1] for user in (one, other)
            )
            first = next(((a, b) for a, b in zip(here, there, strict=False) if a != b), None)
            if first is not None:
                assert (shares[id(one)].factor > shares[id(other)].factor) == (first[0] > first[1])

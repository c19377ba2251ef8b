"""Fair share: usage of associations with decay, and factors by Fair Tree or by the classic formula.

Usage is in processor seconds and halves with each PriorityDecayHalfLife. The factors are those of Slurm's pages
fair_tree.html and classic_fair_share.html.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from math import inf

from batsched_py.slurm.accounts import Accounts, Association


def decay(accounts: Accounts, seconds: float, half_life: float) -> None:
    """Decay the usage of all users by a period; without a half-life nothing decays."""
    if half_life > 0:
        for user in accounts.users():
            user.usage *= 0.5 ** (seconds / half_life)


def total_usage(association: Association) -> float:
    """Return the usage of an association and all below it."""
    return association.usage + sum(total_usage(child) for child in association.children)


def fair_tree_factors(accounts: Accounts) -> dict[int, float]:
    """Return the factor of each user's association, by its `id()`: its rank among all users.

    Users are compared by the levels of their accounts from the root down, and by their own; equal ones share a rank.
    """
    paths = [(_levels(user), user) for user in accounts.users()]
    depth = max(len(levels) for levels, _ in paths)
    ranked = sorted(((*levels, *[inf] * (depth - len(levels))), id(user)) for levels, user in paths)
    keys = [key for key, _ in ranked]
    return {user: bisect_right(keys, key) / len(keys) for key, user in ranked}


def account_usages(accounts: Accounts) -> dict[int, float]:
    """Return the usage of the root and of each account, by `id()`."""
    return {id(one): total_usage(one) for one in accounts.by_account.values()}


def classic_factors(accounts: Accounts, before: Mapping[int, float]) -> dict[int, float]:
    """Return the factor of each user's association, by its `id()`: 2^(-usage / shares), both normalised.

    `before` has the usages of accounts at the recalculation before, which the effective usage of users depends on.
    """
    factors: dict[int, float] = {}
    everything, past = total_usage(accounts.root), before.get(id(accounts.root), 0.0)

    def descend(parent: Association, shares: float, effective: float) -> None:
        all_shares = sum(child.shares for child in parent.children)
        for child in parent.children:
            part = child.shares / all_shares if all_shares else 0.0
            if child.user is None:
                actual = before.get(id(child), 0.0) / past if past else 0.0
            else:
                actual = total_usage(child) / everything if everything else 0.0
            used = actual + (effective - actual) * part if parent.parent is not None else actual
            if child.user is not None:
                factors[id(child)] = 2.0 ** (-used / (shares * part)) if shares * part else 0.0
            descend(child, shares * part, used)

    descend(accounts.root, 1.0, 1.0)
    return factors


def _levels(user: Association) -> list[float]:
    return [_level(one) for one in user.path() if one.parent is not None][::-1]


def _level(association: Association) -> float:
    """Return shares by usage among the siblings; infinite without usage."""
    assert association.parent is not None  # noqa: S101
    siblings = association.parent.children
    shares = sum(one.shares for one in siblings)
    usage = sum(total_usage(one) for one in siblings)
    used = total_usage(association) / usage if usage else 0.0
    part = association.shares / shares if shares else 0.0
    return part / used if used else inf

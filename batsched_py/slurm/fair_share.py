"""Fair share: usage of associations with decay, and factors by Fair Tree or by the classic formula.

Usage is in processor seconds and halves with each PriorityDecayHalfLife. The factors are those of Slurm's pages
fair_tree.html and classic_fair_share.html.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
    """Return the factor of each user's association, by its `id()`: its rank among all users."""
    order: list[list[Association]] = []
    _rank([[accounts.root]], order)
    count = sum(len(equal) for equal in order)
    factors: dict[int, float] = {}
    rank = count
    for equal in order:
        factors |= {id(one): rank / count for one in equal}
        rank -= len(equal)
    return factors


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


def _rank(families: Sequence[Sequence[Association]], order: list[list[Association]]) -> None:
    """Append users in the order of their rank, the best first; the accounts of one level and value are one family."""
    for family in families:
        levels = [(_level(child), child) for account in family for child in account.children]
        for value in sorted({level for level, _ in levels}, reverse=True):
            equal = [child for level, child in levels if level == value]
            if users := [child for child in equal if child.user is not None]:
                order.append(users)
            if groups := [child for child in equal if child.user is None]:
                _rank([groups], order)


def _level(association: Association) -> float:
    """Return shares by usage among the siblings; infinite without usage."""
    assert association.parent is not None  # noqa: S101
    siblings = association.parent.children
    shares = sum(one.shares for one in siblings)
    usage = sum(total_usage(one) for one in siblings)
    used = total_usage(association) / usage if usage else 0.0
    part = association.shares / shares if shares else 0.0
    return part / used if used else float("inf")

"""Fair share: usage of associations with decay, and factors by Fair Tree or by the classic formula.

Usage is in processor seconds and halves with each PriorityDecayHalfLife. The factors are those of Slurm's pages
fair_tree.html and classic_fair_share.html.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from math import inf
from typing import NamedTuple

from batsched_py.slurm.accounts import Accounts, Association


class AssociationShare(NamedTuple):
    """The share of an association and its use, as sshare shows them.

    Attributes:
        norm_shares: its part of the shares of its siblings; in the classic formula, of those of the cluster.
        norm_usage: its part of the usage of the cluster; None for the root.
        effective_usage: its part of the usage of its siblings; in the classic formula, what its factor depends on.
        factor: the fair-share factor; None for accounts of the Fair Tree, which have none.
        level: norm_shares by effective_usage, infinite without usage; None for the root, and in the classic formula.
    """

    norm_shares: float
    norm_usage: float | None
    effective_usage: float
    factor: float | None
    level: float | None = None


def decay(accounts: Accounts, seconds: float, half_life: float) -> None:
    """Decay the usage of all users by a period; without a half-life nothing decays."""
    if half_life > 0:
        for user in accounts.users():
            user.usage *= 0.5 ** (seconds / half_life)


def association_usages(accounts: Accounts) -> dict[int, float]:
    """Return the usage of each association and all below it, by `id()`."""
    usages = {id(user): user.usage for user in accounts.users()}
    for account in reversed(accounts.by_account.values()):
        usages[id(account)] = account.usage + sum(usages[id(child)] for child in account.children)
    return usages


def fair_tree_shares(accounts: Accounts, usages: Mapping[int, float]) -> dict[int, AssociationShare]:
    """Return the share of each association, by its `id()`; the factor of a user is the rank among all users.

    Users are compared by the levels of their accounts from the root down, and by their own; equal ones share a rank.
    """
    everything = usages[id(accounts.root)]
    found = {id(accounts.root): AssociationShare(0.0, None, 1.0, None)}
    levels: dict[int, tuple[float, ...]] = {id(accounts.root): ()}
    for parent in accounts.by_account.values():
        shares = sum(child.shares for child in parent.children)
        usage = sum(usages[id(child)] for child in parent.children)
        for child in parent.children:
            used = usages[id(child)] / usage if usage else 0.0
            part = child.shares / shares if shares else 0.0
            level = part / used if used else inf
            norm = usages[id(child)] / everything if everything else 0.0
            found[id(child)] = AssociationShare(part, norm, used, None, level)
            levels[id(child)] = (*levels[id(parent)], level)
    users = accounts.users()
    depth = max(len(levels[id(user)]) for user in users)
    ranked = [((*levels[id(user)], *[inf] * (depth - len(levels[id(user)]))), user) for user in users]
    keys = sorted(key for key, _ in ranked)
    for key, user in ranked:
        found[id(user)] = found[id(user)]._replace(factor=bisect_right(keys, key) / len(keys))
    return found


def classic_shares(
    accounts: Accounts, usages: Mapping[int, float], before: Mapping[int, float]
) -> dict[int, AssociationShare]:
    """Return the share of each association, by its `id()`: the factor is 2^(-usage / shares), both normalised.

    `before` has the usages at the recalculation before, which the effective usage of users depends on.
    """
    everything, past = usages[id(accounts.root)], before.get(id(accounts.root), 0.0)
    found = {id(accounts.root): AssociationShare(1.0, None, 1.0, 0.5)}
    for parent in accounts.by_account.values():
        above = found[id(parent)]
        all_shares = sum(child.shares for child in parent.children)
        for child in parent.children:
            part = child.shares / all_shares if all_shares else 0.0
            if child.user is None:
                actual = before.get(id(child), 0.0) / past if past else 0.0
            else:
                actual = usages[id(child)] / everything if everything else 0.0
            used = actual + (above.effective_usage - actual) * part if parent.parent is not None else actual
            found[id(child)] = _classic(above.norm_shares * part, actual, used)
    return found


def _classic(shares: float, actual: float, used: float) -> AssociationShare:
    return AssociationShare(shares, actual, used, 2.0 ** (-used / shares) if shares else 0.0)


def user_factors(accounts: Accounts, shares: Mapping[int, AssociationShare]) -> dict[int, float]:
    """Return the factors of users, by the `id()` of their associations."""
    return {id(user): shares[id(user)].factor or 0.0 for user in accounts.users()}


def ordered(accounts: Accounts) -> list[tuple[int, Association]]:
    """Return all associations and their depths as sshare lists them: each account with its users, then those below."""
    found: list[tuple[int, Association]] = []
    rest = [(0, accounts.root)]
    while rest:
        depth, here = rest.pop()
        found.append((depth, here))
        rest += [(depth + 1, child) for child in sorted(here.children, key=_place, reverse=True)]
    return found


def _place(association: Association) -> tuple[bool, str]:
    return (False, association.user) if association.user is not None else (True, association.account)

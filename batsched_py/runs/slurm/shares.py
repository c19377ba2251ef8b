"""The tree of accounts with shares, usage and factors, as `sshare --all --long` lists it."""

from __future__ import annotations

from math import inf

from msgspec import Struct

from batsched_py.schedulers.slurm.scheduler import Slurm
from batsched_py.slurm.fair_share import AssociationShare, association_usages, ordered


class ShareRow(Struct, frozen=True):
    """A row of sshare: an account, or a user of an account.

    Attributes:
        depth: number of accounts above it.
        user: "" for an account.
        raw_shares: None for the root, which has none.
        raw_usage: processor seconds of it and all below it, decayed: as of the last recalculation of priorities, and in
            addition those of jobs that have ended since.
        share: what was computed from shares and usage at the last recalculation of priorities, without these jobs.
    """

    depth: int
    account: str
    user: str
    raw_shares: int | None
    raw_usage: float
    share: AssociationShare

    @property
    def plain(self) -> dict[str, object]:
        """The row as a JSON object; an infinite level is the text "inf"."""
        share = self.share
        return {
            "account": self.account,
            "user": self.user or None,
            "depth": self.depth,
            "raw_shares": self.raw_shares,
            "norm_shares": share.norm_shares,
            "raw_usage": self.raw_usage,
            "norm_usage": share.norm_usage,
            "effective_usage": share.effective_usage,
            "fair_share": share.factor,
            "level_fs": "inf" if share.level == inf else share.level,
        }


def share_rows(scheduler: Slurm) -> list[ShareRow]:
    """Return the tree of accounts: each account, its users, and the accounts below it, by name."""
    cluster = scheduler.controller.cluster
    usages, shares = association_usages(cluster.accounts), cluster.priorities.shares
    return [
        ShareRow(
            depth,
            one.account,
            one.user or "",
            None if one.parent is None else one.shares,
            usages[id(one)],
            shares[id(one)],
        )
        for depth, one in ordered(cluster.accounts)
    ]

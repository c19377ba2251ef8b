"""The outcome of a pass that decided nothing: for how long it would be the same again."""

from __future__ import annotations

from typing import NamedTuple


class PassOutcome(NamedTuple):
    """A pass, and what a later one would do.

    Attributes:
        version: of the cluster at the pass.
        until: before this instant another pass of that version decides the same, which is nothing; -infinity if it may
            decide something else at once.
        is_change: does it make a pass of backfill due each time?
    """

    version: int
    until: float
    is_change: bool

    def holds(self, version: int, instant: float) -> bool:
        """Would a pass at this instant be the same again?"""
        return version == self.version and instant < self.until

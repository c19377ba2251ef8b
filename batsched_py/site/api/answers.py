"""Answers that are the same for all who ask: encoded once for each snapshot of the site."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import msgspec

from batsched_py.site.board import EMPTY, Board, Snapshot

#: Answers that are kept; questions may differ in what callers choose.
_MOST: Final = 32


class Answers:
    """Bodies in JSON that follow from a snapshot alone.

    Args:
        board: which has the snapshot.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._snapshot: Snapshot = EMPTY
        self._bodies: dict[Hashable, bytes] = {}

    def find(self, question: Hashable, make: Callable[[], Any]) -> bytes:
        """Return the body that answers a question; it is made if nobody has asked since the site has changed."""
        if self._board.snapshot is not self._snapshot or len(self._bodies) >= _MOST:
            self._snapshot, self._bodies = self._board.snapshot, {}
        body = self._bodies.get(question)
        if body is None:
            body = self._bodies[question] = msgspec.json.encode(make())
        return body

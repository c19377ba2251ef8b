"""A cache of answers that are the same for all callers: encoded once for each snapshot of the site."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Final

import msgspec

from batsched_py.site.board import Board
from batsched_py.site.snapshot import EMPTY, Snapshot

#: The largest number of cached answers: callers choose parameters, and each choice has its own answer.
_MOST: Final = 32


class Answers:
    """Cached JSON bodies that depend on the current snapshot alone.

    Args:
        board: provides the snapshot.
    """

    def __init__(self, board: Board) -> None:
        self._board = board
        self._snapshot: Snapshot = EMPTY
        self._bodies: dict[Hashable, bytes] = {}

    def find(self, question: Hashable, make: Callable[[], Any]) -> bytes:
        """Return the body for a key; call `make` for its value unless it is cached for the current snapshot."""
        if self._board.snapshot is not self._snapshot or len(self._bodies) >= _MOST:
            self._snapshot, self._bodies = self._board.snapshot, {}
        body = self._bodies.get(question)
        if body is None:
            body = self._bodies[question] = msgspec.json.encode(make())
        return body

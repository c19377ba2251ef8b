"""The inbox of a site, and its promises to clients that ask while the site starts."""

from __future__ import annotations

import math
from pathlib import Path

from batsched_py.site.inbox import Asked, Inbox
from batsched_py.site.journal import Journal
from batsched_py.site.pacing import PacedClock


def test_the_board_is_seen_before_the_inbox_is_ready(tmp_path: Path) -> None:
    """A client of a ready site is never shown the past, although looks at the board keep their distance."""
    ready = list[bool]()
    journal = Journal(tmp_path / "site.sqlite", {})
    first = Inbox(journal, PacedClock(math.inf), look=lambda _: math.inf, see=lambda: None)
    assert first.wait(0.0, 1.0) is None
    first.accept([Asked("submit_job", lambda _: {}, "ann")])
    journal.close()
    journal = Journal(tmp_path / "site.sqlite", {})
    inbox = Inbox(journal, PacedClock(math.inf), look=lambda _: math.inf, see=lambda: ready.append(inbox.ready))
    batch = inbox.wait(0.0, None)
    assert batch is not None
    assert ready == []
    assert inbox.wait(batch.time, batch.time + 1.0) is None
    assert inbox.ready
    assert ready == [False]
    journal.close()

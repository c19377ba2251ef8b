"""Figures that the live view reads from a session."""

from __future__ import annotations

from batsched_py.cli.shared.live_view import session_status
from tests.builders import begun, completed_data, message, submitted_data


def test_the_books_of_a_session_give_the_numbers() -> None:
    """One runs, one waits with a reason, one was too large, one has ended."""
    session = begun()
    jobs = [("JOB_SUBMITTED", submitted_data(name, size)) for name, size in (("1", 1), ("2", 2), ("3", 4), ("4", 9))]
    session.answer(message(1.0, *jobs))
    session.answer(message(2.0, ("JOB_COMPLETED", completed_data("1", "0"))))
    status = session_status(session, 8)
    first, expected = status.first, (2.0, 8, 4, 1, 1, 1, 1, 4, 2, 0)
    assert (
        *(status.now, status.total, status.submitted, status.waiting, status.running),
        *(status.ended, status.rejected, status.hosts, status.busy, status.down),
    ) == expected
    assert first is not None
    assert (first.job.id, first.reason, first.promise) == ("w0!3", "needs 4 hosts, 2 are free", None)

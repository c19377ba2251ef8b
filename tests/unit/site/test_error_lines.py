"""Lines on what goes wrong at the doors: one for each kind and minute."""

from __future__ import annotations

import asyncio
import logging

import pytest

pytest.importorskip("litestar")

from batsched_py.site.api.error_lines import ErrorLines, noted_logs


def test_a_kind_is_told_once_a_minute() -> None:
    """With the number of those between, and the rest at the end."""
    told, now = list[str](), 0.0
    noted = ErrorLines(told.append, lambda: now)
    for now in (0.0, 1.0, 59.0, 60.0, 61.0):
        noted.note("full", f"full at {now:.0f}")
    noted.note("other", "another")
    noted.finish()
    assert told == [
        "full at 0",
        "full at 60 (2 more since the last line)",
        "another",
        "full: 1 more since the last line",
    ]


def test_logs_become_lines() -> None:
    """Errors of the system without a traceback, others with one the first time, and none for those who have gone."""
    told = list[str]()
    noted = ErrorLines(told.append, lambda: 0.0)
    log = logging.getLogger("uvicorn.error")

    def fail(error: BaseException) -> None:
        try:
            raise error
        except BaseException:
            log.error("Exception in ASGI application\n", exc_info=True)

    with noted_logs(noted):
        for _ in range(3):
            fail(asyncio.CancelledError())
            fail(ConnectionResetError())
            fail(OSError(24, "Too many open files"))
        assert told == ["Exception in ASGI application: Too many open files"]
        fail(KeyError("x"))
        fail(KeyError("x"))
        assert told[1].startswith("internal error: KeyError (")
        assert told[2] == "Traceback (most recent call last):"
        lines = len(told)
    assert all("more since the last line" in line for line in told[lines:])

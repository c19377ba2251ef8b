"""Short explanations of the longest waits of a run, for pages and tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from batsched_py.reporting.formatting import brief
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.walk import explain
from batsched_py.reporting.waits.wording import delays_text, moves, named, stretches, words_of
from batsched_py.text.wording import counted

#: The largest number of explained waits in a run.
MOST_WAITS: Final = 100
#: The largest number of intervals of one wait that have a line.
_MOST_LINES: Final = 6


def longest_waits(history: RunHistory, most: int = MOST_WAITS) -> Mapping[str, list[str]]:
    """Return job id -> lines that explain its wait, for the longest waits; ties in the order of the rows."""
    waited = sorted(
        (record for record in history.schedule.ran if record.waiting > 0), key=lambda record: -record.waiting
    )
    return {record.job.id: list(_lines(explain(history, record), history)) for record in waited[:most]}


def _lines(explanation: Explanation, history: RunHistory) -> Iterator[str]:
    found = stretches(explanation.intervals)
    for one in found[:_MOST_LINES]:
        who = f" ({named(one.blocked_by)})" if one.blocked_by else ""
        yield f"{brief(one.end - one.begin)}: {words_of(explanation, one.reason, one.end)}{who}"
    if len(found) > _MOST_LINES:
        left = sum(one.end - one.begin for one in found[_MOST_LINES:])
        yield f"{brief(left)}: {counted(len(found) - _MOST_LINES, 'more interval')}"
    promises = [move for move in moves(explanation, history.records) if move.by is not None]
    if promises:
        times = "once" if len(promises) == 1 else f"{len(promises)} times, the last time"
        yield f"its promise moved {times} since {promises[-1].why}"
    if explanation.overtakers:
        delaying = [one for one in explanation.overtakers if one.delayed_from is not None]
        who = f" ({named([one.record.job.id for one in delaying])})" if delaying else ""
        count = counted(len(explanation.overtakers), "job")
        yield f"overtaken by {count}; {delays_text(len(delaying))}{who}"

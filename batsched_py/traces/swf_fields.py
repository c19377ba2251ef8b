"""The fields of the Standard Workload Format that the cleaning of a log reads, by its rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from batsched_py.traces.cleaning import KEPT_FIELDS, CleaningRules
from batsched_py.traces.column_use import ColumnUse
from batsched_py.traces.swf_log import SwfLog, SwfRecord

#: Fields that are always read -> their use.
_USES: Final = {
    "number": "id",
    "submit": "submission time",
    "run": "run time",
    "used_processors": "used size",
    "requested_processors": "requested size",
    "requested_time": "requested time",
    "user": "member user",
}
_FURTHER: Final = "fields after the 18th"


def column_use(log: SwfLog, rules: CleaningRules) -> ColumnUse:
    """Return the use of the columns of a log: those of its table, or the fields of the format under these rules."""
    if log.columns is not None:
        return log.columns
    uses = _USES | dict(_chosen(rules))
    unread = tuple(name for name in SwfRecord._fields if name not in uses)
    return ColumnUse(
        {name: uses[name] for name in SwfRecord._fields if name in uses},
        (*unread, _FURTHER) if log.long_lines else unread,
    )


def _chosen(rules: CleaningRules) -> Iterator[tuple[str, str]]:
    """Yield the fields that options read, with their use."""
    yield from ((name, f"member {name}") for name in KEPT_FIELDS if name in rules.keep)
    if rules.cancelled:
        yield from (("status", "whether it was cancelled"), ("wait", "time until it was cancelled"))
    if rules.feedback:
        yield "wait", "end, which others follow"
    if rules.recorded_waits:
        yield "wait", "member recorded_wait"
    if rules.dependencies:
        yield from (("preceding_job", "dependency"), ("think_time", "dependency"))
    if rules.demands:
        yield from (("used_memory", "demand"), ("requested_memory", "demand"))

"""The time zone of the dates of a log that have no offset."""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from batsched_py.errors import WorkloadError
from batsched_py.text.display import shown


def time_zone(file: str, name: str) -> tzinfo:
    """Return the zone of this name, UTC for "". WorkloadError for a name that no zone has."""
    if name in {"", "UTC"}:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise WorkloadError(file, "--zone", f"there is no time zone {shown(name)}") from None

"""The member `recorded_wait` of a job: how long it waited on the machine whose log it is from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from batsched_py.reading.objects import take
from batsched_py.reading.values import seconds

#: The member of a job. It counts from the submission, so that it holds in any part of a workload.
RECORDED_WAIT: Final = "recorded_wait"


def recorded_wait(members: Mapping[str, Any]) -> float | None:
    """Return the seconds from the submission of a job to its start in the log; None if unknown. FieldError."""
    return take(members, RECORDED_WAIT, _READER, None) if RECORDED_WAIT in members else None


_READER: Final = seconds(least=0)

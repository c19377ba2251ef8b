"""The comparison of two futures of leases: differences, and numbers of those that gain or lose."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED
from batsched_py.results.lease_rows import LeaseState
from batsched_py.site.what_if.future import LeaseFuture, LeaseOutcome

#: Final states in which a lease or job has had what it requested.
_SERVED: Final = frozenset({LeaseState.DONE.label, COMPLETED_SUCCESSFULLY, COMPLETED_WALLTIME_REACHED})


class WhatIfCounts(Struct, frozen=True):
    """Numbers of leases and jobs that have not ended.

    Attributes:
        leases: all of them.
        earlier: those that start (or end, if they have started) earlier under the change, or only then before the
            horizon.
        later: those that do so later, or not before the horizon.
        waiting: those that do not start before the horizon without the change.
        changed_waiting: those that do not start before the horizon under the change.
        failed: those that are refused, cancelled or fail without the change.
        changed_failed: those that are refused, cancelled or fail under the change.
    """

    leases: int
    earlier: int
    later: int
    waiting: int
    changed_waiting: int
    failed: int
    changed_failed: int


def count(futures: Sequence[LeaseFuture]) -> WhatIfCounts:
    """Return the numbers of some leases and jobs."""
    shifts = [_shift(future) for future in futures]
    return WhatIfCounts(
        leases=len(futures),
        earlier=sum(shift < 0 for shift in shifts),
        later=sum(shift > 0 for shift in shifts),
        waiting=sum(_waits(future.kept) for future in futures),
        changed_waiting=sum(_waits(future.changed) for future in futures),
        failed=sum(_fails(future.kept) for future in futures),
        changed_failed=sum(_fails(future.changed) for future in futures),
    )


def difference(future: LeaseFuture) -> float | None:
    """Return by how much a lease starts, or ends, later under the change; None if that is no number."""
    before, after = _times(future)
    fails = _fails(future.kept) or _fails(future.changed)
    return None if fails or before is None or after is None else round(after - before, 6)


def _shift(future: LeaseFuture) -> float:
    """Return the difference, infinite if only one of the two is before the horizon, and 0 if one fails."""
    before, after = _times(future)
    if before == after or _fails(future.kept) or _fails(future.changed):
        return 0.0
    return (math.inf if after is None else after) - (math.inf if before is None else before)


def _times(future: LeaseFuture) -> tuple[float | None, float | None]:
    """Return what is compared: the starts, or the ends if the lease has started."""
    kept, changed = future.kept, future.changed
    return (kept.start, changed.start) if future.now.start is None else (kept.end, changed.end)


def _waits(outcome: LeaseOutcome) -> bool:
    return not outcome.final and outcome.start is None


def _fails(outcome: LeaseOutcome) -> bool:
    return outcome.final and outcome.state not in _SERVED

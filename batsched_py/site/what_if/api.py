"""The parts of plays that others use, in one place."""

from __future__ import annotations

from batsched_py.site.what_if.comparison import WhatIfCounts, count, difference
from batsched_py.site.what_if.continuation import Continuation, HorizonReachedError
from batsched_py.site.what_if.future import (
    LeaseFuture,
    LeaseOutcome,
    PlannedChange,
    PlayedAhead,
    PlayFailure,
    SitePlan,
)
from batsched_py.site.what_if.play import play_ahead
from batsched_py.site.what_if.process import play_apart

__all__ = [
    "Continuation",
    "HorizonReachedError",
    "LeaseFuture",
    "LeaseOutcome",
    "PlannedChange",
    "PlayFailure",
    "PlayedAhead",
    "SitePlan",
    "WhatIfCounts",
    "count",
    "difference",
    "play_ahead",
    "play_apart",
]

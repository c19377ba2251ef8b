"""Kinds of leases."""

from __future__ import annotations

from enum import StrEnum


class LeaseKind(StrEnum):
    """Kinds of leases, by their start."""

    #: Starts when it can.
    BEST_EFFORT = "best-effort"
    #: Starts when it is requested, or never.
    IMMEDIATE = "immediate"
    #: Starts at its fixed time, or never.
    ADVANCE = "advance reservation"
    #: Ends by its deadline, or never starts.
    DEADLINE = "deadline"

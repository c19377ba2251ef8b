"""Batsim's final states: in which order they are told, and what they are called."""

from __future__ import annotations

from typing import Final

from batsched_py.protocol.events import (
    COMPLETED_FAILED,
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    COMPLETED_WALLTIME_REACHED,
    REJECTED,
)

#: Each in a word or two, in the order in which they are told.
STATE_NAMES: Final = {
    COMPLETED_SUCCESSFULLY: "successful",
    COMPLETED_FAILED: "failed",
    COMPLETED_WALLTIME_REACHED: "walltime reached",
    COMPLETED_KILLED: "killed",
    REJECTED: "rejected",
}
FINAL_STATES: Final = tuple(STATE_NAMES)

"""Broken rules, on which Batsim aborts; the referee adds when it happened and in which event."""

from __future__ import annotations

from typing import Final

from batsched_py.bits import format_bits
from batsched_py.text.display import displayed

#: Characters of the longest line: names in it are the scheduler's.
_LONGEST: Final = 400


class StoppedError(Exception):
    """Raised if the scheduler ends the simulation: what it said after that is dropped, and so is what would happen."""


class BrokenRuleError(Exception):
    """Raised if a command breaks a rule; names the job and the hosts (a bitmask) it is about, if it is about any."""

    def __init__(self, rule: str, *, job: str = "", hosts: int = 0) -> None:
        about = f"job {displayed(job)} " if job else ""
        where = f"on hosts {format_bits(hosts)} " if hosts else ""
        super().__init__(displayed(f"{about}{where}{rule}", _LONGEST))

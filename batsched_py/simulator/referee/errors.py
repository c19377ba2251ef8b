"""Errors for broken rules, on which Batsim aborts; the referee adds the time and the event."""

from __future__ import annotations

from typing import Final

from batsched_py.bits import format_bits
from batsched_py.text.display import displayed

#: Maximum length of a line, which contains names chosen by the scheduler.
_LONGEST: Final = 400


class StoppedError(Exception):
    """The end of a simulation by the scheduler, whose further commands are dropped, like all future events."""


class BrokenRuleError(Exception):
    """The error for a command that breaks a rule, with the job and the hosts (a bitmask) concerned, if any."""

    def __init__(self, rule: str, *, job: str = "", hosts: int = 0) -> None:
        about = f"job {displayed(job)} " if job else ""
        where = f"on hosts {format_bits(hosts)} " if hosts else ""
        super().__init__(displayed(f"{about}{where}{rule}", _LONGEST))

"""Broken rules: what makes Batsim abort, before the referee says when it happened and in which event."""

from __future__ import annotations

from batsched_py.hostset import format_bits


class BrokenRuleError(Exception):
    """A command breaks a rule; names the job and the hosts (a bitmask) it is about, if it is about any."""

    def __init__(self, rule: str, *, job: str = "", hosts: int = 0) -> None:
        about = f"job {job} " if job else ""
        where = f"on hosts {format_bits(hosts)} " if hosts else ""
        super().__init__(f"{about}{where}{rule}")

"""Constructors of profiles, for the jobs that an algorithm submits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from batsched_py.model.profile import parse_profile


def delay(seconds: float, *, ret: int = 0) -> dict[str, Any]:
    """Make a profile with this duration, more than 0 s, on any hosts. A `ret` other than 0 makes the job fail."""
    return _checked({"type": "delay", "delay": seconds, "ret": ret})


def parallel(cpu: Sequence[float], com: Sequence[float] = (), *, ret: int = 0) -> dict[str, Any]:
    """Make a task of `cpu[i]` flops on the i-th of n hosts, `com[i * n + j]` bytes from the i-th to the j-th."""
    transfers = list(com) or [0.0] * len(cpu) ** 2  # Batsim requires all of them
    return _checked({"type": "parallel", "cpu": list(cpu), "com": transfers, "ret": ret})


def parallel_homogeneous(cpu: float, com: float = 0.0, *, ret: int = 0) -> dict[str, Any]:
    """Make a task of `cpu` flops on each host, `com` bytes between each ordered pair of hosts."""
    return _checked({"type": "parallel_homogeneous", "cpu": cpu, "com": com, "ret": ret})


def parallel_homogeneous_total(cpu: float, com: float = 0.0, *, ret: int = 0) -> dict[str, Any]:
    """Make a task of `cpu` flops in all, shared equally; `com / n` bytes between each ordered pair of n hosts."""
    return _checked({"type": "parallel_homogeneous_total", "cpu": cpu, "com": com, "ret": ret})


def _checked(members: dict[str, Any]) -> dict[str, Any]:
    """Return the members, without a `ret` of 0; FieldError if one is invalid."""
    parse_profile("", members)
    if not members.get("ret"):
        members.pop("ret", None)
    return members

"""Profiles made here rather than read: what an algorithm gives to the jobs that it submits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from batsched_py.model.profile import ProfileError, parse_profile

#: Amounts of work, in seconds, flops or bytes, of the types that can be scaled.
_AMOUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "delay": ("delay",),
    "parallel": ("cpu", "com"),
    "parallel_homogeneous": ("cpu", "com"),
    "parallel_homogeneous_total": ("cpu", "com"),
}


def delay(seconds: float, *, ret: int = 0) -> dict[str, Any]:
    """Lasts so long, whatever the hosts; more than 0 s. `ret` other than 0 makes the job fail at its end."""
    return _checked({"type": "delay", "delay": seconds, "ret": ret})


def parallel(cpu: Sequence[float], com: Sequence[float] = (), *, ret: int = 0) -> dict[str, Any]:
    """`cpu[i]` flops on the i-th of n hosts, `com[i * n + j]` bytes from the i-th to the j-th; for jobs of size n."""
    transfers = list(com) or [0.0] * len(cpu) ** 2  # Batsim wants them all
    return _checked({"type": "parallel", "cpu": list(cpu), "com": transfers, "ret": ret})


def parallel_homogeneous(cpu: float, com: float = 0.0, *, ret: int = 0) -> dict[str, Any]:
    """`cpu` flops on each host, `com` bytes between each ordered pair of hosts."""
    return _checked({"type": "parallel_homogeneous", "cpu": cpu, "com": com, "ret": ret})


def parallel_homogeneous_total(cpu: float, com: float = 0.0, *, ret: int = 0) -> dict[str, Any]:
    """`cpu` flops in all, shared equally by the hosts; `com / n` bytes between each ordered pair of n hosts."""
    return _checked({"type": "parallel_homogeneous_total", "cpu": cpu, "com": com, "ret": ret})


def scaled(profile: Mapping[str, Any], share: float) -> dict[str, Any]:
    """The same profile with `share` times its work: 0.25 is the last quarter of a job that was stopped.

    ValueError for a type whose work has no amount here (a composed profile, say), or if nothing would be left.
    """
    amounts = _AMOUNTS.get(str(profile.get("type")))
    if amounts is None:
        raise ProfileError("type", f"cannot be scaled: {profile.get('type')!r}; {', '.join(_AMOUNTS)} can")
    if not share > 0:
        raise ValueError(f"share must be more than 0, not {share!r}")
    less = {name: _times(profile[name], share) for name in amounts if name in profile}
    return _checked({**profile, **less})


def _times(amount: Any, share: float) -> Any:
    return [number * share for number in amount] if isinstance(amount, list) else amount * share


def _checked(members: dict[str, Any]) -> dict[str, Any]:
    """ProfileError if a member breaks its rule; `ret` only if it says something."""
    parse_profile("", members)
    if not members.get("ret"):
        members.pop("ret", None)
    return members

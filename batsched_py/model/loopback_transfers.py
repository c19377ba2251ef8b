"""Transfers of a parallel task within one host."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.model.profile import Parallel, ParallelHomogeneous, ParallelHomogeneousTotal, Profile


def sends_within_host(profile: Profile, executors: Sequence[int]) -> bool:
    """Return whether a task sends bytes from a host to itself; `executors` lists the host of each executor."""
    if isinstance(profile, (ParallelHomogeneous, ParallelHomogeneousTotal)):
        return profile.com > 0 and len(set(executors)) < len(executors)
    if not isinstance(profile, Parallel) or len(profile.com) != len(executors) ** 2:
        return False
    count = len(executors)
    return any(
        amount > 0 and executors[position // count] == executors[position % count]
        for position, amount in enumerate(profile.com)
    )

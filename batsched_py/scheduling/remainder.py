"""The remainder of a killed job: the work that it had left, from the progress in Batsim's message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from batsched_py.model.profile import (
    Composed,
    DataStaging,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousPfs,
    ParallelHomogeneousTotal,
    Profile,
    ProfileError,
    parse_profile,
)
from batsched_py.protocol.events import Members, Progress

#: Less than this of a delay is nothing, in seconds: Batsim's times have microseconds, and it refuses a delay of 0.
NOTHING: Final = 1e-6
#: The step of a job, or of a part of it, that was killed before it began.
NOT_BEGUN: Final = -1

#: Profile name -> its members, None if they are unknown.
Lookup = Callable[[str], Members | None]


class _UntoldError(Exception):
    """A profile that is unknown, or cannot be read."""


def remainder(progress: Progress, lookup: Lookup) -> tuple[Members, ...] | None:
    """Return profiles that do in turn what was not done, none of them composed; None if a profile is not known.

    A delay is shortened, the flops and bytes of a parallel task are scaled. Other types have no progress in Batsim:
    they are there whole.
    """
    try:
        return tuple(_left(progress, lookup))
    except _UntoldError:
        return None


def _left(progress: Progress, lookup: Lookup) -> Iterator[Members]:
    profile = _read(progress.profile, lookup)
    if progress.step == NOT_BEGUN:
        yield from _whole(profile, lookup)
    elif progress.step is None or not isinstance(profile, Composed):
        done = min(max(progress.progress or 0.0, 0.0), 1.0)
        left = _part(profile, 1.0 - done)
        if left is not None:
            yield left
    else:
        if progress.current is not None:
            yield from _left(progress.current, lookup)
        steps = profile.sequence
        before = (progress.repetition or 0) * len(steps)
        for index in range(before + progress.step + 1, len(steps) * profile.repeat):
            yield from _whole(_read(steps[index % len(steps)], lookup), lookup)


def _whole(profile: Profile, lookup: Lookup) -> Iterator[Members]:
    if not isinstance(profile, Composed):
        yield profile.members
        return
    for _ in range(profile.repeat):
        for step in profile.sequence:
            yield from _whole(_read(step, lookup), lookup)


def _part(profile: Profile, share: float) -> Members | None:
    """Return this share of the profile, None if it is nothing."""
    if share <= 0:
        return None
    if isinstance(profile, Delay):
        left = profile.delay * share
        return {**profile.members, "delay": left} if left >= NOTHING else None
    if isinstance(profile, Parallel):
        amounts = {"cpu": profile.cpu, "com": profile.com}
        scaled = {member: [amount * share for amount in each] for member, each in amounts.items() if each}
        return {**profile.members, **scaled}
    if isinstance(profile, (ParallelHomogeneous, ParallelHomogeneousTotal)):
        return {**profile.members, "cpu": profile.cpu * share, "com": profile.com * share}
    if isinstance(profile, ParallelHomogeneousPfs):
        read, written = profile.bytes_to_read * share, profile.bytes_to_write * share
        return {**profile.members, "bytes_to_read": read, "bytes_to_write": written}
    if isinstance(profile, DataStaging):
        return {**profile.members, "nb_bytes": profile.size * share}
    return profile.members


def _read(name: str, lookup: Lookup) -> Profile:
    members = lookup(name)
    if members is None:
        raise _UntoldError
    try:
        return parse_profile(name, members)
    except ProfileError:
        raise _UntoldError from None

"""The remaining work of a killed job, from the progress in Batsim's message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from batsched_py.model.profile import (
    FORMER_TYPES,
    Composed,
    DataStaging,
    Delay,
    Parallel,
    ParallelHomogeneous,
    ParallelHomogeneousPfs,
    ParallelHomogeneousTotal,
    Profile,
    Receive,
    parse_profile,
)
from batsched_py.protocol.events import Members, Progress
from batsched_py.reading.faults import FieldError
from batsched_py.reading.limits import DEEPEST, LONGEST

#: Shorter delays, in seconds, are omitted: Batsim's times have microseconds, and it refuses a delay of 0.
NOTHING: Final = 1e-6
#: The step of a job, or of a part of it, that was killed before it began.
NOT_BEGUN: Final = -1
#: Maximum number of consecutive profiles of a remainder.
MOST_PARTS: Final = 1000

#: Profile name -> its members, None if they are unknown.
Lookup = Callable[[str], Members | None]


class _UnknownRemainderError(Exception):
    """A profile is unknown, cannot be read, or has too many parts."""


class _Turns:
    """Consecutive profiles, up to the first that fails; consecutive delays are merged."""

    def __init__(self) -> None:
        self.parts: list[Members] = []
        #: The return code of the last one; if it is not 0, nothing follows.
        self.code = 0

    def add(self, members: Members) -> None:
        """Add a profile that is not composed."""
        if self.code:
            return
        self.code = int(members.get("ret", 0))
        if self.parts and self.parts[-1].get("type") == members.get("type") == "delay":
            seconds = min(self.parts[-1]["delay"] + members["delay"], LONGEST)
            self.parts[-1] = {**self.parts[-1], **members, "delay": seconds}
            return
        if len(self.parts) == MOST_PARTS:
            raise _UnknownRemainderError
        self.parts.append(members)

    def extend(self, others: _Turns) -> None:
        """Add all of the others."""
        if not self.code:
            for members in others.parts:
                self.add(members)
            self.code = others.code

    def repeat(self, others: _Turns, times: int) -> None:
        """Add all of the others `times` times, or until one fails."""
        if times > 1 and len(others.parts) == 1 and others.parts[0].get("type") == "delay" and not others.code:
            self.add({**others.parts[0], "delay": min(others.parts[0]["delay"] * times, LONGEST)})
            return
        for _ in range(times if others.parts else min(times, 1)):
            self.extend(others)
            if self.code:
                return

    def end(self, code: int) -> None:
        """Give the last profile the return code of the composed profile, unless it fails itself."""
        if code and not self.code:
            self.code = code
            if self.parts:
                self.parts[-1] = {**self.parts[-1], "ret": code}


def remainder(
    progress: Progress, lookup: Lookup, types: Mapping[str, str] = FORMER_TYPES
) -> tuple[Members, ...] | None:
    """Return the remaining work as consecutive profiles, none of them composed.

    A delay is shortened, the flops and bytes of a parallel task are scaled. Other types have no progress in Batsim and
    are included completely. Consecutive delays of a composed profile are merged, and nothing follows a step that fails.
    None if a profile is not known, or if there would be more than `MOST_PARTS`.

    `types` are names of types that this version of Batsim refuses if they are registered -> its own names.
    """
    try:
        parts = _Remainder(lookup).left(progress).parts
    except _UnknownRemainderError:
        return None
    return tuple([{**part, "type": types[part["type"]]} if part["type"] in types else part for part in parts])


def in_turn(parts: Iterable[Members]) -> tuple[Members, ...]:
    """Return the same work with consecutive delays merged, up to the first profile that fails."""
    turns = _Turns()
    for members in parts:
        turns.add(members)
    return tuple(turns.parts)


class _Remainder:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        #: Profile name -> its complete work, cached because the number of paths through nested profiles grows
        #: exponentially.
        self._whole: dict[str, _Turns] = {}

    def left(self, progress: Progress) -> _Turns:
        profile, turns = self._read(progress.profile), _Turns()
        if progress.step == NOT_BEGUN:
            return self.whole(profile)
        if progress.step is not None and isinstance(profile, Composed):
            if progress.current is not None:
                turns.extend(self.left(progress.current))
            self._follow(turns, profile, (progress.repetition or 0) * len(profile.sequence) + progress.step + 1)
            turns.end(profile.return_code)
        elif progress.current is not None and isinstance(profile, Receive):  # it has received, and continues
            turns.extend(self.left(progress.current))
            turns.end(profile.return_code)
        else:
            done = min(max(progress.progress or 0.0, 0.0), 1.0)
            part = _part(profile, 1.0 - done)
            if part is not None:
                turns.add(part)
            turns.code = profile.return_code
        return turns

    def whole(self, profile: Profile, depth: int = 0) -> _Turns:
        turns = self._whole.get(profile.name)
        if turns is None:
            turns = _Turns()
            if isinstance(profile, Composed):
                if depth == DEEPEST:
                    raise _UnknownRemainderError
                self._follow(turns, profile, 0, depth + 1)
                turns.end(profile.return_code)
            else:
                turns.add(_complete(profile))
            self._whole[profile.name] = turns
        return turns

    def _follow(self, turns: _Turns, profile: Composed, index: int, depth: int = 1) -> None:
        """Add the steps of a composed profile from an index on, which counts through all repetitions."""
        steps = profile.sequence
        rounds, position = divmod(index, len(steps))
        if position:
            rounds += 1
            for step in steps[position:]:
                turns.extend(self.whole(self._read(step), depth))
        if rounds < profile.repeat and not turns.code:
            one = _Turns()
            for step in steps:
                one.extend(self.whole(self._read(step), depth))
            turns.repeat(one, profile.repeat - rounds)

    def _read(self, name: str) -> Profile:
        members = self._lookup(name)
        if members is None:
            raise _UnknownRemainderError
        try:
            return parse_profile(name, members)
        except FieldError:
            raise _UnknownRemainderError from None


def _complete(profile: Profile) -> Members:
    """Return all members that registering a profile requires: files may omit some."""
    if isinstance(profile, Delay) and profile.delay > LONGEST:
        return {**profile.members, "delay": LONGEST}
    if not profile.lacks_transfers:
        return profile.members
    return {**profile.members, "com": [0.0] * len(profile.cpu) ** 2 if isinstance(profile, Parallel) else 0.0}


def _part(profile: Profile, share: float) -> Members | None:
    """Return this share of the profile; None if it is negligible."""
    if share <= 0:
        return None
    members = _complete(profile)
    if isinstance(profile, Delay):
        left = members["delay"] * share
        return {**members, "delay": left} if left >= NOTHING else None
    if isinstance(profile, Parallel):
        return {**members, **{member: [amount * share for amount in members[member]] for member in ("cpu", "com")}}
    if isinstance(profile, (ParallelHomogeneous, ParallelHomogeneousTotal)):
        return {**members, "cpu": profile.cpu * share, "com": profile.com * share}
    if isinstance(profile, ParallelHomogeneousPfs):
        read, written = profile.bytes_to_read * share, profile.bytes_to_write * share
        return {**members, "bytes_to_read": read, "bytes_to_write": written}
    if isinstance(profile, DataStaging):
        return {**members, "nb_bytes": profile.size * share}
    return members

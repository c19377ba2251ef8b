"""The profiles that Batsim sent or the algorithm registered, and those that Batsim has removed since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, parse_profile
from batsched_py.protocol.events import Members
from batsched_py.reading.faults import FieldError


class ProfileStatus(StrEnum):
    """The status of a profile in Batsim."""

    UNKNOWN = "it is not registered"
    THERE = "it exists"
    #: A job that used it, or a composed profile that contains it, has ended. Batsim aborts if it is referenced again.
    GONE = "Batsim forgot it when the first of its jobs had ended; take a new name, or run with --enable-profile-reuse"


class Profiles:
    """The profiles by workload and name.

    With `forgets`, Batsim removes a profile, and the parts of a composed one, after the message with the first end of
    a job that uses it; the reply to that message may still reference it. Other jobs with the profile keep it, so its
    members are available as long as a job with it may arrive or run. Without `forgets`, uses are not counted.
    """

    __slots__ = (
        *("_complete", "_gone", "_idle", "_leaving", "_members", "_registered", "_parts", "_rejected", "_uses"),
        *("forgets", "pending"),
    )

    def __init__(self, known: Mapping[str, Mapping[str, Members]] | None = None, *, forgets: bool = False) -> None:
        self.forgets = forgets
        #: Workload -> name -> members, including removed profiles that are still needed.
        self._members = {workload: dict(profiles) for workload, profiles in (known or {}).items()}
        #: (workload, name) of removed profiles, which may not be referenced.
        self._gone: set[tuple[str, str]] = set()
        #: Profiles of jobs whose ends the latest message announced.
        self._leaving: list[tuple[str, str]] = []
        #: Profiles of jobs rejected since then: Batsim removes them after its next message.
        self._rejected: list[tuple[str, str]] = []
        #: True after all static jobs have been announced.
        self._complete = False
        #: Profiles registered by the algorithm: only known jobs use them.
        self._registered: set[tuple[str, str]] = set()
        #: (workload, name) -> number of uses: jobs that have not ended, and composed profiles that are kept. Absent if
        #: unused.
        self._uses: dict[tuple[str, str], int] = {}
        #: Composed profile -> its parts, without repetition.
        self._parts: dict[tuple[str, str], list[tuple[str, str]]] = {}
        #: Profiles without known uses, while unknown jobs may arrive.
        self._idle: set[tuple[str, str]] = set()
        #: True if `settle` has profiles to remove.
        self.pending = False
        if forgets:
            for workload, profiles in self._members.items():
                for name, members in profiles.items():
                    self._compose(workload, name, members)

    def members(self, workload: str, name: str) -> Members | None:
        """Return the profile's members, even if it is removed; None if they are unknown or no longer needed."""
        return self._members.get(workload, {}).get(name)

    def names(self, workload: str) -> Iterator[str]:
        """Iterate over the names of a workload's profiles that may be referenced."""
        return (name for name in self._members.get(workload, ()) if (workload, name) not in self._gone)

    def status(self, workload: str, name: str) -> ProfileStatus:
        """Return the status of a profile."""
        if (workload, name) in self._gone:
            return ProfileStatus.GONE
        return ProfileStatus.THERE if name in self._members.get(workload, ()) else ProfileStatus.UNKNOWN

    def add(self, workload: str, name: str, members: Members) -> None:
        """Add a profile received with a job."""
        if self.forgets:
            self._compose(workload, name, members)
        self._members.setdefault(workload, {})[name] = members

    def register(self, workload: str, name: str, members: Members) -> None:
        """Add a profile registered by the algorithm."""
        self.add(workload, name, members)
        if self.forgets:
            self._registered.add((workload, name))

    def use(self, job: Job) -> None:
        """Count one more job that uses its profile."""
        self._need((job.workload, job.profile))

    def release(self, job: Job) -> None:
        """Record the end of a job in the latest message: after the reply its profile may not be referenced."""
        self._leaving.append((job.workload, job.profile))
        self.pending = True

    def leave(self, job: Job) -> None:
        """Record the rejection of a job: Batsim removes its profile after its next message."""
        self._rejected.append((job.workload, job.profile))
        self.pending = True

    def complete(self) -> None:
        """Drop unused profiles after the last static job."""
        self._complete = True
        for key in sorted(self._idle):
            for part in self._drop(key):
                self._release(part)
        self._idle.clear()

    def settle(self) -> None:
        """Remove the profiles of jobs whose ends the previous message announced."""
        leaving, self._leaving, self._rejected = self._leaving, self._rejected, []
        self.pending = bool(self._leaving)
        for key in leaving:
            self._forget(key)
            self._release(key)

    def _compose(self, workload: str, name: str, members: Members) -> None:
        """Count a new composed profile among the uses of its parts."""
        key = workload, name
        if members.get("type") != "composed" or key in self._parts:
            return
        try:
            profile = parse_profile(name, members)
        except FieldError:  # Batsim has already accepted it
            return
        if isinstance(profile, Composed):
            self._parts[key] = [(workload, part) for part in profile.parts]
            for part in self._parts[key]:
                self._need(part)

    def _forget(self, key: tuple[str, str]) -> None:
        """Mark a profile and its parts as removed; iteratively, because a peer may nest them arbitrarily deep."""
        found = [key]
        while found:
            known = found.pop()
            if known not in self._gone:
                self._gone.add(known)
                found += self._parts.get(known, ())

    def _need(self, key: tuple[str, str]) -> None:
        self._uses[key] = self._uses.get(key, 0) + 1
        self._idle.discard(key)

    def _release(self, key: tuple[str, str]) -> None:
        """Remove one use; after the last one drop the members, unless an unknown job with the profile may arrive."""
        released = [key]
        while released:
            known = released.pop()
            left = self._uses.pop(known, 0) - 1
            if left > 0:
                self._uses[known] = left
            elif self._complete or known in self._registered:
                released += self._drop(known)
            else:
                self._idle.add(known)

    def _drop(self, key: tuple[str, str]) -> Sequence[tuple[str, str]]:
        """Drop its members, and return its parts, which must be released."""
        workload, name = key
        self._registered.discard(key)
        self._members.get(workload, {}).pop(name, None)
        return self._parts.pop(key, ())

"""The profiles that Batsim told of or we registered, and those of them that it has forgotten since (E8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum

from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, ProfileError, parse_profile
from batsched_py.protocol.events import Members


class Standing(StrEnum):
    """What we know of a profile in Batsim."""

    UNKNOWN = "it is not registered"
    THERE = "it exists"
    #: Nothing needs it any more. Batsim aborts if it is used; what becomes of its name nobody has seen.
    GONE = "Batsim forgot it with its last job; take a new name, or run with --enable-profile-reuse"
    #: As before, but jobs of its workload file are still to come, and they may name it.
    DOUBTFUL = (
        "Batsim may have forgotten it with its last job, and only Batsim knows whether another is still to come; "
        "take a new name, or run with --enable-profile-reuse"
    )


class Profiles:
    """Profiles by workload and name.

    With `forgets`, Batsim drops a profile together with the last that needs it, a job that names it or a composed
    profile of which it is a part; otherwise nothing is counted.
    """

    __slots__ = (
        *("_complete", "_doubtful", "_dropped", "_leaving", "_members", "_own", "_parts", "_uses"),
        *("forgets", "pending"),
    )

    def __init__(self, known: Mapping[str, Mapping[str, Members]] | None = None, *, forgets: bool = False) -> None:
        self.forgets = forgets
        #: Workload -> name -> members; those that went since the latest message are still here, to be read.
        self._members = {workload: dict(profiles) for workload, profiles in (known or {}).items()}
        #: True once no job can come that we have not heard of.
        self._complete = False
        #: Profiles that we registered: no job names them but those we know.
        self._own: set[tuple[str, str]] = set()
        #: (workload, name) -> what needs it: jobs that name it and are not forgotten, and profiles that are composed of
        #: it and are neither gone nor doubtful. Absent if there never was any.
        self._uses: dict[tuple[str, str], int] = {}
        #: Composed profile -> its parts, each once.
        self._parts: dict[tuple[str, str], list[tuple[str, str]]] = {}
        #: Without anything we know of that needs it, while unknown jobs may come.
        self._doubtful: set[tuple[str, str]] = set()
        #: Gone since the latest message.
        self._dropped: set[tuple[str, str]] = set()
        #: Jobs that we rejected since: Batsim forgets them with its next message.
        self._leaving: list[Job] = []
        #: True if `settle` has something to do.
        self.pending = False
        if forgets:
            for workload, profiles in self._members.items():
                for name, members in profiles.items():
                    self._compose(workload, name, members)

    def members(self, workload: str, name: str) -> Members | None:
        """The profile's members, None if nobody told; also of one that is gone since the latest message."""
        return self._members.get(workload, {}).get(name)

    def names(self, workload: str) -> Iterator[str]:
        """Names of the profiles of a workload that are there."""
        return (name for name in self._members.get(workload, ()) if (workload, name) not in self._dropped)

    def standing(self, workload: str, name: str) -> Standing:
        """What has become of it."""
        key = workload, name
        if key in self._doubtful:
            return Standing.DOUBTFUL
        if key in self._uses:
            return Standing.THERE if self._uses[key] else Standing.GONE
        return Standing.THERE if name in self._members.get(workload, ()) else Standing.UNKNOWN

    def add(self, workload: str, name: str, members: Members) -> None:
        """It came along with a job."""
        if self.forgets:
            self._compose(workload, name, members)
        self._members.setdefault(workload, {})[name] = members

    def register(self, workload: str, name: str, members: Members) -> None:
        """We registered it."""
        self.add(workload, name, members)
        if self.forgets:
            self._own.add((workload, name))

    def use(self, job: Job) -> None:
        """One more job names its profile."""
        self._need((job.workload, job.profile))

    def release(self, job: Job) -> None:
        """Batsim has forgotten this job, and with the last one its profile."""
        self._release((job.workload, job.profile))

    def leave(self, job: Job) -> None:
        """We rejected this job; Batsim forgets it with its next message."""
        self._leaving.append(job)
        self.pending = True

    def complete(self) -> None:
        """No static job is still to come: what was doubtful is gone."""
        self._complete = True
        for key in sorted(self._doubtful):  # their parts were released when they became doubtful
            self._drop(key)
        self._doubtful.clear()

    def settle(self) -> None:
        """A message has come: rejected jobs are forgotten, and what went before it can no longer be read."""
        for workload, name in self._dropped:
            self._members.get(workload, {}).pop(name, None)
        self._dropped.clear()
        self.pending = False
        leaving, self._leaving = self._leaving, []
        for job in leaving:
            self.release(job)

    def _compose(self, workload: str, name: str, members: Members) -> None:
        """A composed profile that is new needs its parts."""
        key = workload, name
        if members.get("type") != "composed" or key in self._parts:
            return
        try:
            profile = parse_profile(name, members)
        except ProfileError:  # Batsim has read it, whatever it is
            return
        if isinstance(profile, Composed):
            self._parts[key] = [(workload, part) for part in profile.parts]
            for part in self._parts[key]:
                self._need(part)

    def _need(self, key: tuple[str, str]) -> None:
        self._uses[key] = self._uses.get(key, 0) + 1
        if key in self._doubtful:
            self._doubtful.discard(key)
            for part in self._parts.get(key, ()):
                self._need(part)

    def _release(self, key: tuple[str, str]) -> None:
        """One need less; with the last one it goes, or becomes doubtful, and needs its parts no more."""
        left = self._uses.get(key, 0) - 1
        self._uses[key] = max(left, 0)
        if left > 0:
            return
        if self._complete or key in self._own:
            self._drop(key)
        else:
            self._doubtful.add(key)
        for part in self._parts.get(key, ()):
            self._release(part)

    def _drop(self, key: tuple[str, str]) -> None:
        self._own.discard(key)
        self._dropped.add(key)
        self.pending = True

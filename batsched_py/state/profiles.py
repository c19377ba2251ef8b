"""The profiles that Batsim sent or we registered, and those of them that it has forgotten since."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from batsched_py.model.job import Job
from batsched_py.model.profile import Composed, ProfileError, parse_profile
from batsched_py.protocol.events import Members


class ProfileStatus(StrEnum):
    """The status of a profile in Batsim."""

    UNKNOWN = "it is not registered"
    THERE = "it exists"
    #: A job that named it, or a composed profile of which it is a part, has ended. Batsim aborts if it is named again.
    GONE = "Batsim forgot it when the first of its jobs had ended; take a new name, or run with --enable-profile-reuse"


class Profiles:
    """Profiles by workload and name.

    With `forgets`, Batsim drops a profile, and the parts of a composed one, after the message with the first end
    of a job that names it; the reply to that message may still name it. Other jobs that have the profile keep it, and
    so its members can be read as long as a job may come or run that has it. Otherwise nothing is counted.
    """

    __slots__ = (
        *("_complete", "_gone", "_idle", "_leaving", "_members", "_own", "_parts", "_rejected", "_uses"),
        *("forgets", "pending"),
    )

    def __init__(self, known: Mapping[str, Mapping[str, Members]] | None = None, *, forgets: bool = False) -> None:
        self.forgets = forgets
        #: Workload -> name -> members, also of profiles that are gone but still needed.
        self._members = {workload: dict(profiles) for workload, profiles in (known or {}).items()}
        #: (workload, name) of profiles that may not be named any more.
        self._gone: set[tuple[str, str]] = set()
        #: Profiles of jobs whose end the latest message announced.
        self._leaving: list[tuple[str, str]] = []
        #: Profiles of jobs that we rejected since: Batsim forgets them after its next message.
        self._rejected: list[tuple[str, str]] = []
        #: True once no job can come that we have not heard of.
        self._complete = False
        #: Profiles that we registered: no job names them but those we know.
        self._own: set[tuple[str, str]] = set()
        #: (workload, name) -> what needs its members: jobs that name it and have not ended, and composed profiles that
        #: are kept. Absent if nothing does.
        self._uses: dict[tuple[str, str], int] = {}
        #: Composed profile -> its parts, each once.
        self._parts: dict[tuple[str, str], list[tuple[str, str]]] = {}
        #: Needed by nothing we know of, while unknown jobs may come.
        self._idle: set[tuple[str, str]] = set()
        #: True if `settle` has something to do.
        self.pending = False
        if forgets:
            for workload, profiles in self._members.items():
                for name, members in profiles.items():
                    self._compose(workload, name, members)

    def members(self, workload: str, name: str) -> Members | None:
        """Return the profile's members, also of one that is gone; None if they are unknown or no longer needed."""
        return self._members.get(workload, {}).get(name)

    def names(self, workload: str) -> Iterator[str]:
        """Iterate over the names of a workload's profiles that may still be named."""
        return (name for name in self._members.get(workload, ()) if (workload, name) not in self._gone)

    def status(self, workload: str, name: str) -> ProfileStatus:
        """Return what has become of a profile."""
        if (workload, name) in self._gone:
            return ProfileStatus.GONE
        return ProfileStatus.THERE if name in self._members.get(workload, ()) else ProfileStatus.UNKNOWN

    def add(self, workload: str, name: str, members: Members) -> None:
        """Add a profile that came along with a job."""
        if self.forgets:
            self._compose(workload, name, members)
        self._members.setdefault(workload, {})[name] = members

    def register(self, workload: str, name: str, members: Members) -> None:
        """Add a profile that we registered."""
        self.add(workload, name, members)
        if self.forgets:
            self._own.add((workload, name))

    def use(self, job: Job) -> None:
        """Count one more job that names its profile."""
        self._need((job.workload, job.profile))

    def release(self, job: Job) -> None:
        """Book the end of a job in the latest message: after the reply its profile may not be named any more."""
        self._leaving.append((job.workload, job.profile))
        self.pending = True

    def leave(self, job: Job) -> None:
        """Book that we rejected a job: Batsim forgets it after its next message."""
        self._rejected.append((job.workload, job.profile))
        self.pending = True

    def complete(self) -> None:
        """Drop what nothing needs: no static job is still to come."""
        self._complete = True
        for key in sorted(self._idle):
            for part in self._drop(key):
                self._release(part)
        self._idle.clear()

    def settle(self) -> None:
        """Forget the profiles of jobs whose end the message before announced."""
        leaving, self._leaving, self._rejected = self._leaving, self._rejected, []
        self.pending = bool(self._leaving)
        for key in leaving:
            self._forget(key)
            self._release(key)

    def _compose(self, workload: str, name: str, members: Members) -> None:
        """Count a new composed profile among the needs of its parts."""
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

    def _forget(self, key: tuple[str, str]) -> None:
        """Mark a profile and its parts as gone; iteratively, because a peer may nest them as deep as it likes."""
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
        """Take back one need; after the last one drop the members, unless an unknown job may come that names them."""
        released = [key]
        while released:
            known = released.pop()
            left = self._uses.pop(known, 0) - 1
            if left > 0:
                self._uses[known] = left
            elif self._complete or known in self._own:
                released += self._drop(known)
            else:
                self._idle.add(known)

    def _drop(self, key: tuple[str, str]) -> Sequence[tuple[str, str]]:
        """Forget its members; its parts are to be released."""
        workload, name = key
        self._own.discard(key)
        self._members.get(workload, {}).pop(name, None)
        return self._parts.pop(key, ())

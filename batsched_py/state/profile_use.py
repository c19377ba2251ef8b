"""Which profiles are in use: real Batsim 4 forgets a profile with its last job, and never takes its name again (E8)."""

from __future__ import annotations

from batsched_py.model.job import Job

#: A profile's workload and name.
Key = tuple[str, str]


class ProfileUse:
    """Counts, for each profile, the jobs that name it and have not ended."""

    __slots__ = ("_leaving", "_own", "_users", "all_submitted")

    def __init__(self) -> None:
        #: Profile -> its jobs that have not ended; 0 once the last has. Absent until a job names it.
        self._users: dict[Key, int] = {}
        #: Profiles that we registered: no job names them but those we know.
        self._own: set[Key] = set()
        #: Jobs that were rejected since the latest message; Batsim forgets them when it speaks again.
        self._leaving: list[Job] = []
        #: True once Batsim has said that no static job is left: until then one may come that we do not know.
        self.all_submitted = False

    def own(self, workload: str, name: str) -> None:
        """We registered this profile."""
        self._own.add((workload, name))

    def take(self, job: Job) -> None:
        """A job came, or we registered one."""
        key = job.workload, job.profile
        self._users[key] = self._users.get(key, 0) + 1

    def release(self, job: Job) -> None:
        """A job has ended, and Batsim has told so."""
        self._users[job.workload, job.profile] -= 1

    def reject(self, job: Job) -> None:
        """A job will be forgotten when Batsim speaks again."""
        self._leaving.append(job)

    def advance(self) -> None:
        """Batsim has spoken."""
        for job in self._leaving:
            self.release(job)
        self._leaving.clear()

    def is_gone(self, workload: str, name: str) -> bool:
        """True if Batsim has forgotten the profile for certain."""
        key = workload, name
        return self._users.get(key) == 0 and (self.all_submitted or key in self._own)

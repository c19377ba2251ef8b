"""The link to the store of a run with job descriptions in the store instead of messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from batsched_py.metadata.store import JobStore, Members, ProfileName
from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.protocol.commands import Command, RegisterJob
from batsched_py.protocol.fields import read_job
from batsched_py.reading.faults import FieldError
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.wire.rounding import wire_members


class StoreLink:
    """A writer of jobs at their submission, as in Batsim, and a reader of registered ones; nothing is deleted."""

    def __init__(self, store: JobStore, *, forward_profiles: bool, read_profiles: bool) -> None:
        """Take the store; profiles are written with jobs if they are forwarded, or read for registered jobs."""
        self._store, self._reads_profiles = store, read_profiles
        self._with_profiles = forward_profiles or read_profiles
        #: Profiles written in this run.
        self._written: set[ProfileName] = set()
        #: Id -> description of each job registered by the current reply.
        self._registered: Mapping[str, Members] = {}
        #: Profiles referenced by these jobs; empty if they are not read.
        self._profiles: Mapping[ProfileName, Members] = {}

    def begin(self, host_count: int) -> None:
        """Write the entries that Batsim writes at its start. StoreError."""
        self._store.put_host_count(host_count)

    def write(self, submitted: Iterable[tuple[Job, Profile]]) -> None:
        """Write jobs that are submitted together in one operation. StoreError."""
        jobs = {}
        profiles = {}
        for job, profile in submitted:
            jobs[job.id] = job.members
            if self._with_profiles and (name := (job.workload, job.profile)) not in self._written:
                self._written.add(name)
                profiles[name] = wire_members(profile.members)
        self._store.put(jobs, profiles)

    def read(self, commands: Sequence[Command]) -> None:
        """Read all jobs registered by a reply before any command is applied, as Batsim does. StoreError."""
        job_ids = [command.job_id for command in commands if type(command) is RegisterJob]
        if not job_ids:
            return
        self._registered = found = self._store.jobs(job_ids)
        if self._reads_profiles:
            names = [(job_id.partition("!")[0], str(members.get("profile"))) for job_id, members in found.items()]
            self._profiles = self._store.profiles(names)

    def described(self, command: RegisterJob) -> Job:
        """Return the job that a command of the current reply names. BrokenRuleError if Batsim would abort on it."""
        job_id = command.job_id
        if command.job is not None or command.profile is not None:
            raise BrokenRuleError("is described in the message, but with Redis its key is read", job=job_id)
        members = self._registered.get(job_id)
        if members is None:
            raise BrokenRuleError(f"is not described: {self._store.place(job_id)}: is missing", job=job_id)
        if "subtime" not in members:
            raise BrokenRuleError(f"has no subtime, which Batsim needs: {self._store.place(job_id)}", job=job_id)
        try:
            return read_job(job_id, dict(members))
        except FieldError as error:
            raise BrokenRuleError(
                f"is not described: {self._store.place(job_id)}: {error.path.removeprefix('job.')} {error.rule}",
                job=job_id,
            ) from None

    def profile(self, job: Job) -> Members | None:
        """Return the profile of a job of the current reply, if it exists and profiles are read."""
        return self._profiles.get((job.workload, job.profile))

"""Registration: jobs and profiles that the scheduler adds while the simulation runs."""

from __future__ import annotations

from batsched_py.model.job import Job
from batsched_py.protocol.commands import RegisterJob, RegisterProfile
from batsched_py.protocol.events import CONTINUE_REGISTRATION, REGISTRATION_FINISHED, Members, Notify
from batsched_py.protocol.fields import is_job_number, shown
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.lifecycle import Jobs
from batsched_py.simulator.jobs.profiles import ProfileStore, UnusableError, check_profile, wire_job
from batsched_py.simulator.jobs.submissions import Submissions
from batsched_py.simulator.referee.errors import BrokenRuleError


class Registration:
    """Whether jobs may still be registered, and all ids that were ever used."""

    def __init__(self, context: Context, profile_store: ProfileStore, jobs: Jobs, submissions: Submissions) -> None:
        self._context, self._profiles, self._jobs, self._submissions = context, profile_store, jobs, submissions
        self._settings = context.settings
        #: Ids of all jobs, static and registered, ended ones too; empty if jobs cannot be registered.
        self._used_ids = submissions.job_ids() if context.settings.dynamic_jobs else set()
        #: True until the scheduler says that it will register nothing more; never true if it may not.
        self.open = context.settings.dynamic_jobs
        self.count = 0

    def register_profile(self, command: RegisterProfile) -> None:
        """Add a profile to a workload, which is made if it is new."""
        self._check_enabled()
        self._add_profile(command.workload, command.name, command.profile)

    def _add_profile(self, workload: str, name: str, members: Members) -> None:
        self._profiles.add(workload, name, members, self._context.dialect, self._context.approximations)

    def register_job(self, command: RegisterJob) -> None:
        """Submit a job, at once whatever its `subtime`."""
        self._check_enabled()
        job, talks = self._checked(command)
        profile = self._profiles.by_workload[job.workload].by_name[job.profile]
        self._used_ids.add(job.id)
        self._profiles.need(job.workload, job.profile, talks=talks)
        self.count += 1
        self._jobs.submit(job, profile)
        if self._settings.acknowledges:
            self._submissions.announce(job, profile)

    def notify(self, command: Notify) -> None:
        """The scheduler has finished to register, or goes on."""
        if command.kind == REGISTRATION_FINISHED:
            self.open = False
        elif command.kind == CONTINUE_REGISTRATION:
            self.open = self._settings.dynamic_jobs

    def _as_submitted(self, command: RegisterJob, job: Job) -> Job:
        """v1.4: the profile may travel along (one that exists stays), and ids may be numbers."""
        workload, members, stored = job.workload, dict(job.members), self._context.stored
        profiles = self._profiles.by_workload.get(workload)
        profile = command.profile if stored is None else stored.profile(job)
        if profile is not None and (profiles is None or job.profile not in profiles.by_name):
            self._add_profile(workload, job.profile, profile)
        if type(members.get("id")) is int:
            members["id"] = str(members["id"])
        return Job(job.id, job.submit_time, job.size, job.walltime, job.profile, members)

    def _check_enabled(self) -> None:
        if not self._settings.dynamic_jobs:
            raise BrokenRuleError("needs dynamic jobs to be enabled (--enable-dynamic-jobs)")

    def _checked(self, command: RegisterJob) -> tuple[Job, bool]:
        """The job, and whether it talks with the scheduler."""
        job_id, described, stored = command.job_id, command.job, self._context.stored
        if stored is not None:
            described = stored.described(command)
        elif described is None:
            raise BrokenRuleError("has no description, and there is no Redis to find it in", job=job_id)
        if self._context.is_v14:
            if not is_job_number(described.name):
                raise BrokenRuleError(f"must be named by an integer, not {shown(described.name)}", job=job_id)
            described = self._as_submitted(command, described)
        job = wire_job(described, job_id)
        written = described.members.get("id", job_id)
        if written not in (job_id, job.name):
            raise BrokenRuleError(f"has another id in its description: {shown(written)}", job=job_id)
        if job_id in self._used_ids:
            raise BrokenRuleError("has an id that was used before", job=job_id)
        profiles = self._profiles.by_workload.get(job.workload)
        if profiles is None:
            raise BrokenRuleError(f"belongs to the workload {job.workload}, which does not exist", job=job_id)
        try:
            profiles.check_known(job.profile)
            return job, check_profile(profiles.by_name, job.profile, job.size)
        except UnusableError as error:
            raise BrokenRuleError(f"cannot run its profile: {error}", job=job_id) from None

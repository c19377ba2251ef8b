"""Registration: jobs and profiles that the scheduler adds while the simulation runs."""

from __future__ import annotations

from collections.abc import Callable

from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.protocol.commands import RegisterJob, RegisterProfile
from batsched_py.protocol.events import CONTINUE_REGISTRATION, REGISTRATION_FINISHED, Notify
from batsched_py.protocol.fields import is_job_number
from batsched_py.reading.faults import FieldError
from batsched_py.simulator.context import Context
from batsched_py.simulator.jobs.profiles import ProfileStore, check_profile
from batsched_py.simulator.referee.errors import BrokenRuleError
from batsched_py.simulator.wire.rounding import wire_job
from batsched_py.text.display import shown


class Registration:
    """The registration of jobs and profiles, and the set of all ids ever used."""

    def __init__(
        self, context: Context, profiles: ProfileStore, submit: Callable[[Job, Profile], None], used_ids: set[str]
    ) -> None:
        """Take the parts it uses; `used_ids` are the ids of static jobs, not needed if jobs cannot be registered."""
        self._context, self._profiles, self._submit = context, profiles, submit
        self._enabled = context.settings.dynamic_jobs or context.generation.greets
        #: Ids of all static and registered jobs, including ended ones.
        self._used_ids = used_ids
        #: True until the scheduler announces the end of registration; always False if registration is disabled.
        self.open = context.settings.dynamic_jobs
        self.count = 0

    def register_profile(self, command: RegisterProfile) -> None:
        """Add a profile to a workload, which is created if it is new."""
        self._check_enabled()
        self._profiles.add(command.workload, command.name, command.profile)

    def register_job(self, command: RegisterJob) -> None:
        """Submit a job immediately, independent of its `subtime`."""
        self._check_enabled()
        job, talks = self._checked(command)
        self._used_ids.add(job.id)
        self._profiles.need(job.workload, job.profile, talks=talks)
        self.count += 1
        self._submit(job, self._profiles.by_workload[job.workload].by_name[job.profile])

    def notify(self, command: Notify) -> None:
        """Record that the scheduler has finished or resumed registration."""
        if command.kind == REGISTRATION_FINISHED:
            self.open = False
        elif command.kind == CONTINUE_REGISTRATION:
            self.open = self._enabled

    def _check_enabled(self) -> None:
        if not self._enabled:
            raise BrokenRuleError("needs dynamic jobs to be enabled (--enable-dynamic-jobs)")

    def _checked(self, command: RegisterJob) -> tuple[Job, bool]:
        """Return the job, and whether it communicates with the scheduler."""
        job_id, described, store = command.job_id, command.job, self._context.store
        if store is not None:
            described = store.described(command)
        elif described is None:
            raise BrokenRuleError("has no description, and there is no Redis to find it in", job=job_id)
        if self._context.generation.jobs_are_numbers and not is_job_number(described.name):
            raise BrokenRuleError(f"must be named by a whole number, not {shown(described.name)}", job=job_id)
        if self._context.generation.profiles_come_with_jobs:
            described = self._with_profile(command, described)
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
        except FieldError as error:
            raise BrokenRuleError(f"cannot run its profile: {error.path} {error.rule}", job=job_id) from None

    def _with_profile(self, command: RegisterJob, job: Job) -> Job:
        """Add the profile in the command, unless its name is in use; ids may be numbers."""
        store, profiles = self._context.store, self._profiles.by_workload.get(job.workload)
        profile = command.profile if store is None else store.profile(job)
        if profile is not None and (profiles is None or job.profile not in profiles.by_name):
            self._profiles.add(job.workload, job.profile, profile)
        members = dict(job.members)
        if type(members.get("id")) is int:
            members["id"] = str(members["id"])
        return Job(job.id, job.submit_time, job.size, job.walltime, job.profile, members, job.demand)

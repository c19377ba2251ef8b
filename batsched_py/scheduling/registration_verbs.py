"""Verbs of the Plan that register jobs and profiles of the algorithm, and finish registration."""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

from batsched_py.errors import PlanError
from batsched_py.model.job import Job
from batsched_py.model.profile import Profile
from batsched_py.protocol import events
from batsched_py.protocol.commands import Command, RegisterJob, RegisterProfile
from batsched_py.protocol.events import Members
from batsched_py.reading.limits import NAME_RULE, breaks_csv
from batsched_py.scheduling.arguments import id_of
from batsched_py.scheduling.checks import (
    conditions_fault,
    insist,
    job_fault,
    missing,
    pair_fault,
    profile_fault,
    typed_profile,
)
from batsched_py.scheduling.recurring_verbs import RecurringVerbs
from batsched_py.state.profiles import ProfileStatus
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds


class RegistrationVerbs(RecurringVerbs):
    """The verbs for jobs and profiles of the algorithm."""

    __slots__ = ()

    @abstractmethod
    def _write(self, what: str, command: Command) -> None:
        """Write a command for the reply; PlanError if that is impossible in this dialect."""

    def register_profile(self, workload: str, name: str, profile: Members) -> None:
        """Register a profile for own jobs; its name must be new in the workload, which is created if new."""
        what = f"register profile {displayed(workload)}!{displayed(name)}"
        self._check_registration(what)
        status = self._state.profiles.status(workload, name)
        if status is not ProfileStatus.UNKNOWN:
            raise PlanError(f"{what}: {status}")
        self._send(self._new_profile(what, workload, name, typed_profile(name, profile), profile))

    def submit(self, job: Job, profile: Members | None = None) -> None:
        """Submit a job of the algorithm (see Job.create) now, with its profile if that is not registered yet.

        An equal registered profile may be given again. With acknowledgement, the job waits from the next message on;
        without, it may be started at once. If it needs more hosts than there are, it will be rejected like any other
        job.
        """
        what = f"submit {displayed(id_of('submit', job))}"
        if "subtime" not in job.members:
            members = {"id": job.id, "subtime": self.timestamp, **job.members}
            job = Job(job.id, self.timestamp, job.size, job.walltime, job.profile, members, job.demand)
        self._submit(what, job, profile, is_read=False)

    def submit_read(self, job: Job, profile: Members | None) -> None:
        """Submit a job that was read from its members, like `submit`, for the engine."""
        self._submit(f"submit {displayed(job.id)}", job, profile, is_read=True)

    def _submit(self, what: str, job: Job, profile: Members | None, *, is_read: bool) -> None:
        self._check_registration(what)
        self._check_job(what, job, is_read=is_read)
        known = self._known_profile(what, job, profile)
        members = known if profile is None else profile
        if members is None:
            raise PlanError(f"{what}: profile {job.profile} is not registered in workload {job.workload}")
        typed = typed_profile(job.profile, members)
        insist(what, pair_fault(job, typed, partial(self._state.profiles.members, job.workload)))
        command = RegisterJob(self.timestamp, job.id, job)
        self._write(what, command)
        if known is None:
            whose = f"{what}: profile {displayed(job.profile)}"
            self._send(self._new_profile(whose, job.workload, job.profile, typed, members))
        self._send(command)

    def finish_registration(self) -> None:
        """Declare that the algorithm will submit no more jobs; without this the simulation never ends.

        Jobs that were submitted before, even in this plan, still run.
        """
        self._check_registration("finish registration")
        self._send(events.Notify(self.timestamp, events.REGISTRATION_FINISHED))

    def continue_registration(self) -> None:
        """Revoke `finish_registration`."""
        if not self._state.config.dynamic_jobs or self._state.registration_open:
            raise PlanError("continue registration: it was not finished")
        insist("continue registration", missing(self.dialect, "continue"))
        self._send(events.Notify(self.timestamp, events.CONTINUE_REGISTRATION))

    def _check_job(self, what: str, job: Job, *, is_read: bool) -> None:
        """Check a job to be submitted as Batsim does."""
        if job.id in self._state.known:
            raise PlanError(f"{what}: this id was used before")
        insist(what, job_fault(job, self.dialect, is_read=is_read))
        insist(what, conditions_fault(self._state, job))
        if job.submit_time > self.timestamp:
            later = "Batsim submits at once; to submit later, ask for a call (wake_at)"
            raise PlanError(f"{what}: its submit_time {seconds(job.submit_time)} is later than now; {later}")

    def _known_profile(self, what: str, job: Job, members: Members | None) -> Members | None:
        """Return the members of the job's profile if it is registered; None if it never was."""
        status = self._state.profiles.status(job.workload, job.profile)
        if status is ProfileStatus.UNKNOWN:
            return None
        if status is not ProfileStatus.THERE:
            raise PlanError(f"{what}: profile {job.profile}: {status}")
        known = self._state.profiles.members(job.workload, job.profile)
        if members is not None and known != members:
            raise PlanError(f"{what}: profile {job.profile} of workload {job.workload} has other members")
        return known

    def _new_profile(
        self, what: str, workload: str, name: str, typed: Profile | str, members: Members
    ) -> RegisterProfile:
        """Return the command that registers a profile, after the checks of Batsim and those against later crashes."""
        profiles = self._state.profiles
        if not workload or "!" in workload or breaks_csv(workload):
            raise PlanError(f"{what}: a workload's name must have no exclamation mark, and {NAME_RULE}")
        insist(what, profile_fault(name, typed, self.dialect, partial(profiles.members, workload)))
        command = RegisterProfile(self.timestamp, workload, name, dict(members))
        self._write(what, command)
        return command

    def _check_registration(self, what: str) -> None:
        if not self._state.config.dynamic_jobs:
            asked = "was not asked for dynamic jobs: the algorithm has no needs_dynamic_jobs"
            raise PlanError(f"{what}: Batsim {asked if self.dialect.is_v5 else 'runs without --enable-dynamic-jobs'}")
        if not self._state.registration_open:
            raise PlanError(f"{what}: registration was finished before")

"""Jobs described in a store: filled in when they come, put there when we submit our own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from batsched_py.errors import LocalProtocolError, StoreError
from batsched_py.metadata.store import JobStore, Members, ProfileName
from batsched_py.protocol.commands import Command, RegisterJob, RegisterProfile
from batsched_py.protocol.dialects import V14, Dialect
from batsched_py.protocol.events import Event, JobSubmitted
from batsched_py.protocol.fields import FieldError, check_finite
from batsched_py.protocol.jobs import read_job


def describe(events: Sequence[Event], store: JobStore, *, with_profiles: bool) -> Sequence[Event]:
    """The events of a message, submissions with their jobs and, `with_profiles`, those of their profiles that exist.

    All jobs are read at once, then all profiles. StoreError if a job is not there, or breaks a rule.
    """
    job_ids = [event.job_id for event in events if type(event) is JobSubmitted and event.job is None]
    if not job_ids:
        return events
    found = store.jobs(job_ids)
    jobs = {}
    for job_id in job_ids:
        members = found.get(job_id)
        if members is None:
            raise StoreError(f"{store.place(job_id)}: is missing, but Batsim has submitted this job")
        try:
            jobs[job_id] = read_job(job_id, members)
        except FieldError as error:
            raise StoreError(f"{store.place(job_id)}: {error.path.removeprefix('job.')} {error.rule}") from None
    names: dict[str, ProfileName] = {}
    profiles = {}
    if with_profiles:
        names = {job_id: (job.workload, job.profile) for job_id, job in jobs.items()}
        profiles = dict(store.profiles(list(dict.fromkeys(names.values()))))
    return [
        JobSubmitted(
            event.timestamp,
            event.job_id,
            jobs[event.job_id],
            profiles.get(names[event.job_id]) if with_profiles else None,
            event.extra,
        )
        if type(event) is JobSubmitted and event.job is None
        else event
        for event in events
    ]


def deposit(commands: Sequence[Command], store: JobStore, dialect: Dialect) -> Sequence[Command]:
    """Put registered jobs in the store, all at once, and only name them; so too profiles in v1.4.

    LocalProtocolError for what Batsim would refuse when it reads the store; nothing is put there then.
    """
    jobs: dict[str, Members] = {}
    profiles: dict[ProfileName, Members] = {}
    left: list[Command] = []
    for command in commands:
        try:
            if type(command) is RegisterJob and command.job is not None:
                jobs[command.job_id] = _written(command, dialect)
                left.append(replace(command, job=None))
            elif type(command) is RegisterProfile and dialect is V14:
                check_finite(command.profile, "profile")
                profiles[command.workload, command.name] = command.profile
            else:
                left.append(command)
        except FieldError as error:
            raise LocalProtocolError(f"events[{len(left)}].data.{error.path}", error.rule) from None
    if jobs or profiles:
        try:
            store.put(jobs, profiles)
        except TypeError as error:  # an object of a user's own class, say
            raise LocalProtocolError("a registered job or profile", f"cannot be written as JSON: {error}") from None
    return left


def _written(command: RegisterJob, dialect: Dialect) -> Members:
    """The job as it would stand in the message, checked as there."""
    _, write = dialect.commands.writers[RegisterJob]
    members: Members = write(command)["job"]
    return members

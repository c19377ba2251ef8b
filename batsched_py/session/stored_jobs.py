"""Jobs described in a store: filled in when they come, put there when we submit our own."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from batsched_py.metadata.store import JobStore
from batsched_py.protocol.commands import Command, RegisterJob, RegisterProfile
from batsched_py.protocol.events import Event, JobSubmitted
from batsched_py.protocol.jobs import read_job


def describe(event: Event, store: JobStore) -> Event:
    """The event, with its job and, if the store has it, its profile; StoreError if the job is not there."""
    if type(event) is not JobSubmitted or event.job is not None:
        return event
    job = read_job(event.job_id, store.job(event.job_id))
    return replace(event, job=job, profile=store.profile(job.workload, job.profile))


def deposit(commands: Sequence[Command], store: JobStore, *, with_profiles: bool) -> Sequence[Command]:
    """Put registered jobs in the store and only name them; so too profiles in v1.4 (`with_profiles`)."""
    left: list[Command] = []
    for command in commands:
        if type(command) is RegisterJob and command.job is not None:
            store.put_job(command.job_id, command.job.members)
            left.append(replace(command, job=None))
        elif with_profiles and type(command) is RegisterProfile:
            store.put_profile(command.workload, command.name, command.profile)
        else:
            left.append(command)
    return left

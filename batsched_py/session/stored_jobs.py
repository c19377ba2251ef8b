"""Jobs and answers in a store: incoming ones are filled in from it; registered jobs are put there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
from msgspec.structs import replace

from batsched_py.errors import StoreError
from batsched_py.metadata.store import JobStore, Members, ProfileName
from batsched_py.protocol.command_forms import former_profile
from batsched_py.protocol.commands import Command, RegisterJob, RegisterProfile
from batsched_py.protocol.events import Answer, Event, JobSubmitted
from batsched_py.protocol.fields import read_job
from batsched_py.reading.faults import FieldError
from batsched_py.text.display import displayed, shown
from batsched_py.text.wording import seconds


def describe(events: Sequence[Event], store: JobStore, *, with_profiles: bool) -> Sequence[Event]:
    """Return the events of a message with the jobs of submissions and, `with_profiles`, their existing profiles.

    All jobs are read at once, then all profiles; answers that name a key are read, too. StoreError if an entry is
    missing or invalid.
    """
    if any(type(event) is Answer and "redis_keys" in event.values for event in events):
        events = [
            read_stored_answer(event, store) if type(event) is Answer and "redis_keys" in event.values else event
            for event in events
        ]
    submitted = {event.job_id: event.timestamp for event in events if type(event) is JobSubmitted and event.job is None}
    if not submitted:
        return events
    found = store.jobs(list(submitted))
    jobs = {}
    for job_id, timestamp in submitted.items():
        members = found.get(job_id)
        if members is None:
            raise StoreError(f"{store.place(job_id)}: is missing, but Batsim has submitted this job")
        try:
            jobs[job_id] = read_job(job_id, dict(members), timestamp)
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


def read_stored_answer(answer: Answer, store: JobStore) -> Answer:
    """Return the answer that Batsim 1 has put in the store; its message names the key, or keys (`redis_keys`).

    The value of a key is an object with the members of the answer, or the number of consumed joules. StoreError for any
    other value.
    """
    answered = answer.values["redis_keys"]
    keys = answered if type(answered) is list else [answered]
    values: dict[str, Any] = {}
    for key in keys:
        if type(key) is not str:
            raise StoreError(f"redis_keys: must be a key or a list of keys, not {shown(answered)}")
        raw, where = store.value(key), displayed(store.place_of_key(key))
        if raw is None:
            raise StoreError(f"{where}: is missing, but Batsim has answered under this key")
        try:
            found = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise StoreError(f"{where}: must be JSON: {error}") from None
        if type(found) is not dict:
            found = {"consumed_energy": found}
        values.update(found)
    return Answer(answer.timestamp, values)


def unread(answer: Answer) -> str:
    """Return the warning for an answer that names keys, where Batsim's configuration has no Redis."""
    keys = displayed(shown(answer.values["redis_keys"]))
    return f"t={seconds(answer.timestamp)}: QUERY_REPLY: redis_keys {keys} not read: Batsim runs without Redis"


def deposit(commands: Sequence[Command], store: JobStore, *, with_profiles: bool) -> Sequence[Command]:
    """Put registered jobs, and in v1.4 profiles (`with_profiles`), in the store; return commands that name them only.

    The Plan has checked that Batsim can read them.
    """
    jobs: dict[str, Members] = {}
    profiles: dict[ProfileName, Members] = {}
    left: list[Command] = []
    for command in commands:
        if type(command) is RegisterJob and command.job is not None:
            jobs[command.job_id] = command.job.members
            left.append(replace(command, job=None))
        elif with_profiles and type(command) is RegisterProfile:
            profiles[command.workload, command.name] = former_profile(command.profile)
        else:
            left.append(command)
    if jobs or profiles:
        store.put(jobs, profiles)
    return left

"""Hypothesis strategies for every event and command, in the shape in which each dialect can say it."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job
from batsched_py.protocol.begins import write_flat_config, write_nested_config
from batsched_py.protocol.commands import (
    SETTABLE_STATES,
    SETTABLE_STATES_V14,
    AdditionalIo,
    CallMeLater,
    ChangeJobState,
    ExecuteJob,
    KillJob,
    RegisterJob,
    RegisterProfile,
    RejectJob,
    SetJobMetadata,
    SetResourceState,
    ToJobMessage,
)
from batsched_py.protocol.events import (
    CONTINUE_REGISTRATION,
    FINAL_STATES,
    MACHINE_AVAILABLE,
    MACHINE_UNAVAILABLE,
    REGISTRATION_FINISHED,
    Answer,
    Config,
    DescribedHost,
    FromJobMessage,
    JobCompleted,
    JobKilled,
    JobSubmitted,
    Notify,
    Progress,
    Query,
    RequestedCall,
    ResourceStateChanged,
    SimulationBegins,
    SimulationEnds,
    Unknown,
)

Values = st.SearchStrategy[Any]

texts = st.text(st.characters(codec="utf-8"), max_size=8)
numbers = st.one_of(
    st.integers(-(2**63), 2**64 - 1), st.floats(allow_nan=False, allow_infinity=False), st.integers(-5, 5)
)
json_values: Values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
#: Members that no dialect describes.
extras: Values = st.dictionaries(texts.map(lambda name: f"x-{name}"), json_values, max_size=2)
objects: Values = st.dictionaries(texts, json_values, max_size=3)
#: All at one moment, so that any list of them is in order; both spellings of a number.
times: Values = st.sampled_from([7, 7.0])
seconds = st.one_of(st.floats(0, 1e9), st.integers(0, 10**9))
counts = st.integers(0, 2**63)
job_ids = st.builds("{}!{}".format, texts.map(lambda name: "w" + name.replace("!", "")), texts.map("n{}".format))
some_job_ids = st.lists(job_ids, min_size=1, max_size=3).map(tuple)
host_sets = st.frozensets(st.integers(0, 200), max_size=12).map(HostSet.from_ids)
some_hosts = st.frozensets(st.integers(0, 200), min_size=1, max_size=12).map(HostSet.from_ids)
pstates = st.integers(0, 99).map(str)


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    walltime = draw(st.none() | st.floats(1e-6, 1e9) | st.integers(1, 10**9))
    job_id, size, profile, extra = draw(job_ids), draw(counts), draw(texts), draw(extras)
    return Job.create(job_id, size=size, profile=profile, submit_time=draw(seconds), walltime=walltime, extra=extra)


@st.composite
def resources(draw: st.DrawFn, numbers_from: int = 0) -> tuple[DescribedHost, ...]:
    ids = draw(st.lists(st.integers(numbers_from, numbers_from + 499), unique=True, max_size=3))
    zone = st.none() | objects
    return tuple(
        DescribedHost(number, draw(texts), draw(texts), draw(objects), draw(zone), draw(extras)) for number in ids
    )


configs = st.builds(
    Config,
    redis=st.booleans(),
    redis_hostname=texts,
    redis_port=st.integers(0, 65535),
    redis_prefix=texts,
    profiles_forwarded=st.booleans(),
    dynamic_jobs=st.booleans(),
    dynamic_jobs_acknowledged=st.booleans(),
    profile_reuse=st.booleans(),
    forward_unknown_events=st.booleans(),
    scheduler_config=texts,
)


@st.composite
def flat_configs(draw: st.DrawFn) -> Config:
    config = draw(configs)
    return replace(config, members={**write_flat_config(config), **draw(extras)})


@st.composite
def nested_configs(draw: st.DrawFn) -> Config:
    config = replace(draw(configs), profile_reuse=False, forward_unknown_events=False)
    return replace(config, members={**write_nested_config(config), **draw(extras)})


begins_v4 = st.builds(
    SimulationBegins,
    times,
    resources(),
    resources(500),
    st.booleans(),
    st.booleans(),
    flat_configs(),
    st.dictionaries(texts, texts, max_size=2),
    st.dictionaries(texts, st.dictionaries(texts, objects, max_size=2), max_size=2),
    extras,
)
begins_v14 = st.builds(
    SimulationBegins, times, resources(), compute_sharing=st.booleans(), config=nested_configs(), extra=extras
)

_leaves = st.builds(Progress, texts, seconds)
progress_trees: Values = st.recursive(
    _leaves,
    lambda inner: st.builds(Progress, texts, st.none(), st.integers(-1, 9), st.none() | inner),
    max_leaves=4,
)

_machine_notices = st.builds(
    lambda time, kind, hosts, extra: Notify(time, kind, hosts, {"type": kind, "resources": str(hosts), **extra}),
    times,
    st.sampled_from([MACHINE_AVAILABLE, MACHINE_UNAVAILABLE]),
    host_sets,
    extras,
)
_other_notices = st.builds(
    lambda time, kind, members: Notify(time, kind, None, {**members, "type": kind}),
    times,
    texts.map("my_{}".format),
    objects | st.fixed_dictionaries({"resources": json_values}),
)

_questions = st.builds(Query, times, st.dictionaries(texts.map("about_{}".format), json_values, max_size=2))
_answers = st.builds(Answer, times, objects)

unknown_events = st.builds(Unknown, times, texts.map("MY_{}".format), objects)

_EVENTS: dict[type, Values] = {
    SimulationEnds: st.builds(SimulationEnds, times, extras),
    JobSubmitted: st.builds(
        lambda time, job_id, job, profile, extra: JobSubmitted(time, job.id if job else job_id, job, profile, extra),
        times,
        job_ids,
        st.none() | jobs(),
        st.none() | objects,
        extras,
    ),
    JobCompleted: st.builds(
        JobCompleted,
        times,
        texts,
        st.sampled_from(sorted(FINAL_STATES)),
        st.none() | st.integers(-9, 9),
        st.none() | host_sets,
        st.none() | texts,
        st.none() | texts,
        extras,
    ),
    JobKilled: st.builds(
        JobKilled, times, st.lists(texts).map(tuple), st.dictionaries(job_ids, progress_trees, max_size=2), extras
    )
    | st.builds(JobKilled, times, st.lists(texts).map(tuple), extra=extras, has_progress=st.just(False)),
    ResourceStateChanged: st.builds(ResourceStateChanged, times, host_sets, pstates, extras),
    RequestedCall: st.builds(RequestedCall, times, extras),
    FromJobMessage: st.builds(FromJobMessage, times, texts, json_values, extras),
    Query: _questions,
    Answer: _answers,
    Notify: _machine_notices | _other_notices,
}
EVENTS_V4 = {**_EVENTS, SimulationBegins: begins_v4}
EVENTS_V14 = {**_EVENTS, SimulationBegins: begins_v14}


@st.composite
def _executions(draw: st.DrawFn) -> ExecuteJob:
    plain = ExecuteJob(draw(times), draw(texts), draw(some_hosts))
    which = draw(st.sampled_from(["plain", "mapping", "storage", "io"]))
    if which == "mapping":
        positions = draw(st.lists(st.integers(0, len(plain.hosts) - 1), min_size=1, max_size=5))
        return replace(plain, mapping=dict(enumerate(positions)))
    if which == "storage":
        return replace(plain, storage_mapping=draw(st.dictionaries(texts, st.integers(0, 9), min_size=1, max_size=2)))
    if which == "io":
        return replace(plain, additional_io=AdditionalIo(draw(host_sets), draw(texts), draw(st.none() | objects)))
    return plain


_registrations = st.builds(
    lambda time, job_id, job: RegisterJob(time, job.id if job else job_id, job), times, job_ids, st.none() | jobs()
)

_COMMANDS: dict[type, Values] = {
    ExecuteJob: _executions(),
    RejectJob: st.builds(RejectJob, times, texts),
    KillJob: st.builds(KillJob, times, some_job_ids),
    CallMeLater: st.builds(CallMeLater, times, st.floats(8, 1e9)),
    RegisterProfile: st.builds(RegisterProfile, times, texts, texts, objects),
    SetResourceState: st.builds(SetResourceState, times, some_hosts, pstates),
    ToJobMessage: st.builds(ToJobMessage, times, texts, texts),
    Query: st.builds(Query, times, st.just({"consumed_energy": {}})),
    Answer: _answers,
    Notify: st.builds(Notify, times, st.sampled_from([REGISTRATION_FINISHED, CONTINUE_REGISTRATION])),
}


def _changes(states: frozenset[str]) -> Values:
    return st.builds(ChangeJobState, times, texts, st.sampled_from(sorted(states)), st.none() | texts)


COMMANDS_V4 = {
    **_COMMANDS,
    ChangeJobState: _changes(SETTABLE_STATES),
    RegisterJob: _registrations,
    SetJobMetadata: st.builds(SetJobMetadata, times, texts, texts.map(lambda text: text.replace('"', "'"))),
}
COMMANDS_V14 = {
    **_COMMANDS,
    ChangeJobState: _changes(SETTABLE_STATES_V14),
    RegisterJob: st.builds(replace, _registrations, profile=st.none() | objects),
}

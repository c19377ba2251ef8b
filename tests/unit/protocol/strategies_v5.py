"""Hypothesis strategies for every event and command in the shape in which Batsim 5 can say it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from batsched_py.model.job import Job
from batsched_py.protocol import commands, events
from batsched_py.protocol.commands import ExecuteJob, ExecutorPlacement, PlacedProfile
from batsched_py.protocol.events import DescribedHost, EventSource, Notify, Progress, SimulationBegins
from tests.unit.protocol.strategies import (
    Values,
    extras,
    host_sets,
    json_values,
    pstates,
    seconds,
    some_hosts,
    some_job_ids,
    texts,
    times,
)

names = texts.map(lambda name: "n" + name.replace("!", ""))
#: In a job's `extra`; a float that JSON writes otherwise would be another text.
whole: Values = st.dictionaries(texts.map(lambda name: f"x-{name}"), st.integers(-9, 9) | texts, max_size=2)
amounts = st.floats(0, 1e15)


@st.composite
def jobs_v5(draw: st.DrawFn, submitted: float | None = None) -> Job:
    job_id, walltime = f"{draw(names)}!{draw(names)}", draw(st.none() | st.floats(1e-6, 1e9))
    extra = draw(whole | texts.filter(bool).map(lambda text: {"extra_data": f"text {text}"}))
    when = draw(seconds) if submitted is None else submitted
    profile = draw(names)
    return Job.create(
        job_id,
        size=draw(st.integers(0, 2**31)),
        profile=profile,
        submit_time=when,
        walltime=walltime,
        extra=extra,
    )


profiles_v5: Values = st.one_of(
    st.builds(lambda delay: {"type": "delay", "delay": delay}, amounts),
    st.builds(lambda cpu, com: {"type": "parallel", "cpu": cpu, "com": com}, *[st.lists(amounts, max_size=3)] * 2),
    st.builds(
        lambda kind, cpu, com: {"type": kind, "cpu": cpu, "com": com},
        st.sampled_from(["parallel_homogeneous", "parallel_homogeneous_total"]),
        amounts,
        amounts,
    ),
    st.builds(
        lambda repeat, seq: {"type": "composed", "repeat": repeat, "seq": seq},
        st.integers(1, 9),
        st.lists(names, max_size=3),
    ),
    st.builds(
        lambda read, write, name: {
            "type": "parallel_homogeneous_pfs",
            "bytes_to_read": read,
            "bytes_to_write": write,
            "storage": name,
        },
        amounts,
        amounts,
        texts,
    ),
    st.builds(
        lambda amount, source, target: {"type": "data_staging", "nb_bytes": amount, "from": source, "to": target},
        amounts,
        texts,
        texts,
    ),
    st.builds(
        lambda kind, file: {"type": kind, "trace": file}, st.sampled_from(["smpi", "usage_trace"]), texts.filter(bool)
    ),
)
described: Values = st.builds(lambda profile, extra: {**profile, **extra}, profiles_v5, whole)


@st.composite
def hosts_v5(draw: st.DrawFn, first: int = 0) -> tuple[DescribedHost, ...]:
    ids = draw(st.lists(st.integers(first, first + 499), unique=True, max_size=3))
    pairs = st.dictionaries(texts, texts, max_size=2)
    state = st.sampled_from(["idle", "sleeping", "computing"])
    return tuple(
        DescribedHost(number, draw(texts), draw(state), draw(pairs), draw(pairs), draw(extras)) for number in ids
    )


_leaves = st.builds(Progress, names, seconds)
progress_trees_v5: Values = st.recursive(
    _leaves,
    lambda inner: st.builds(Progress, names, st.none(), st.integers(0, 9), st.none() | inner, st.integers(0, 9)),
    max_leaves=4,
)
_told = st.builds(EventSource, texts, texts.map("text {}".format))


def _external(told: EventSource, time: Any) -> Notify:
    return Notify(time, "generic", None, {"type": "generic", "data": told.text}, told)


def _typed(kind: str, members: dict[str, Any], name: str, time: Any) -> Notify:
    said = {**members, "type": f"my_{kind}"}
    return Notify(time, said["type"], None, said, EventSource(name, json.dumps(said)))


def _submitted(time: Any, job: Job, profile: Any, extra: Any) -> events.JobSubmitted:
    return events.JobSubmitted(time, job.id, job, profile, extra)


EVENTS_V5: dict[type, Values] = {
    SimulationBegins: st.builds(
        SimulationBegins,
        times,
        hosts_v5(),
        hosts_v5(500),
        workloads=st.dictionaries(texts, texts, max_size=2),
        profiles=st.dictionaries(names, st.dictionaries(names, described, min_size=1, max_size=2), max_size=2),
        extra=extras,
    ),
    events.SimulationEnds: st.builds(events.SimulationEnds, times, extras),
    events.JobSubmitted: st.builds(_submitted, times, jobs_v5(), st.none() | described, extras),
    events.JobCompleted: st.builds(
        events.JobCompleted,
        times,
        texts,
        st.sampled_from(sorted(events.FINAL_STATES)),
        st.integers(-9, 9),
        extra=extras,
    ),
    events.JobKilled: st.builds(
        events.JobKilled,
        times,
        some_job_ids,
        st.dictionaries(st.builds("{}!{}".format, names, names), progress_trees_v5, max_size=2),
        extras,
    ),
    events.ResourceStateChanged: st.builds(
        events.ResourceStateChanged, times, host_sets, pstates, extras, turned=st.booleans()
    ),
    events.RequestedCall: st.builds(events.RequestedCall, times, extras, texts, st.booleans()),
    Notify: st.builds(_external, _told, times)
    | st.builds(_typed, texts, st.dictionaries(texts.map("k{}".format), json_values, max_size=2), texts, times)
    | st.builds(Notify, times, st.sampled_from([events.NO_MORE_STATIC_JOB, events.NO_MORE_EXTERNAL_EVENT])),
    events.ProbeData: st.builds(
        events.ProbeData, times, texts, host_sets, st.lists(seconds.map(float), max_size=3).map(tuple), extra=extras
    )
    | st.builds(
        events.ProbeData, times, texts, host_sets, st.tuples(seconds.map(float)), st.just(value=True), extra=extras
    ),
}


_placements: st.SearchStrategy[ExecutorPlacement] = st.sampled_from(["spread", "fill"])


@st.composite
def _executions(draw: st.DrawFn) -> ExecuteJob:
    job_id, allocated = f"{draw(names)}!{draw(names)}", draw(some_hosts)
    positions = draw(st.none() | st.lists(st.integers(0, len(allocated) - 1), min_size=1, max_size=5))
    placement = "spread" if positions else draw(_placements)
    placed = st.builds(PlacedProfile, names, some_hosts, st.none(), _placements)
    return ExecuteJob(
        draw(times),
        job_id,
        allocated,
        dict(enumerate(positions)) if positions else None,
        draw(st.none() | st.dictionaries(texts, st.integers(0, 9), min_size=1, max_size=2)),
        None,
        placement,
        tuple(draw(st.lists(placed, max_size=2))),
    )


_periods = st.integers(1, 10**9).map(lambda count: count / 1000)
_counts = st.none() | st.integers(1, 9)
_registered = times.flatmap(lambda time: jobs_v5(time).map(lambda job: commands.RegisterJob(time, job.id, job)))

COMMANDS_V5: dict[type, Values] = {
    ExecuteJob: _executions(),
    commands.RejectJob: st.builds(commands.RejectJob, times, texts),
    commands.KillJob: st.builds(commands.KillJob, times, some_job_ids),
    commands.CallMeLater: st.builds(
        commands.CallMeLater, times, st.integers(8000, 10**12).map(lambda count: count / 1000), texts.map("c{}".format)
    ),
    commands.CallPeriodically: st.builds(commands.CallPeriodically, times, texts.map("c{}".format), _periods, _counts),
    commands.StopCalls: st.builds(commands.StopCalls, times, texts),
    commands.CreateProbe: st.builds(
        commands.CreateProbe,
        times,
        texts.map("p{}".format),
        some_hosts,
        _periods,
        _counts,
        st.sampled_from(["each", "sum", "mean"]),
    ),
    commands.StopProbe: st.builds(commands.StopProbe, times, texts),
    commands.StopSimulation: st.builds(commands.StopSimulation, times),
    commands.RegisterJob: _registered,
    commands.RegisterProfile: st.builds(commands.RegisterProfile, times, names, names, described),
    commands.SetResourceState: st.builds(commands.SetResourceState, times, some_hosts, pstates, st.booleans()),
    Notify: st.builds(Notify, times, st.just(events.REGISTRATION_FINISHED)),
}

"""Host seconds in each state, by the definitions of batsched-py and of Batsim."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Final, NamedTuple

from batsched_py.bits import bit_runs, without
from batsched_py.reporting.metrics.over_time import computing_hosts, host_states
from batsched_py.reporting.metrics.run_map import RunMap, repeated
from batsched_py.reporting.metrics.steps import Steps, integral
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.tracing import HOST_STATES, TO_COMPUTING, TO_SLEEP

UNAVAILABLE: Final = "unavailable"
#: Every state of hosts.
ALL_STATES: Final = (*HOST_STATES, UNAVAILABLE)


def host_times(schedule: Schedule, begin: float, end: float, computing: Steps | None = None) -> Mapping[str, float]:
    """Return the host seconds from `begin` to `end` in each of ALL_STATES; their sum is hosts x (end - begin).

    They are computed from the jobs if, as far as known, hosts were only idle or computing; otherwise from the trace of
    machine states, whose times have six digits. `computing` are the `computing_hosts`, if the caller has them already.
    """
    rows, everything = schedule.machine_states, schedule.hosts * (end - begin)
    if rows is None or (rows.always_awake and not _were_unavailable(schedule)):
        busy = integral(computing_hosts(schedule) if computing is None else computing, begin, end)
        return dict.fromkeys(ALL_STATES, 0.0) | {"computing": busy, "idle": everything - busy}
    times = {state: integral(steps, begin, end) for state, steps in host_states(schedule).items()}
    return times | {UNAVAILABLE: max(everything - math.fsum(times.values()), 0.0)}


def computing_time(schedule: Schedule) -> float:
    """Return the host seconds in which hosts compute; see `computing_hosts`."""
    return integral(computing_hosts(schedule), 0.0, math.inf)


def batsim_times(schedule: Schedule) -> Mapping[str, float | None]:
    """Return the host seconds in each state by Batsim's definition: each host counts up to its last change of state.

    All are None if hosts were unavailable for a time, because no file shows which, or if the jobs' hosts are unknown.
    """
    if not schedule.hosts_known or _were_unavailable(schedule):
        return dict.fromkeys(ALL_STATES)
    last = _last_finishes(schedule)
    times = dict.fromkeys(ALL_STATES, 0.0)
    for state, seconds in _powered(schedule, last).items():
        times[state] = math.fsum(seconds)
    times["computing"] = computing_time(schedule)
    ends = (repeated(end, high - low + 1) for low, high, end in last.runs() if end is not None)
    times["idle"] = math.fsum([*chain.from_iterable(ends), *(-seconds for seconds in times.values())])
    return times


def _last_finishes(schedule: Schedule) -> RunMap[float | None]:
    """Return the end of the last job of each host, None for hosts without jobs."""
    last: RunMap[float | None] = RunMap(schedule.hosts, None)
    left = (1 << schedule.hosts) - 1
    for record in sorted(schedule.ran, key=attrgetter("finish"), reverse=True):
        for low, high in bit_runs(record.hosts.bits & left):
            last.change(low, high, _at_least(record.finish))
        left = without(left, record.hosts.bits)
        if not left:
            break
    return last


class _Pstate(NamedTuple):
    """The state of a host that follows from its pstate.

    Attributes:
        since: the time of the last change, in seconds; None if it never changed.
        state: sleeping, switching_on or switching_off; "" for other states.
    """

    since: float | None
    state: str


def _powered(schedule: Schedule, last: RunMap[float | None]) -> Mapping[str, Sequence[float]]:
    """Return the seconds of hosts in each state of _Pstate; raise the times in `last` to the last changes of pstate."""
    hosts = RunMap(schedule.hosts, _Pstate(None, ""))
    parts: defaultdict[str, list[float]] = defaultdict(list)
    every = (1 << schedule.hosts) - 1
    #: Identity of a set -> its runs; cached, because the same hosts are switched many times.
    runs: dict[int, list[tuple[int, int]]] = {}
    for time, switched, pstate in schedule.pstate_changes or ():

        def switch(before: _Pstate, count: int, time: float = time, pstate: int = pstate) -> _Pstate:
            if before.state and before.since is not None:
                parts[before.state].extend(repeated(time - before.since, count))
            return _Pstate(time, _state_after(before.state, pstate))

        if id(switched) not in runs:
            runs[id(switched)] = list(bit_runs(switched & every))
        for low, high in runs[id(switched)]:
            hosts.change(low, high, switch)
    for low, high, host in hosts.runs():
        if host.since is not None:
            last.change(low, high, _at_least(host.since))
    return parts


def _at_least(time: float) -> Callable[[float | None, int], float]:
    """Return a change of a RunMap that raises earlier and absent times to this one."""
    return lambda before, _: time if before is None else max(before, time)


def _state_after(before: str, pstate: int) -> str:
    """Return the state of a host after a change to this pstate."""
    if pstate == TO_COMPUTING:
        return "switching_on"
    if pstate == TO_SLEEP:
        return "switching_off"
    return "sleeping" if before == "switching_off" else ""


def _were_unavailable(schedule: Schedule) -> bool:
    """Return True if the trace lacks hosts at some time."""
    rows = schedule.machine_states
    if rows is None:
        return False
    return any(sum(counts) < schedule.hosts for counts in zip(*rows.columns().values(), strict=True))

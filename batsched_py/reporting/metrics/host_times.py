"""How long hosts were in each state, summed over the hosts."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Final

from batsched_py.hostset import HostSet
from batsched_py.reporting.metrics.over_time import computing_hosts, host_states
from batsched_py.reporting.metrics.steps import integral
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.simulator.outputs.tracing import HOST_STATES, TO_COMPUTING, TO_SLEEP

UNAVAILABLE: Final = "unavailable"
#: Every state of hosts.
ALL_STATES: Final = (*HOST_STATES, UNAVAILABLE)


def host_times(schedule: Schedule, end: float) -> Mapping[str, float]:
    """State (of ALL_STATES) -> host seconds from 0 to `end`; together they are hosts x `end`.

    From the jobs if hosts were only idle or computing, as far as it is told, else from the trace of machine states,
    whose times have six digits.
    """
    if _only_worked(schedule):
        computing = computing_time(schedule)
        times = dict.fromkeys(ALL_STATES, 0.0)
        return times | {"computing": computing, "idle": schedule.hosts * end - computing}
    times = {state: integral(steps, 0.0, end) for state, steps in host_states(schedule).items()}
    return times | {UNAVAILABLE: max(schedule.hosts * end - math.fsum(times.values()), 0.0)}


def computing_time(schedule: Schedule) -> float:
    """Host seconds in which hosts compute: see `computing_hosts`."""
    return integral(computing_hosts(schedule), 0.0, math.inf)


def batsim_times(schedule: Schedule) -> Mapping[str, float | None]:
    """State -> host seconds as Batsim sums them: each host counts up to its last change of state.

    None for all if hosts were unavailable for a time, because no file tells which, or if the jobs' hosts are unknown.
    """
    if not schedule.hosts_known or _were_unavailable(schedule):
        return dict.fromkeys(ALL_STATES)
    last = _last_finishes(schedule)
    times = dict.fromkeys(ALL_STATES, 0.0)
    for state, seconds in _powered(schedule, last).items():
        times[state] = math.fsum(seconds)
    times["computing"] = computing_time(schedule)
    times["idle"] = math.fsum([*last.values(), *(-seconds for seconds in times.values())])
    return times


def _last_finishes(schedule: Schedule) -> dict[int, float]:
    """Host -> the end of the last job that it had; hosts that had none are not in it."""
    last: dict[int, float] = {}
    left = (1 << schedule.hosts) - 1
    for record in sorted(schedule.ran, key=attrgetter("finish"), reverse=True):
        for host in HostSet(record.hosts.bits & left):
            last[host] = record.finish
        left &= ~record.hosts.bits
    return last


def _powered(schedule: Schedule, last: dict[int, float]) -> Mapping[str, Sequence[float]]:
    """State -> the times that hosts spent in it because of their pstate; moves `last` to the last change of pstates."""
    #: Host -> when its pstate last changed, and the state that it is in since; those that neither sleep nor switch are
    #: not in it.
    since: dict[int, tuple[float, str]] = {}
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for time, hosts, pstate in schedule.pstate_changes or ():
        for host in HostSet(hosts & ((1 << schedule.hosts) - 1)):
            begin, state = since.pop(host, (time, ""))
            if state:
                parts[state].append(time - begin)
            if pstate == TO_COMPUTING:
                since[host] = time, "switching_on"
            elif pstate == TO_SLEEP:
                since[host] = time, "switching_off"
            elif state == "switching_off":
                since[host] = time, "sleeping"
            last[host] = max(last.get(host, 0.0), time)
    return parts


def _only_worked(schedule: Schedule) -> bool:
    """True if all that hosts did was to compute and to be idle, as far as a trace tells."""
    rows = schedule.machine_states
    return rows is None or (rows.always_awake and not _were_unavailable(schedule))


def _were_unavailable(schedule: Schedule) -> bool:
    """True if the trace leaves out some hosts at some time."""
    rows = schedule.machine_states
    if rows is None:
        return False
    return any(sum(counts) < schedule.hosts for counts in zip(*rows.columns().values(), strict=True))

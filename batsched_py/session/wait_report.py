"""Explanations of waiting jobs and of possible deadlocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.scheduling.holds import Hold
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import extent, seconds

#: Line about a run that cannot end because an algorithm, whose name it has, may still submit jobs.
_REGISTRATION_OPEN: Final = (
    "registration is open: %s must call plan.finish_registration() after its last job, and keep a call (plan.wake_at)"
    " as long as more are to come"
)
#: Maximum number of lines about waiting jobs to show when Batsim has closed the connection.
_SHOWN: Final = 3


def waiting_lines(state: State, holds: Mapping[str, Hold], algorithm: str) -> Sequence[str]:
    """Return a line for each waiting job: its request, and the algorithm's reason why it waits.

    The first line is another one if jobs may still be registered, which keeps Batsim from ending the run.
    """
    lines = [_REGISTRATION_OPEN % algorithm] if state.registration_open else []
    for job in state.queue:
        hold = holds.get(job.id)
        why = f"held at t={seconds(hold.time)}: {hold.reason}" if hold else "the algorithm gave no reason"
        lines.append(f"{displayed(job.id)} ({extent(job.size, tasks=job.demand is not None)}) {displayed(why)}")
    lines += [f"{displayed(job_id)} {state.held.reason(job_id)}" for job_id in state.held.jobs]
    return lines


def deadlock_line(state: State, lines: Sequence[str], now: float) -> str:
    """Explain a deadlock by the lines of waiting jobs; "" if more events were to come, or no job waits."""
    busy = state.running or state.wakeups or state.registered or state.hosts.switching
    if busy or not lines:
        return ""
    shown = "; ".join(lines[:_SHOWN])
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"nothing was left to happen at t={seconds(now)}: {shown}{more}"

"""Why jobs wait, and why a run may have come to a standstill, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from batsched_py.scheduling.holds import Hold
from batsched_py.state.state import State
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, seconds

#: Said of a run that cannot end, because an algorithm may still submit jobs; has its name.
_REGISTRATION_OPEN: Final = (
    "registration is open: %s must call plan.finish_registration() after its last job, and keep a call (plan.wake_at)"
    " as long as more are to come"
)
#: Lines about waiting jobs that are shown when Batsim has gone.
_SHOWN: Final = 3


def waiting_lines(state: State, holds: Mapping[str, Hold], algorithm: str) -> Sequence[str]:
    """Return a line for each waiting job: what it needs, and why it waits in the words of the algorithm of that name.

    Before them, one if jobs may still be registered, which keeps Batsim from ending the run.
    """
    lines = [_REGISTRATION_OPEN % algorithm] if state.registration_open else []
    for job in state.queue:
        hold = holds.get(job.id)
        why = f"held at t={seconds(hold.time)}: {hold.reason}" if hold else "the algorithm gave no reason"
        lines.append(f"{displayed(job.id)} ({counted(job.size, 'host')}) {displayed(why)}")
    return lines


def standstill_line(state: State, lines: Sequence[str], now: float) -> str:
    """Explain by the lines of waiting jobs that nothing was left to happen; "" if something was, or no job waits."""
    busy = state.running or state.wakeups or state.registered or state.hosts.switching
    if busy or not lines:
        return ""
    shown = "; ".join(lines[:_SHOWN])
    more = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
    return f"nothing was left to happen at t={seconds(now)}: {shown}{more}"

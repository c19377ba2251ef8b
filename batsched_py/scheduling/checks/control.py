"""Control jobs: which states CHANGE_JOB_STATE may give to a job for which nothing runs."""

from __future__ import annotations

from typing import Final

from batsched_py.protocol.commands import RUNNING
from batsched_py.protocol.dialects import V4, V14, Dialect
from batsched_py.protocol.events import (
    COMPLETED_KILLED,
    COMPLETED_SUCCESSFULLY,
    REJECTED,
)

#: Dialect -> (states a waiting control job may be given, states a running one may): all others make Batsim abort.
_STEPS: Final = {
    V14: ((RUNNING, REJECTED), (COMPLETED_SUCCESSFULLY, COMPLETED_KILLED)),
    V4: ((RUNNING,), ()),
}


def step_fault(dialect: Dialect, state: str, why: str | None, *, runs: bool) -> str | None:
    """The rule that a change to `state` breaks, of a control job that waits or `runs`; None if Batsim takes it."""
    allowed = _STEPS[dialect][runs]
    if state not in allowed:
        may = f"it may only become {' or '.join(allowed)}" if allowed else "nothing may end it, Batsim would abort"
        return f"in protocol {dialect.name} {may}"
    if why is not None and state != COMPLETED_KILLED:
        return f"only {COMPLETED_KILLED} has a reason"
    return None

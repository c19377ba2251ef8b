"""Warnings about constraints of jobs that an algorithm ignores, and about inconsistent submission times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from batsched_py.planning.wait_time import TOLERANCE
from batsched_py.protocol.events import Event, JobSubmitted
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.placement_options import PlacementOptions
from batsched_py.text.display import displayed
from batsched_py.text.wording import seconds


def constraint_hint(scheduler: Scheduler[Any]) -> str | None:
    """Return a warning for ignored constraints of jobs on hosts; None if the algorithm respects them."""
    options = scheduler.options
    if scheduler.heeds_constraints:
        return None
    if not isinstance(options, PlacementOptions):
        return f"jobs have a constraint, which {displayed(scheduler.name)} does not heed: it runs them anywhere"
    if options.constraint.rule is not None:
        return None
    return "jobs have a constraint, which is not heeded: the option constraint=query makes it so"


def misdated_line(events: Sequence[Event]) -> str:
    """Return a warning about the first job whose `subtime` is not the time of its event; "" if there is none."""
    for event in events:
        if type(event) is JobSubmitted and event.job is not None:
            apart = event.timestamp - event.job.submit_time
            if not -TOLERANCE <= apart <= TOLERANCE:
                when = f"submitted at {seconds(event.timestamp)} s and says {seconds(event.job.submit_time)} s"
                return f"{displayed(event.job_id)} is {when}: orders and waits count from the latter"
    return ""

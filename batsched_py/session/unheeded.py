"""Hints that an algorithm does not heed what jobs ask for."""

from __future__ import annotations

from typing import Any

from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.placement import PlacementOptions
from batsched_py.text.display import displayed


def constraint_hint(scheduler: Scheduler[Any]) -> str | None:
    """Return what to tell of jobs that say by a query on which hosts they may run; None if the algorithm heeds it."""
    options = scheduler.options
    if scheduler.heeds_constraints:
        return None
    if not isinstance(options, PlacementOptions):
        return f"jobs have a constraint, which {displayed(scheduler.name)} does not heed: it runs them anywhere"
    if options.constraint.rule is not None:
        return None
    return "jobs have a constraint, which is not heeded: the option constraint=query makes it so"

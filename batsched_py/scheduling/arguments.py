"""The arguments of verbs and of the View: jobs, ids and numbers, or an error that says which of them is needed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from operator import index
from typing import Any, Protocol, SupportsFloat, SupportsIndex

from batsched_py.errors import PlanError
from batsched_py.model.job import Job
from batsched_py.text.display import displayed, shown


def no_job(verb: str, value: object) -> PlanError:
    """Return the error of a verb whose argument is not a job: events have ids, verbs take jobs."""
    advice = ""
    if isinstance(value, str):
        return PlanError(f"{verb}: a job is needed, not the text {shown(value)}: view.job({shown(value)}) returns it")
    if isinstance(getattr(value, "job", None), Job):
        advice = ": its attribute job is one"
    elif isinstance(getattr(value, "job_id", None), str):
        advice = ": view.job(event.job_id) returns its job"
    return PlanError(f"{verb}: a job is needed, not {_a_kind(value)}{advice}")


def id_of(verb: str, job: Job) -> str:
    """Return the id of a job; PlanError if it is something else."""
    try:
        return job.id
    except AttributeError:
        raise no_job(verb, job) from None


def several(verb: str, value: Any) -> Iterable[Job]:
    """Return an iterable of jobs; PlanError if the argument is not iterable, or is a text."""
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise no_job(verb, value)
    jobs: Iterable[Job] = value
    return jobs


class Text(Protocol):
    """A str. Compiled modules raise a TypeError without advice for another argument of a parameter that is a `str`."""

    def casefold(self) -> str:
        """Return the text for comparisons without case."""


def id_text(verb: str, job_id: Text) -> str:
    """Return the id of a job; PlanError if the argument is not a text."""
    if isinstance(job_id, str):
        return job_id
    advice = ": its attribute id is one" if isinstance(job_id, Job) else ""
    raise PlanError(f"{verb}: the id of a job is needed, not {_a_kind(job_id)}{advice}")


def number_of(verb: str, value: SupportsFloat) -> float:
    """Return a number as a float; PlanError if the argument is not a number."""
    try:
        math.isfinite(value)  # float() would accept a text
        return float(value)
    except (TypeError, OverflowError):
        raise PlanError(f"{verb}: a number is needed, not {_a_kind(value)}") from None


def whole_of(verb: str, value: SupportsIndex) -> int:
    """Return an integer; PlanError if the argument is not one."""
    try:
        return index(value)
    except TypeError:
        raise PlanError(f"{verb}: a whole number is needed, not {_a_kind(value)}") from None


def _a_kind(value: object) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        return shown(value)
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'AEIOUaeiou' else 'a'} {displayed(kind)}"

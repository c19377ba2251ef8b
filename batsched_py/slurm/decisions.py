"""Decisions of the controller: each has the job's key and the instant, in seconds since time zero."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class JobStart:
    """A job starts on nodes, written as Slurm writes them; `scheduler` is main or backfill."""

    job: str
    at: float
    nodes: str
    scheduler: str


@dataclass(frozen=True, slots=True)
class JobStop:
    """A running job is ended, or a pending one removed, with the state that it gets: TIMEOUT, PREEMPTED, DEADLINE..."""

    job: str
    at: float
    state: str


@dataclass(frozen=True, slots=True)
class JobRequeue:
    """A running job is ended and pends again."""

    job: str
    at: float


@dataclass(frozen=True, slots=True)
class JobSuspension:
    """A running job is suspended, or a suspended one resumed."""

    job: str
    at: float
    is_suspended: bool


Decision = JobStart | JobStop | JobRequeue | JobSuspension

"""How a job ended, whoever played Batsim."""

from __future__ import annotations

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job


class Ending(Struct, frozen=True):
    """A job's end; `start` and `finish` in seconds, 0 for a rejected one, which has no hosts."""

    job: Job
    state: str
    start: float
    finish: float
    hosts: HostSet

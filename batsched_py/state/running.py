"""Running jobs, and periodic calls."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.host_room import Places
from batsched_py.model.job import Job

#: Batsim prints times with six decimals: closer instants are equal in messages.
WIRE_RESOLUTION: Final = 1e-6


class Running(Struct, frozen=True):
    """A running job.

    Attributes:
        job: the job.
        hosts: its hosts.
        start: start time in seconds.
        end: time of the walltime's end; infinite without one.
        killed: whether a KILL_JOB for it is pending.
        places: places of its tasks, if they share hosts with others; () if it has whole hosts.
    """

    job: Job
    hosts: HostSet
    start: float
    end: float
    killed: bool = False
    places: Places = ()


class Periodic(Struct, frozen=True):
    """Calls at each multiple of `period` seconds: remaining number (None: unlimited), and time of the next one."""

    period: float
    left: int | None
    next: float

    def multiple(self, now: float) -> float:
        """Return the first multiple of the period that is later than `now`."""
        count = math.floor((now + WIRE_RESOLUTION) / self.period) + 1
        return count * round(self.period * 1000) / 1000

    def after(self, now: float) -> Periodic:
        """Return the remaining calls after a call."""
        return Periodic(self.period, None if self.left is None else self.left - 1, self.multiple(now))

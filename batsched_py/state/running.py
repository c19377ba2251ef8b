"""Jobs that run, and calls that repeat."""

from __future__ import annotations

import math
from typing import Final

from msgspec import Struct

from batsched_py.hostset import HostSet
from batsched_py.model.job import Job

#: Batsim prints times with six decimals: instants closer than this are one instant on the wire.
WIRE_RESOLUTION: Final = 1e-6


class Running(Struct, frozen=True):
    """A job that runs.

    Attributes:
        job: the job.
        hosts: its hosts.
        start: when it was started, in seconds.
        end: when its walltime will stop it at the latest; infinite without one.
        killed: a KILL_JOB for it is on its way.
    """

    job: Job
    hosts: HostSet
    start: float
    end: float
    killed: bool = False


class Periodic(Struct, frozen=True):
    """Calls at each multiple of `period` seconds: how many are left (None: no end), and when the next one is due."""

    period: float
    left: int | None
    next: float

    def multiple(self, now: float) -> float:
        """Return the first multiple of the period that is later than `now`."""
        count = math.floor((now + WIRE_RESOLUTION) / self.period) + 1
        return count * round(self.period * 1000) / 1000

    def after(self, now: float) -> Periodic:
        """Return what is left after a call."""
        return Periodic(self.period, None if self.left is None else self.left - 1, self.multiple(now))

"""The wait of a job, without the time that Batsim's messages take."""

from __future__ import annotations

import math
from typing import Final

from batsched_py.model.job import Job

#: Seconds by which times from Batsim may deviate, because its events pass through simulated messages (E18).
TOLERANCE: Final = 1e-3
#: Number of these in a second.
_STEPS: Final = 1000
#: Rounding error in seconds of a difference of times: a wait of 1 s may be 0.9999999999 s.
_ROUNDING: Final = 1e-6


def wait_of(job: Job, now: float) -> float:
    """Return the seconds since the submission of a job, rounded down to a multiple of TOLERANCE; never less than 0.

    Batsim's messages are slightly late, by different delays in its versions. With the exact wait, these would decide
    between jobs that were submitted together, or whose keys are equal.
    """
    steps = math.floor((now - job.submit_time + _ROUNDING) * _STEPS)
    return steps / _STEPS if steps > 0 else 0.0

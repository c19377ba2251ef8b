"""A process of its own for a play, so that the site goes on meanwhile, within limits of time and memory."""

from __future__ import annotations

import os
from contextlib import closing
from functools import partial
from typing import Final

from batsched_py.campaigns.processes import check_portable, run_apart
from batsched_py.campaigns.run_limits import RunLimits, size_text
from batsched_py.errors import BatschedError
from batsched_py.site.what_if.future import PlayedAhead, PlayFailure
from batsched_py.site.what_if.play import play_ahead
from batsched_py.site.what_if.task import WhatIfTask

#: Wall-clock seconds of a play, and the bytes of its process.
LIMITS: Final = RunLimits(timeout=60.0, memory=2 << 30)
#: By how much the process of a play is less urgent than the site.
_NICE: Final = 10
#: What a process loads before the first play.
_NEEDED: Final = ("batsched_py.site.what_if.play", "batsched_py.schedulers.experiments")


def play_apart(task: WhatIfTask, limits: RunLimits = LIMITS) -> PlayedAhead | PlayFailure:
    """Play a site ahead in a process of its own; return the reason if that fails."""
    try:
        check_portable(task.setup.scheduler, task.setup.choice.algorithm)
    except BatschedError as error:
        return PlayFailure(refused=False, text=str(error))
    with closing(run_apart([partial(_play, task)], 1, limits, _NEEDED)) as results:
        result = next(results)
    if result.value is not None:
        return result.value
    if result.failure.startswith(limits.timed_out):
        return PlayFailure(
            refused=False, text=f"takes longer than {limits.timeout:g} s, of which a part is to repeat the past"
        )
    return PlayFailure(refused=False, text="its process has ended: the site is stopping, or memory is exhausted")


def _play(task: WhatIfTask) -> PlayedAhead | PlayFailure:
    os.nice(_NICE)
    try:
        return play_ahead(task)
    except MemoryError:
        return PlayFailure(refused=False, text=f"takes more than {size_text(LIMITS.memory or 0)} of memory")

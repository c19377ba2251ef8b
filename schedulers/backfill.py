"""Backfilling of any depth: EASY and conservative backfilling are two cases of it."""

import math

from batsched_py.api import View
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import BackfillOptions


class Backfill(Overtaking[BackfillOptions]):
    """Backfilling of any depth, between EASY (1) and conservative (none): promises for the first `depth` blocked jobs.

    A promise is broken by no one: an overtaking job ends by its walltime before the promised start, or leaves the
    promised hosts alone.

    A failed host is expected back after `repair_time`, by default after the mean of the repairs so far; one that is
    late after twice as long, up to 64 times, then not at all. Promises count on that.
    """

    name = "backfill"
    places_tasks = True
    foresight = "rehearsal"
    source = (
        "Between EASY and conservative: Feitelson and Weil, IPPS/SPDP 1998; the depth as in Haizea (Sotomayor 2009)"
    )

    def setup(self, view: View) -> None:
        """Take the depth from the options."""
        self.depth = math.inf if self.options.depth is None else self.options.depth
        super().setup(view)

"""Conservative backfilling: every job holds a promise from the moment it arrives."""

import math
from dataclasses import dataclass
from typing import Any, Literal

from batsched_py.api import View, option
from batsched_py.schedulers.backfilling.algorithms import Backfilling
from batsched_py.schedulers.backfilling.options import PromiseOptions
from batsched_py.schedulers.backfilling.rules import BackfillRules


@dataclass(frozen=True, slots=True)
class ConservativeOptions(PromiseOptions):
    """The options of promises, and when these change."""

    promises: Literal["anew", "in_turn"] = option(
        "anew",
        "in an order other than fcfs: make all again when a job may start; or leave them, and let each in turn take an"
        " earlier start when hosts are released (batsched)",
    )


class Conservative(Backfilling[ConservativeOptions]):
    """Promise each job its earliest start when it arrives; promises come nearer when hosts are released early.

    When hosts are released the promises are compressed: each job in order of arrival gives its promise back and takes
    the earliest start there is now. So no job is ever delayed by one that came later.

    A failed host is expected back after `repair_time`, by default after the mean of the repairs so far; one that is
    late after twice as long, up to 64 times, then not at all. Promises count on that.
    """

    name = "conservative"
    places_tasks = True
    foresight = "rehearsal"
    source = "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001; Feitelson and Weil, IPPS/SPDP 1998"
    depth = math.inf

    def make_rules(self, view: View) -> BackfillRules[Any]:
        """Return the rules, by which promises need not follow the order."""
        rules = super().make_rules(view)
        rules.in_turn = self.options.promises == "in_turn"
        return rules

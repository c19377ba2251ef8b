"""Base classes of the algorithms that backfill: they run the loop by their rules."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from batsched_py.api import Plan, Running, Scheduler, View
from batsched_py.schedulers.backfilling.loop import BackfillLoop
from batsched_py.schedulers.backfilling.rules import BackfillRules, Options, Overtakers, OvertakingRules


class Backfilling(Scheduler[Options]):
    """An algorithm that runs the loop with its rules. Subclasses return other rules from `make_rules`."""

    needs_walltime = True
    foresight: ClassVar[Literal["rehearsal", "walltimes", "promises"]] = "promises"

    #: The number of blocked jobs that hold a promise.
    depth: float = math.inf
    #: Created in `setup`.
    rules: BackfillRules[Any]
    loop: BackfillLoop

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.needs_walltime = options.walltimes == "required"

    def make_rules(self, view: View) -> BackfillRules[Any]:
        """Return the rules of this algorithm."""
        return BackfillRules(self.options, view, self.depth)

    def setup(self, view: View) -> None:
        self.rules = self.make_rules(view)
        self.rules.packs = self.places_tasks
        self.loop = BackfillLoop(self.rules, view)

    def resume(self, former: Backfilling[Options], view: View) -> None:
        self.loop.resume(former.loop, view)

    def expected_end(self, run: Running) -> float:
        return run.end + self.options.slack

    def decide(self, view: View, plan: Plan) -> None:
        self.loop.decide(view, plan)


class Overtaking(Backfilling[Overtakers]):
    """Backfilling in which some jobs hold no promise, with options for the order of these."""

    def make_rules(self, view: View) -> OvertakingRules[Any]:
        return OvertakingRules(self.options, view, self.depth)

"""Base classes of the algorithms that backfill: they run the loop by their rules."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

from batsched_py.api import Event, Plan, Running, Scheduler, Table, View
from batsched_py.planning.run_times.catalogue import REQUEST
from batsched_py.schedulers.backfilling.deferral import Deferral
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
    #: The deferral of jobs; None without a signal.
    deferral: Deferral | None = None

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self.needs_walltime = options.walltimes == "required"
        if type(self).observe is Backfilling.observe:
            self.observes = options.predictor is not REQUEST

    def make_rules(self, view: View) -> BackfillRules[Any]:
        """Return the rules of this algorithm."""
        return BackfillRules(self.options, view, self.depth)

    def setup(self, view: View) -> None:
        self.rules = self.make_rules(view)
        self.rules.packs = self.places_tasks
        if self.options.signal is not None:
            self.deferral = Deferral(self.options, self.rules.excluded)
            self.rules.excluded, self.rules.in_serving_order = self.deferral, self.deferral.in_serving_order
        self.loop = BackfillLoop(self.rules, view)

    def resume(self, former: Backfilling[Options], view: View) -> None:
        if self.rules.predicted is not None:
            self.rules.predicted.adopt(former.rules.predicted, view)
        if self.deferral is not None:
            self.deferral.adopt(former.deferral)
        self.loop.resume(former.loop, view)

    def observe(self, event: Event, view: View) -> None:
        """Learn the run times of ended jobs."""
        if self.rules.predicted is not None:
            self.rules.predicted.observe(event, view)

    def expected_end(self, run: Running) -> float:
        return run.end + self.options.slack

    def decide(self, view: View, plan: Plan) -> None:
        predicted, deferral = self.rules.predicted, self.deferral
        if predicted is None and deferral is None:
            self.loop.decide(view, plan)
            return
        followed = [one for one in (deferral, predicted) if one is not None]
        disturbed = [one.follow(view, plan) for one in followed]
        self.loop.decide(view, plan, disturbed=any(disturbed))
        for one in followed:
            one.call(view, plan)

    def tables(self, view: View) -> Iterable[Table]:
        """Return the table of predicted run times, if there are any."""
        return () if self.rules.predicted is None else self.rules.predicted.tables()


class Overtaking(Backfilling[Overtakers]):
    """Backfilling in which some jobs hold no promise, with options for the order of these."""

    def make_rules(self, view: View) -> OvertakingRules[Any]:
        return OvertakingRules(self.options, view, self.depth)

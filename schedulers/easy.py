"""EASY backfilling: the first blocked job holds a promise, and jobs that do not break it may overtake."""

from dataclasses import dataclass
from typing import Any, Literal

from batsched_py.api import Job, Plan, View, option
from batsched_py.planning.future.promise_book import PromiseBook
from batsched_py.planning.future.promises import Shadow
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions
from batsched_py.schedulers.backfilling.rules import OvertakingRules, Promise


@dataclass(frozen=True, slots=True)
class EasyOptions(OvertakingOptions):
    """The options of promises, and of overtaking jobs."""

    promise: Literal["earliest", "first"] = option(
        "earliest",
        "move the promise when hosts are released early; or keep the first one, and let only jobs overtake that end"
        " before it (batsched's easy_bf_fast)",
    )

    def __post_init__(self) -> None:
        super(EasyOptions, self).__post_init__()
        if self.promise == "first" and self.on_hosts:
            self.refuse("promise=first does not go with reserve=hosts: it promises an instant")


class Easy(Overtaking[EasyOptions]):
    """Start jobs in arrival order; promise the first that does not fit its earliest start; let others overtake it.

    A promise is broken by no one: an overtaking job ends by its walltime before the promised start, or leaves the
    promised hosts alone.

    A failed host is expected back after `repair_time`, by default after the mean of the repairs so far; one that is
    late after twice as long, up to 64 times, then not at all. Promises count on that.
    """

    name = "easy"
    places_tasks = True
    foresight = "rehearsal"
    source = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001"
    depth = 1

    def make_rules(self, view: View) -> OvertakingRules[Any]:
        """Return the rules of EASY, or those by which the first promise stands."""
        kind = FirstPromiseRules if self.options.promise == "first" else OvertakingRules
        return kind(self.options, view, self.depth)


class FirstPromiseRules(OvertakingRules[EasyOptions]):
    """Rules by which a job keeps its first promise until it starts, and only jobs overtake that end before it."""

    packs_not = "option promise: first is an instant, which does not say where tasks have room: use earliest"

    def __init__(self, options: EasyOptions, view: View, depth: float) -> None:
        super().__init__(options, view, depth)
        #: The id of the job with the promise, and its start.
        self._first = ("", 0.0)

    def earliest(self, job: Job, book: PromiseBook[Any], view: View, plan: Plan) -> Promise | None:
        """Return a start now if there is room, else the first promise of the job."""
        found = super().earliest(job, book, view, plan)
        if found is None or found.start <= view.now:
            return found
        if self._first[0] != job.id:
            self._first = (job.id, found.start)
        return Shadow(self._first[1], 0)

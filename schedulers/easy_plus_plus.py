"""EASY++: backfilling by predicted run times instead of walltimes."""

from dataclasses import dataclass
from typing import Literal

from batsched_py.api import ORDERS, Order, named, option
from batsched_py.planning.run_times.catalogue import PREDICTORS, PredictorKind
from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions


@dataclass(frozen=True, slots=True)
class EasyPlusPlusOptions(OvertakingOptions):
    """The options of EASY, with other defaults."""

    backfill_order: Order = named("sjf", "who overtakes first; by predicted run times", ORDERS)
    predictor: PredictorKind = named("last2", "the run times that promises count on", PREDICTORS)
    predictions: Literal["at_arrival", "anew"] = option(
        "anew", "predict a job once, when it arrives; or until it starts, whenever a job has ended"
    )


class EasyPlusPlus(Overtaking[EasyPlusPlusOptions]):
    """EASY with predicted run times: the mean of the user's last two; the shortest overtakes first.

    A job is expected to run as long as the last two jobs of its user that ended did on average, and never longer than
    its walltime; with fewer than two, for its walltime. If it runs longer than predicted, its prediction is extended by
    a minute, then by five, fifteen, thirty minutes, one, two, five, ten, twenty, fifty and a hundred hours, and then
    its walltime. Jobs are stopped at their walltimes only.

    Predictions may be too short: then a promised start moves to a later time.
    """

    name = "easy_plus_plus"
    places_tasks = True
    source = (
        "Tsafrir, Etsion, Feitelson, Backfilling using system-generated predictions rather than user runtime"
        " estimates, IEEE TPDS 18(6), 2007"
    )
    depth = 1

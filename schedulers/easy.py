"""EASY backfilling: the first blocked job holds a promise, and jobs that do not break it may overtake."""

from dataclasses import dataclass

from batsched_py.schedulers.backfilling.algorithms import Overtaking
from batsched_py.schedulers.backfilling.options import OvertakingOptions


@dataclass(frozen=True, slots=True)
class EasyOptions(OvertakingOptions):
    """The options of promises, and of overtaking jobs."""


class Easy(Overtaking[EasyOptions]):
    """Start jobs in arrival order; promise the first that does not fit its earliest start; let others overtake it.

    A promise is broken by no one: an overtaking job ends by its walltime before the promised start, or leaves the
    promised hosts alone.

    A failed host is expected back after `repair_time`, by default after the mean of the repairs so far; one that is
    late after twice as long, up to 64 times, then not at all. Promises count on that.
    """

    name = "easy"
    foresight = "rehearsal"
    source = "Lifka, The ANL/IBM SP scheduling system, JSSPP 1995; Mu'alem and Feitelson, IEEE TPDS 12(6), 2001"
    depth = 1

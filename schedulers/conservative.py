"""Conservative backfilling: every job holds a promise from the moment it arrives."""

import math

from batsched_py.schedulers.backfilling.algorithms import Backfilling
from batsched_py.schedulers.backfilling.options import PromiseOptions


class Conservative(Backfilling[PromiseOptions]):
    """Promise each job its earliest start when it arrives; promises come nearer when hosts are released early.

    When hosts are released the promises are compressed: each job in order of arrival gives its promise back and takes
    the earliest start there is now. So no job is ever delayed by one that came later.

    A failed host is expected back after `repair_time`, by default after the mean of the repairs so far; one that is
    late after twice as long, up to 64 times, then not at all. Promises count on that.
    """

    name = "conservative"
    foresight = "rehearsal"
    source = "Mu'alem and Feitelson, IEEE TPDS 12(6), 2001; Feitelson and Weil, IPPS/SPDP 1998"
    depth = math.inf

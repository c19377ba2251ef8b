"""The options of the algorithms that backfill, from the fewest to the most."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, NoReturn

from batsched_py.api import ORDERS, Order, PlacementOptions, StepSignal, document, named, option, parse_signal
from batsched_py.planning.policies.ordering import Ties
from batsched_py.planning.run_times.catalogue import PREDICTORS, REQUEST, PredictorKind
from batsched_py.planning.run_times.corrections import Correction

#: The default percentile of predictor=percentile.
PERCENTILE: Final = 90.0


def _no_document(_name: str, _members: Mapping[str, Any]) -> NoReturn:
    raise AssertionError  # any ending is read as text


@dataclass(frozen=True, slots=True)
class PromiseOptions(PlacementOptions):
    """Options of promises: their kind, their order, and the times that they count on."""

    reserve: Literal["counts", "hosts"] | None = option(
        None, "promise a number of hosts, or particular hosts; none: a number if possible"
    )
    order: Order = named("fcfs", "which jobs are served and promised first", ORDERS)
    ties: Ties = option("arrival", "which of two jobs with equal keys comes first: by arrival, or by id as a text")
    walltimes: Literal["required", "optional"] = option("required", "reject jobs without, or let them run forever")
    slack: float = option(0.0, "seconds that jobs are thought to hold their hosts beyond walltimes", minimum=0)
    repair_time: float | None = option(
        None, "seconds after which a failed host is expected back; none: the mean of the repairs so far", minimum=1
    )
    predictor: PredictorKind = named("request", "the run times that promises count on", PREDICTORS)
    percentile: float = option(PERCENTILE, "with predictor=percentile: which", minimum=0.001, maximum=100)
    predictions: Literal["at_arrival", "anew"] = option(
        "at_arrival", "predict a job once, when it arrives; or until it starts, whenever a job has ended"
    )
    correction: Correction = option(
        "incremental",
        "when a job runs longer than predicted: add a minute to the prediction, then 5, 15... up to 100 hours; count on"
        " its request; or double the prediction",
    )
    user: str = option("user", "the member of a job that says whose it is, for predictors", peer_text=r"[\w-]+")
    signal: StepSignal | None = document(  # noqa: RUF009  # as `option`, which makes a field
        _no_document,
        "CSV of the carbon intensity or price of energy, for deferral of jobs",
        {"*": parse_signal},
    )
    signal_threshold: float | None = option(None, "with `signal`: jobs are deferred while it is higher")
    max_delay: float | None = option(None, "with `signal`: most seconds for which a job is deferred", minimum=0)
    signal_hosts: int | None = option(
        None,
        "with `signal`: while it is higher, jobs are started on so many hosts in all, and others deferred; none: all"
        " that arrive then are deferred",
        minimum=1,
    )

    @property
    def on_hosts(self) -> bool:
        """True if specific hosts are promised."""
        return not self.by_number if self.reserve is None else self.reserve == "hosts"

    @property
    def serving_order(self) -> Order:
        """The order with its ties."""
        return self.order.with_ties(self.ties)

    def __post_init__(self) -> None:
        if self.reserve == "counts" and not self.by_number:
            self.refuse("needs reserve=hosts: a number of hosts does not say whether they will do")
        if len({self.signal is None, self.signal_threshold is None, self.max_delay is None}) > 1:
            raise ValueError("signal, signal_threshold and max_delay are given together, or none of them")
        if self.signal_hosts is not None and self.signal is None:
            raise ValueError("signal_hosts is for a signal, and none is given")
        self.predictor.check()
        if self.percentile != PERCENTILE and self.predictor is not PREDICTORS["percentile"]:
            raise ValueError("percentile is for predictor=percentile")
        needless = {"correction": self.correction != "incremental", "predictions": self.predictions != "at_arrival"}
        for name, given in needless.items():
            if given and self.predictor is REQUEST:
                raise ValueError(f"{name} is for a predictor of run times, and predictor=request has none to correct")

    def refuse_predictor(self, why: str) -> None:
        """Raise ValueError if run times are predicted; `why` completes "predictor is not for ..."."""
        if self.predictor is not REQUEST:
            raise ValueError(f"predictor is not for {why}")


@dataclass(frozen=True, slots=True)
class OvertakingOptions(PromiseOptions):
    """Options of overtaking jobs, in addition to those of promises."""

    backfill_order: Order = named("fcfs", "who overtakes first", ORDERS)
    arrivals: Literal["together", "one_by_one"] = option(
        "together", "look at the jobs of one message together, or at each in a pass of its own, as it came"
    )


@dataclass(frozen=True, slots=True)
class BackfillOptions(OvertakingOptions):
    """Options with the depth: the number of promises."""

    depth: int | None = option(1, "how many blocked jobs hold a promise; none: all", minimum=0)

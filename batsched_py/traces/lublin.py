"""The workload model of Lublin and Feitelson: rigid parallel jobs as real machines saw them.

U. Lublin and D. G. Feitelson, "The workload on parallel supercomputers: modeling the characteristics of rigid jobs",
Journal of Parallel and Distributed Computing 63(11), 2003, with the parameters of the authors' own program.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from random import Random
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from batsched_py.addition import add_up
from batsched_py.bits import MAX_HOST
from batsched_py.errors import OptionError
from batsched_py.model.workload import Workload
from batsched_py.text.display import shown
from batsched_py.text.wording import counted
from batsched_py.traces.delay_workload import DELAYS, USUAL_SPEED, DelayJob, TimedWork, delay_workload

# The parts of the model depend on each other: the size is drawn first (serial, a power of two, or any), the logarithm
# of the run time is a mixture of two gamma distributions whose weights depend on the size, and arrivals follow a daily
# cycle. Draws above a limit are repeated as in the authors' program, which bounds runs to 45 hours.
#
# The order of draws is part of the format: the same seed must give the same workload in each version, as studies name a
# workload by its seed. A draw that is added, left out or moved changes all jobs after it. For the same reason sums are
# made by `add_up`: `sum` of Python 3.12 and later rounds differently.
#
# Arrivals: a gap is drawn on a clock that runs evenly, and is mapped to the day through the sums of the weights of 48
# half hours, by a binary search. Thus rush hours have many arrivals without any rejection of draws. An offered load is
# reached by stretching the submission times, not by changing the distributions, so that all loads have the same jobs.
#
# Cost: O(1) for each job. `draw_jobs` keeps none of them; where the load is given it draws them all twice from the same
# state of the generator, since the factor is known after the last one: twice the time instead of a memory in proportion
# to the jobs.
#
# The incomplete gamma function is computed here by its power series, which converges quickly for the few arguments
# needed, so that no numerical library is required.

#: Limits of draws (natural logarithms of seconds): larger ones are repeated. 45 hours of run time, gaps of 5 days.
_LONGEST_RUN: Final = 12.0
_LONGEST_GAP: Final = 13.0
#: Limits of arguments: more jobs than fit into memory, or an unrealistic load, are mistakes.
MOST_JOBS: Final = 10_000_000
LEAST_LOAD: Final = 1e-3
MOST_LOAD: Final = 10.0
MOST_OVERESTIMATE: Final = 1e4
#: Walltimes are up to 1 + this times the run time.
DEFAULT_OVERESTIMATE: Final = 4.0
#: The day is 48 half hours. The gamma distribution of the daily cycle covers 48 of them from the 11th on.
_BUCKETS: Final = 48
_BUCKET_SECONDS: Final = 1800.0
_FIRST_BUCKET: Final = 11
_NUMBER: Final = r"(\d{1,12}(?:\.\d{1,12})?(?:e[+-]?\d{1,2})?)"
#: The description in a generated file, with the parameters.
_DESCRIPTION: Final = re.compile(
    r"Lublin-Feitelson model: batsched-py generate --jobs (\d{1,12}) --hosts (\d{1,12}) --seed (-?\d{1,18})"
    rf"(?: --load {_NUMBER})?(?: --overestimate {_NUMBER})?(?:( --profiles compute)(?: --speed {_NUMBER})?)?"
)


class LublinParameters(Struct, frozen=True):
    """The model's constants; gamma distributions are (shape, scale), sizes are logarithms to base 2.

    Attributes:
        serial: probability of a job on one host.
        power_of_two: probability of a parallel job on a power of two of hosts.
        lowest_size: lower bound of the logarithm of a parallel job's size.
        top_gap: how far below the machine's size (in logarithms) the largest jobs stay.
        middle_gap: how far below the largest size the two uniform distributions of sizes meet.
        small: probability of the lower one.
        short, long: gamma distributions of the logarithm of a run time in seconds.
        short_slope, short_base: a job on n hosts is short with probability slope * n + base.
        gap: gamma distribution of the logarithm of the seconds between arrivals at rush hour.
        rush_ratio: factor of the shape of `gap` for the whole day (the paper's ARAR).
        cycle: gamma distribution of the half hour of arrival.
    """

    serial: float
    power_of_two: float
    lowest_size: float
    top_gap: float
    middle_gap: float
    small: float
    short: tuple[float, float]
    long: tuple[float, float]
    short_slope: float
    short_base: float
    gap: tuple[float, float]
    rush_ratio: float
    cycle: tuple[float, float]


#: Parameter -> its values for all jobs, for batch jobs and for interactive jobs: the table of the authors' program.
_TABLE: Final[Mapping[str, tuple[Any, Any, Any]]] = {
    "serial": (0.244, 0.2927, 0.1541),
    "power_of_two": (0.576, 0.6686, 0.625),
    "lowest_size": (0.8, 1.2, 1.0),
    "top_gap": (0.0, 0.0, 1.5),
    "middle_gap": (2.5, 2.0, 2.5),
    "small": (0.86, 0.875, 0.705),
    "short": ((4.2, 0.94), (6.57, 0.823), (3.8351, 0.6605)),
    "long": ((312.0, 0.03), (639.1, 0.0156), (7.073, 0.6856)),
    "short_slope": (-0.0054, -0.003, -0.0118),
    "short_base": (0.78, 0.6986, 0.9156),
    "gap": ((10.2303, 0.4871), (6.0415, 0.8531), (6.5510, 0.6621)),
    "rush_ratio": (1.0225, 1.0519, 0.9797),
    "cycle": ((8.1737, 3.9631), (6.1271, 5.2740), (8.9186, 3.6680)),
}
#: All jobs, batch jobs only, interactive jobs only.
ALL_JOBS, BATCH, INTERACTIVE = (
    LublinParameters(**dict(zip(_TABLE, column, strict=True))) for column in zip(*_TABLE.values(), strict=True)
)


def generate(
    jobs: int,
    hosts: int,
    rng: Random,
    *,
    load: float | None = None,
    overestimate: float = DEFAULT_OVERESTIMATE,
    parameters: LublinParameters = ALL_JOBS,
    work: TimedWork = DELAYS,
) -> Workload:
    """Draw `jobs` jobs for a machine of `hosts` hosts, the first day beginning at midnight.

    Run times are whole seconds, and so are submission times unless `load` is given. With `load` all submission times
    are multiplied by one number, which makes the sum of size * run time that share of hosts * last submission time, to
    the millisecond; a day of the model is then longer or shorter than a day.

    The model has no user estimates. The walltime is the run time multiplied by a number drawn uniformly from 1 to
    1 + `overestimate` (the f-model of Mu'alem and Feitelson, IEEE TPDS 12(6), 2001), rounded up to minutes, and
    always above the run time. OptionError if an argument is out of range.
    """
    _check_options(jobs, hosts, load, overestimate)
    drawn = list(_draw(jobs, hosts, rng, overestimate, parameters))
    scale = None if load is None else _scale(drawn, hosts * load)
    source = f"Lublin model, {counted(jobs, 'job')} on {counted(hosts, 'host')}"
    return delay_workload(source, hosts, list(_placed(drawn, scale)), work=work)


#: A drawn job: arrival, number, run time, size, walltime.
_Draw = tuple[float, int, int, int, int]


def _draw(jobs: int, hosts: int, rng: Random, overestimate: float, parameters: LublinParameters) -> Iterator[_Draw]:
    for number, arrival in zip(range(1, jobs + 1), _arrivals(rng, parameters), strict=False):
        size = _size(hosts, rng, parameters)
        run = _run_time(size, rng, parameters)
        yield arrival, number, run, size, _walltime(run, overestimate, rng)


def _scale(drawn: Iterable[_Draw], hosts_used: float) -> float:
    """Return the factor for submission times that leads to an average of `hosts_used` used hosts until the last one."""
    area, last = 0.0, 0.0
    for last, _, run, size, _ in drawn:  # noqa: B007 - the last one is wanted
        area += size * run
    return area / (hosts_used * last)


def _placed(drawn: Iterable[_Draw], scale: float | None) -> Iterator[DelayJob]:
    """Yield the jobs with scaled submission times."""
    for arrival, number, run, size, walltime in drawn:
        yield DelayJob(int(arrival) if scale is None else round(arrival * scale, 3), number, run, size, walltime)


class Drawn(Struct, frozen=True):
    """A workload of the model, generated on demand as by `batsched-py generate`.

    Attributes:
        jobs: number of jobs.
        hosts: size of the machine.
        seed: the same seed gives the same workload.
        load: the offered load to which submission times are scaled; None for the submission times of the model.
        overestimate: walltimes are up to 1 + this times the run time.
        speed: flop/s of the hosts on which jobs compute; None for delays.
    """

    jobs: int
    hosts: int
    seed: int = 0
    load: float | None = None
    overestimate: float = DEFAULT_OVERESTIMATE
    speed: float | None = None

    @property
    def work(self) -> TimedWork:
        """The work of the jobs."""
        return TimedWork(self.speed)

    @property
    def command(self) -> str:
        """Return the command that generates the same workload."""
        stretched = "" if self.load is None else f" --load {self.load:g}"
        estimated = "" if self.overestimate == DEFAULT_OVERESTIMATE else f" --overestimate {self.overestimate:g}"
        drawn = f"--jobs {self.jobs} --hosts {self.hosts} --seed {self.seed}"
        return f"batsched-py generate {drawn}{stretched}{estimated}{self._computing}"

    @property
    def _computing(self) -> str:
        if self.speed is None:
            return ""
        return " --profiles compute" + ("" if self.speed == USUAL_SPEED else f" --speed {self.speed:.12g}")

    @property
    def description(self) -> str:
        """Return the description for the workload's file."""
        return f"Lublin-Feitelson model: {self.command}"

    @classmethod
    def of_description(cls, description: str) -> Drawn | None:
        """Parse the description of a generated file; None for any other text."""
        found = _DESCRIPTION.fullmatch(description)
        if found is None:
            return None
        jobs, hosts, seed, load, overestimate, computes, speed = found.groups()
        return cls(
            int(jobs),
            int(hosts),
            int(seed),
            None if load is None else float(load),
            DEFAULT_OVERESTIMATE if overestimate is None else float(overestimate),
            None if computes is None else USUAL_SPEED if speed is None else float(speed),
        )

    @property
    def parameters(self) -> dict[str, str | int | float | None]:
        """The parameters, with the name of the model; those of computing only if jobs compute."""
        named = {"model": "lublin", **asdict(self)}
        if self.speed is None:
            del named["speed"]
        return named

    def check(self) -> None:
        """Check that the parameters are in their ranges. OptionError names the parameter."""
        _check_options(self.jobs, self.hosts, self.load, self.overestimate)
        if self.speed is not None and not 0 < self.speed < math.inf:
            raise OptionError(f"speed: must be greater than 0 flop/s, not {self.speed:g}")

    def draw(self) -> Workload:
        """Draw the workload, the same at each call. OptionError names the parameter."""
        self.check()
        rng = Random(self.seed)
        return generate(self.jobs, self.hosts, rng, load=self.load, overestimate=self.overestimate, work=self.work)

    def draw_jobs(self) -> Iterator[DelayJob]:
        """Return an iterator over its jobs, the same at each call; no job is kept in memory. OptionError.

        With a load all jobs are drawn twice: the first pass determines the factor by which submission times are scaled.
        """
        self.check()
        scale = None if self.load is None else _scale(self._drawn(), self.hosts * self.load)
        return _placed(self._drawn(), scale)

    def _drawn(self) -> Iterator[_Draw]:
        return _draw(self.jobs, self.hosts, Random(self.seed), self.overestimate, ALL_JOBS)


def _check_options(jobs: int, hosts: int, load: float | None, overestimate: float) -> None:
    for name, number, most in (("jobs", jobs, MOST_JOBS), ("hosts", hosts, MAX_HOST)):
        if not 1 <= number <= most:
            raise OptionError(f"{name}: must be from 1 to {most}, not {shown(number)}")
    if load is not None and not LEAST_LOAD <= load <= MOST_LOAD:
        raise OptionError(f"load: must be from {LEAST_LOAD:g} to {MOST_LOAD:g} (0.8 is 80 %), not {load:g}")
    if not 0 <= overestimate <= MOST_OVERESTIMATE:
        raise OptionError(f"overestimate: must be from 0 to {MOST_OVERESTIMATE:g}, not {overestimate:g}")


def _size(hosts: int, rng: Random, parameters: LublinParameters) -> int:
    """Draw the hosts of a job: one, or 2 to the power of a two-stage uniform number, rounded for the powers of two."""
    kind = rng.random()
    if kind <= parameters.serial:
        return 1
    high = max(math.log2(hosts) - parameters.top_gap, 0.0)
    low = min(parameters.lowest_size, high)
    middle = max(high - parameters.middle_gap, low)
    exponent = rng.uniform(low, middle) if rng.random() <= parameters.small else rng.uniform(middle, high)
    if kind <= parameters.serial + parameters.power_of_two:
        exponent = min(math.floor(exponent + 0.5), math.floor(math.log2(hosts)))
    return math.floor(2**exponent + 0.5)


def _run_time(size: int, rng: Random, parameters: LublinParameters) -> int:
    """Draw seconds: e to the power of a hyper-gamma number; the larger the job, the more probably a long one."""
    short_probability = parameters.short_slope * size + parameters.short_base
    while True:
        distribution = parameters.short if rng.random() <= short_probability else parameters.long
        logarithm = rng.gammavariate(*distribution)
        if logarithm <= _LONGEST_RUN:
            return int(math.exp(logarithm))


def _walltime(run: int, overestimate: float, rng: Random) -> int:
    estimate = run * rng.uniform(1.0, 1.0 + overestimate)
    return 60 * max(math.ceil(estimate / 60), run // 60 + 1)


def _arrivals(rng: Random, parameters: LublinParameters) -> Iterator[float]:
    """Yield instants of arrival, in seconds.

    Gaps are drawn on a clock of even arrivals, on which each half hour lasts in proportion to its share of a day's
    arrivals; an instant on that clock is then converted to a real one.
    """
    shape, scale = parameters.gap
    day_ends = [0.0, *accumulate(_daily_cycle(parameters))]
    clock = 0.0
    while True:
        logarithm = rng.gammavariate(shape * parameters.rush_ratio, scale)
        if logarithm > _LONGEST_GAP:
            continue
        clock += math.exp(logarithm) / _BUCKET_SECONDS
        days, rest = divmod(clock, day_ends[-1])
        bucket = min(bisect.bisect_right(day_ends, rest) - 1, _BUCKETS - 1)
        inside = (rest - day_ends[bucket]) / (day_ends[bucket + 1] - day_ends[bucket])
        yield (days * _BUCKETS + bucket + inside) * _BUCKET_SECONDS


def _daily_cycle(parameters: LublinParameters) -> list[float]:
    """Return the weight of each half hour from midnight on, 1 being the average."""
    weights = [0.0] * _BUCKETS
    for point in range(_FIRST_BUCKET, _FIRST_BUCKET + _BUCKETS):
        upper, lower = (_gamma_cdf(point + side, *parameters.cycle) for side in (0.5, -0.5))
        weights[(point - 1) % _BUCKETS] = upper - lower
    mean = add_up(weights) / _BUCKETS
    return [weight / mean for weight in weights]


def _gamma_cdf(x: float, shape: float, scale: float) -> float:
    """Return the cumulative distribution of a gamma: a power series (DLMF 8.7.1)."""
    z = x / scale
    term = total = 1.0 / shape
    denominator = shape
    while term > total * 1e-15:
        denominator += 1.0
        term *= z / denominator
        total += term
    return total * math.exp(shape * math.log(z) - z - math.lgamma(shape))

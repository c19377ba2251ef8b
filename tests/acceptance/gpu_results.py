"""Results of GPU placement: curves of allocation, and how far they are from published ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

from tests.acceptance.gpu_lists import found, read_table

#: Percentage of GPUs that is requested -> percentage that is allocated.
Curve = Mapping[int, float]
#: How far a curve may be from the published one of the same orders, in percent of all GPUs.
EXACT: Final = 0.02
#: The same for FGD, whose published program adds floats: a sum that does not change may seem to.
ROUNDED: Final = 0.3
#: How far the mean of Random may be from the published one.
RANDOM: Final = 0.5
#: The least standard deviation that is assumed of published means, and their number of seeds.
LEAST_DEVIATION: Final = 0.05
PUBLISHED_SEEDS: Final = 10


class Results(NamedTuple):
    """The curves of one policy for one list, by seed."""

    name: str
    policy: str
    curves: Mapping[int, Curve]

    def mean(self, percent: int) -> float:
        """Return the mean of the curves at a percentage."""
        return fmean(curve[percent] for curve in self.curves.values())


class PublishedMean(NamedTuple):
    """A mean over seeds, and their standard deviation."""

    mean: float
    deviation: float


class Published(NamedTuple):
    """Published results, as far as there are any.

    Attributes:
        curves: by list, policy and seed.
        means: by list and policy, then by percentage that is requested.
    """

    curves: Mapping[tuple[str, str, int], Curve]
    means: Mapping[tuple[str, str], Mapping[int, PublishedMean]]

    def differences(self, results: Results) -> list[str]:
        """Return a line for each result that is too far from the published one.

        Curves are compared if they are published for these seeds. Otherwise means are, which may differ by three
        standard deviations of their difference.
        """
        name, policy = results.name, results.policy
        exact = {
            seed: self.curves[name, policy, seed] for seed in results.curves if (name, policy, seed) in self.curves
        }
        compared = [
            (f"seed {seed}", percent, results.curves[seed][percent], value, ROUNDED if policy == "FGD" else EXACT)
            for seed, curve in exact.items()
            for percent, value in curve.items()
        ]
        if not exact:
            share = math.sqrt(1 / PUBLISHED_SEEDS + 1 / len(results.curves))
            for percent, (mean, deviation) in self.means.get((name, policy), {}).items():
                tolerance = RANDOM if policy == "Random" else 3 * share * max(deviation, LEAST_DEVIATION)
                compared.append(("mean", percent, results.mean(percent), mean, tolerance))
        return [
            f"{name} {policy}, {run}: {value:.2f} at {percent} %, published {theirs:.2f} +- {tolerance:.2f}"
            for run, percent, value, theirs, tolerance in compared
            if abs(value - theirs) > tolerance + 1e-9
        ]


def read_published(folder: Path) -> Published:
    """Read `expected.csv` and `orders/expected-exact.csv` of a folder, if they are there. WorkloadError."""
    curves = dict[tuple[str, str, int], Curve]()
    means = dict[tuple[str, str], Mapping[int, PublishedMean]]()
    exact, mean = found(folder / "orders", "expected-exact"), found(folder, "expected")
    for row in read_table(exact) if exact.exists() else ():
        percents = [column for column in row.cells if column.isdigit()]
        key = row.text("workload"), row.text("policy"), row.number_in("seed")
        curves[key] = {int(percent): row.real_in(percent) for percent in percents}
    for row in read_table(mean) if mean.exists() else ():
        percents = [column.removeprefix("mean_") for column in row.cells]
        percents = [percent for percent in percents if percent.isdigit()]
        means[row.text("workload"), row.text("policy")] = {
            int(percent): PublishedMean(row.real_in(f"mean_{percent}"), row.real_in(f"sd_{percent}"))
            for percent in percents
        }
    return Published(curves, means)

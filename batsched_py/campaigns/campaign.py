"""A campaign: many simulations, and the comparison of the algorithms that decided in them, as `compare` makes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from batsched_py.campaigns.bootstrap import FEW, LEVEL, RESAMPLES
from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms, find_different_jobs
from batsched_py.campaigns.inputs import WorkloadLike
from batsched_py.campaigns.metrics import Metric
from batsched_py.campaigns.study import Keep, Outcome, ShowProgress, Variant, run_study
from batsched_py.model.limits import LIMITS, Limits
from batsched_py.model.platform import Platform
from batsched_py.simulator.settings import Settings
from batsched_py.simulator.simulation import DEFAULTS

#: Workloads that a line names which is true of several.
_NAMED: Final = 3


class Campaign(Struct, frozen=True, kw_only=True):
    """A study that is to be made and compared; the attributes are those of `run_study` and `compare_algorithms`."""

    platform: Platform
    workloads: Mapping[str, WorkloadLike]
    variants: Sequence[Variant]
    metrics: Sequence[Metric]
    baseline: str | None = None
    seeds: Sequence[int] = ()
    settings: Settings = DEFAULTS
    clock: str = "zero"
    processes: int | None = None
    keep: Keep | None = None
    level: float = LEVEL
    resamples: int = RESAMPLES
    limits: Limits = LIMITS

    def run(self, progress: ShowProgress | None = None) -> AlgorithmComparison:
        """Run the study and compare its algorithms; errors are those of `run_study` and `compare_algorithms`."""
        study = run_study(
            self.platform,
            self.workloads,
            self.variants,
            seeds=self.seeds,
            settings=self.settings,
            clock=self.clock,
            processes=self.processes,
            keep=self.keep,
            progress=progress,
            limits=self.limits,
        )
        return compare_algorithms(
            study, self.metrics, baseline=self.baseline, level=self.level, resamples=self.resamples
        )


def find_cautions(comparison: AlgorithmComparison) -> Iterator[str]:
    """Find the reasons why means may not compare, or intervals may be too narrow, a line each."""
    study = comparison.study
    count = len(study.workloads)
    for found in find_different_jobs(study, comparison.baseline):
        for workloads, what in ((found.ran, "ran"), (found.succeeded, "succeeded")):
            if workloads:
                yield (
                    f"not the same jobs {what} under {found.variant} as under {comparison.baseline} on "
                    f"{len(workloads)} of {count} workloads ({workloads[0]}...): their figures are of different jobs"
                )
    if 1 < study.observations < FEW:
        yield f"{study.observations} {study.observed} are few: below {FEW} the intervals are narrower than they say"


def group_lines(lines: Iterable[tuple[Outcome, str]]) -> Iterator[tuple[str, str]]:
    """Yield each line of an algorithm once, after its runs: "easy on w1", "easy on 7 workloads (w1, w2, w3...)"."""
    workloads: dict[tuple[str, str], list[str]] = {}
    for outcome, line in lines:
        workloads.setdefault((outcome.variant, line), []).append(outcome.workload)
    for (variant, line), names in workloads.items():
        distinct = list(dict.fromkeys(names))
        some = ", ".join(distinct[:_NAMED]) + ("..." if len(distinct) > _NAMED else "")
        yield f"{variant} on {some if len(distinct) == 1 else f'{len(distinct)} workloads ({some})'}", line

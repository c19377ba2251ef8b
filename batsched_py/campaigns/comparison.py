"""What a study says: each algorithm against one of them, figure by figure, paired by workload."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from batsched_py.brief import Brief
from batsched_py.campaigns.bootstrap import LEVEL, RESAMPLES, Bootstrap, Estimate, Pairs
from batsched_py.campaigns.figures import Figure
from batsched_py.campaigns.study import Outcome, Study
from batsched_py.errors import OptionError
from batsched_py.reporting.metrics.same_jobs import JobMarks, other_jobs
from batsched_py.wording import unknown


class Entry(Struct, frozen=True):
    """One algorithm's figure.

    Attributes:
        variant: the algorithm's name.
        mean: over the workloads; None if it failed on one, or the figure has no meaning there.
        pairs: it (the ones) against the baseline (the others), workload by workload; None for the baseline itself, or
            if either has no mean.
    """

    variant: str
    mean: Estimate | None
    pairs: Pairs | None = None


class Section(Brief, frozen=True):
    """All algorithms by one figure, in the order of the study."""

    figure: Figure
    entries: tuple[Entry, ...]


class Comparison(Brief, frozen=True):
    """All algorithms by all figures.

    Attributes:
        study: the runs.
        baseline: name of the algorithm that the others are compared with.
        level: of the intervals, between 0 and 1.
        resamples: how many resamples the intervals are made of.
        sections: one for each figure.
    """

    study: Study
    baseline: str
    level: float
    resamples: int
    sections: tuple[Section, ...]


def compare(
    study: Study,
    figures: Sequence[Figure],
    *,
    baseline: str | None = None,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare the algorithms of a study with the one called `baseline`, the first if None.

    One workload is one observation, because its jobs wait for each other: intervals come from the differences and
    ratios of several workloads, and there are none for one. An algorithm that failed on a workload has no figures: a
    mean over other workloads than the others' would not compare. Where algorithms were run with several seeds, the
    observation of a workload is its mean over them; of one workload, each seed is an observation.
    OptionError if there is no such baseline.
    """
    names = [variant.name for variant in study.variants]
    base = find_baseline(names, baseline)
    bootstrap = Bootstrap(study.observations, level=level, resamples=resamples)
    runs = {name: study.of(name) for name in names}
    count = study.observations
    return Comparison(
        study, base, level, resamples, tuple(_section(figure, runs, base, bootstrap, count) for figure in figures)
    )


def find_baseline(names: Sequence[str], wanted: str | None) -> str:
    """The name of the baseline: the first if none is wanted. OptionError if there is no algorithm of that name."""
    if wanted is not None and wanted not in names:
        raise OptionError(f"baseline {wanted}: {unknown(wanted, names)}")
    return names[0] if wanted is None else wanted


def _section(
    figure: Figure, runs: Mapping[str, Sequence[Outcome]], base: str, bootstrap: Bootstrap, count: int
) -> Section:
    values = {name: _values(figure, outcomes, count) for name, outcomes in runs.items()}
    theirs = values[base]
    return Section(
        figure,
        tuple(
            Entry(
                name,
                None if mine is None else bootstrap.mean(mine),
                None if name == base or mine is None or theirs is None else bootstrap.compare(mine, theirs),
            )
            for name, mine in values.items()
        ),
    )


def _values(figure: Figure, outcomes: Sequence[Outcome], count: int) -> list[float] | None:
    """One for each of `count` observations, the mean of its runs; None if a run has none."""
    found = [figure.of(outcome) for outcome in outcomes]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    runs = len(values) // count
    return [math.fsum(values[first : first + runs]) / runs for first in range(0, len(values), runs)]


class Unlike(Struct, frozen=True):
    """Workloads on which an algorithm ran, or finished, other jobs than the baseline.

    Attributes:
        variant: the algorithm's name.
        ran: on which of them other jobs ran.
        succeeded: on which of the others the same jobs ran, but others of them succeeded.
    """

    variant: str
    ran: tuple[str, ...]
    succeeded: tuple[str, ...]


def unlike(study: Study, baseline: str) -> list[Unlike]:
    """Of algorithms whose figures are not over the same jobs as the baseline's."""
    base = study.of(baseline)
    found = []
    for variant in study.variants:
        pairs = zip(study.of(variant.name), base, strict=True)
        whole = [(mine, theirs) for mine, theirs in pairs if not mine.error and not theirs.error]
        others = [(mine.workload, other_jobs(_marks(mine), _marks(theirs))) for mine, theirs in whole]
        ran = tuple(workload for workload, what in others if what == "ran")
        succeeded = tuple(workload for workload, what in others if what == "succeeded")
        if ran or succeeded:
            found.append(Unlike(variant.name, ran, succeeded))
    return found


def _marks(outcome: Outcome) -> JobMarks:
    return JobMarks(outcome.ran, outcome.succeeded)

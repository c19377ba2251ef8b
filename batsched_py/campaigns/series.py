"""A series of comparisons: the same algorithms and metrics on groups of workloads, such as a group for each load."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.campaigns.comparison import AlgorithmComparison
from batsched_py.campaigns.study import Study
from batsched_py.results.run_file import WorkloadFile
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.text.wording import spelled


class WorkloadGroup(Struct, frozen=True):
    """Workloads that are observations of the same thing, and are compared together.

    Attributes:
        values: what distinguishes the group from others: {"load": 0.6}. Empty if it is the only one.
        workloads: name -> workload.
        origins: name -> where a workload is from, if its object does not tell.
    """

    values: Mapping[str, Any]
    workloads: Mapping[str, WorkloadLike]
    origins: Mapping[str, WorkloadFile] = field(default_factory=dict)


class SeriesPart(Struct, frozen=True):
    """One comparison of a series, and what distinguishes it from the others; nothing if it is the only one."""

    values: Mapping[str, Any]
    comparison: AlgorithmComparison

    @property
    def name(self) -> str:
        """The values as text: "load=0.6"; "" if it is the only part."""
        return ", ".join(f"{name}={spelled(value)}" for name, value in self.values.items())


def dimensions(parts: Sequence[SeriesPart]) -> tuple[str, ...]:
    """Return the names of the values that distinguish the parts, in their order."""
    return tuple(dict.fromkeys(name for part in parts for name in part.values))


def study_of(study: Study, workloads: Collection[str]) -> Study:
    """Return the runs of a study on some of its workloads."""
    return replace(
        study,
        workloads=tuple(name for name in study.workloads if name in workloads),
        outcomes=tuple(outcome for outcome in study.outcomes if outcome.workload in workloads),
        origins={name: origin for name, origin in study.origins.items() if name in workloads},
        warm_up=None if study.warm_up is None else study.warm_up.of(workloads, study.seeds),
    )


class ComparisonSeries(Struct, frozen=True):
    """All runs, and a comparison for each group of workloads.

    Attributes:
        study: the runs of all parts.
        parts: at least one; all have the same algorithms, metrics and options of comparison.
    """

    study: Study
    parts: tuple[SeriesPart, ...]

    @classmethod
    def of(cls, comparison: AlgorithmComparison) -> ComparisonSeries:
        """Return a series of one comparison."""
        return cls(comparison.study, (SeriesPart({}, comparison),))

    @property
    def comparisons(self) -> tuple[AlgorithmComparison, ...]:
        """The comparison of each part."""
        return tuple(part.comparison for part in self.parts)

"""Comparisons of a campaign: the algorithms in each group of workloads, under the same conditions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.bootstrap import LEVEL, RESAMPLES
from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms
from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun, Setting
from batsched_py.campaigns.study import Study, WarmUp
from batsched_py.campaigns.warm_up import rule_of
from batsched_py.reporting.metrics.catalogue import MetricInfo

#: The outcome of a missing run.
_MISSING: Final = "not run yet"


class GroupStudy(Struct, frozen=True):
    """The runs of a group of workloads on a platform with the same settings.

    Attributes:
        setting: the platform and the settings.
        group: the name of the group.
        study: all algorithms on its workloads.
    """

    setting: Setting
    group: str
    study: Study

    @property
    def name(self) -> str:
        """Platform, settings and group, for display."""
        return f"{self.setting.name}: {self.group}"


class GroupComparison(Struct, frozen=True):
    """The algorithms in a group, compared."""

    group: GroupStudy
    comparison: AlgorithmComparison


def group_studies(plan: CampaignPlan, ended: Mapping[str, StoredRun]) -> list[GroupStudy]:
    """Return the study of each group, in the order of the plan; a missing run has an outcome without metrics."""
    groups: dict[tuple[int, str], list[PlannedRun]] = {}
    for run in plan.runs:
        groups.setdefault((id(run.setting), run.source.group), []).append(run)
    return [_study(plan, runs, ended) for runs in groups.values()]


def _study(plan: CampaignPlan, runs: Sequence[PlannedRun], ended: Mapping[str, StoredRun]) -> GroupStudy:
    setting, group = runs[0].setting, runs[0].source.group
    study = Study(
        workloads=tuple(dict.fromkeys(run.workload for run in runs)),
        variants=tuple(variant.loaded for variant in plan.variants),
        outcomes=tuple(_outcome(run, ended.get(run.key)) for run in runs),
        seeds=plan.campaign.seeds,
        origins={run.workload: run.source.origin for run in runs},
        platform=setting.file,
        window=plan.campaign.window,
        warm_up=_warm_up(plan, runs, ended),
    )
    return GroupStudy(setting, group, study)


def _warm_up(plan: CampaignPlan, runs: Sequence[PlannedRun], ended: Mapping[str, StoredRun]) -> WarmUp | None:
    """Return what is cut of the workloads of a group, as the runs that ended found it; None if nothing is."""
    jobs = plan.campaign.warm_up_jobs
    if not jobs:
        return None
    found = {run.source.name: ended[run.key].outcome.warm_up for run in runs if run.key in ended}
    return WarmUp(rule_of(jobs), {name: end.begin for name, end in found.items() if end is not None})


def _outcome(run: PlannedRun, ended: StoredRun | None) -> Outcome:
    if ended is None:
        return Outcome(run.workload, run.variant.name, error=_MISSING, options=dict(run.options))
    return replace(ended.outcome, workload=run.workload, variant=run.variant.name, options=dict(run.options))


def compare_groups(
    groups: Sequence[GroupStudy],
    metrics: Sequence[MetricInfo],
    baseline: str | None,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
) -> list[GroupComparison]:
    """Compare the algorithms of each group, as `compare` does. OptionError if there is no such baseline."""
    return [
        GroupComparison(
            group, compare_algorithms(group.study, metrics, baseline=baseline, level=level, resamples=resamples)
        )
        for group in groups
    ]

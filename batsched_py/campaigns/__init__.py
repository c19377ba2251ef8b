"""Python API for single simulations, and for studies that compare algorithms with confidence intervals.

Start with `simulate` (of `runs`: one call that returns a run), then `study_runner` (each algorithm on each workload),
the resulting `study`, and `comparison` (the algorithms of a study against a baseline). `processes` runs work in
separate processes, `bootstrap` computes intervals, `metrics` lists the metrics; `comparison_table`, `comparison_files`,
`figures` and `comparison_page` present the results. `plan` plans a campaign, which a study file describes; `execution`
executes the runs of campaigns and studies.

Invariants: the outcomes of a study do not depend on the number of processes; the same study and the same options give
the same comparison, to the last digit; a run that fails is an outcome, not an exception.
"""

from batsched_py.campaigns.bootstrap import Estimate, Pairs
from batsched_py.campaigns.comparison import AlgorithmComparison, AlgorithmMean, MetricComparison, compare_algorithms
from batsched_py.campaigns.execution.campaign_runner import CampaignState, read_state, run_missing
from batsched_py.campaigns.execution.dask_workers import dask_workers
from batsched_py.campaigns.execution.local_workers import LocalWorkers
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.worker_place import WorkerPlace
from batsched_py.campaigns.figures import draw_comparison
from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.plan.campaign import Campaign
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.campaigns.results.dataset import write_dataset
from batsched_py.campaigns.results.groups import compare_groups, group_studies
from batsched_py.campaigns.study import Study
from batsched_py.campaigns.study_files import StudyFiles
from batsched_py.campaigns.study_runner import run_study
from batsched_py.campaigns.variant import Variant
from batsched_py.model.platform import Platform
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.results.records import JobRecord, Result
from batsched_py.runs.job_wait import JobWait
from batsched_py.runs.run import Run
from batsched_py.runs.simulate import simulate
from batsched_py.runs.simulated_run import SimulatedRun
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.lublin import Drawn
from batsched_py.traces.simgrid_xml import read_platform

__all__ = [
    "AlgorithmComparison",
    "AlgorithmMean",
    "Campaign",
    "CampaignPlan",
    "CampaignState",
    "Drawn",
    "Estimate",
    "JobRecord",
    "JobWait",
    "Limits",
    "LocalWorkers",
    "MetricComparison",
    "Outcome",
    "Pairs",
    "PlannedRun",
    "Platform",
    "Result",
    "Run",
    "RunStore",
    "Settings",
    "SimulatedRun",
    "Study",
    "StudyFiles",
    "Variant",
    "WorkerPlace",
    "Workload",
    "compare_algorithms",
    "compare_groups",
    "dask_workers",
    "draw_comparison",
    "find_metrics",
    "group_studies",
    "plan_campaign",
    "read_platform",
    "read_state",
    "read_study",
    "read_workload",
    "run_missing",
    "run_study",
    "simulate",
    "write_dataset",
]

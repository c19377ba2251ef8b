"""Python API for single simulations, and for studies that compare algorithms with confidence intervals.

Start with `simulate` (of `runs`: one call that returns a run), then `study_runner` (each algorithm on each workload),
the resulting `study`, and `comparison` (the algorithms of a study against a baseline). `processes` runs work in
separate processes, `bootstrap` computes intervals,
`metrics` lists the metrics; `comparison_table`, `comparison_files`, `study_tables`, `figures` and `comparison_page`
present the results. `plan` plans a campaign, which a study file describes; `execution` executes the runs of campaigns
and studies.

Invariants: the outcomes of a study do not depend on the number of processes; the same study and the same options give
the same comparison, to the last digit; a run that fails is an outcome, not an exception.
"""

from batsched_py.campaigns.comparison import AlgorithmComparison, compare_algorithms
from batsched_py.campaigns.figures import draw_comparison
from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.study import Outcome, Study
from batsched_py.campaigns.study_files import StudyFiles
from batsched_py.campaigns.study_runner import run_study
from batsched_py.campaigns.variant import Variant
from batsched_py.runs.run import Run
from batsched_py.runs.simulate import simulate
from batsched_py.runs.simulated_run import SimulatedRun
from batsched_py.traces.lublin import Drawn

__all__ = [
    "AlgorithmComparison",
    "Drawn",
    "Outcome",
    "Run",
    "SimulatedRun",
    "Study",
    "StudyFiles",
    "Variant",
    "compare_algorithms",
    "draw_comparison",
    "find_metrics",
    "run_study",
    "simulate",
]

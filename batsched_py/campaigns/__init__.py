"""Simulations from Python: for scripts that run many, and compare them."""

from batsched_py.campaigns.comparison import Comparison, compare
from batsched_py.campaigns.figures import find_figures
from batsched_py.campaigns.simulate import Run, simulate
from batsched_py.campaigns.study import Outcome, Study, Variant, run_study
from batsched_py.traces.drawn import Drawn

__all__ = [
    "Comparison",
    "Drawn",
    "Outcome",
    "Run",
    "Study",
    "Variant",
    "compare",
    "find_figures",
    "run_study",
    "simulate",
]

"""Simulations from Python: for scripts that run many, and compare them."""

from batsched_py.experiments.comparison import Comparison, compare
from batsched_py.experiments.figures import find_figures
from batsched_py.experiments.simulate import Run, simulate
from batsched_py.experiments.study import Outcome, Study, Variant, run_study
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

"""Simulations from Python: for scripts that run many."""

from batsched_py.experiments.simulate import Run, simulate

__all__ = ["Run", "simulate"]

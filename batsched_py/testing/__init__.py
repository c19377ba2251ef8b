"""For authors of algorithms: a bench to look at single decisions, and the tests that every algorithm must pass."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from batsched_py.testing.bench import Bench
from batsched_py.testing.case import Case
from batsched_py.testing.decision import Decision
from batsched_py.testing.late_batsim import LateBatsim
from batsched_py.testing.play import Played, play

if TYPE_CHECKING:
    from batsched_py.testing.contract import ContractTests

__all__ = ["Bench", "Case", "ContractTests", "Decision", "LateBatsim", "Played", "play"]


def __getattr__(name: str) -> Any:
    """The contract suite alone needs pytest and Hypothesis, which whoever looks at single decisions need not have."""
    if name == "ContractTests":
        return import_module("batsched_py.testing.contract").ContractTests
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Tools for authors of algorithms: a bench for single decisions, and the tests that every algorithm must pass.

Start with `contract`: its class has one test for each promise, in the words of docs/testing.md. A test draws a `Case`
(`strategies`; `edges` has those that chance rarely finds), a `Player` lets the algorithm answer it, and `rules` judge
the results. Two peers stand in for Batsim: the embedded simulator, and `LateBatsim`, which sends events as late and
in as many pieces as the protocol allows. `fingerprints` compares the bytes of two processes. The `Bench` needs none
of these: it is Batsim by hand, for one decision at a time.

Invariants: algorithms answer through a real session and real bytes, and the session's state is checked after each
message; a case is a value whose `repr` makes it again, so that each failure can be replayed; all chance comes from
seeds; only `contract` and `strategies` need pytest and Hypothesis.
"""

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
    """Import the contract suite when it is asked for: it alone needs pytest and Hypothesis."""
    if name == "ContractTests":
        return import_module("batsched_py.testing.contract").ContractTests
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

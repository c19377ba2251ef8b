"""Tools for authors of algorithms: a bench for single decisions, and the tests that every algorithm must pass.

Start with `contract`: its class has one test for each promise of docs/testing.md. A test draws a `Case` (`strategies`;
`edges` has cases that are rarely drawn), a `Player` runs the algorithm on it, and `rules` check the results. Two peers
replace Batsim: the embedded simulator, and `LateBatsim`, which sends events as late and in as many messages as the
protocol allows. `fingerprints` compares the bytes of two processes. The `Bench` is independent of these: a manually
controlled Batsim for single decisions.

Invariants: algorithms answer through a real session and real bytes, and the session's state is checked after each
message; a case is a value whose `repr` recreates it, so that each failure can be replayed; all randomness comes from
seeds; only `contract` and `strategies` need pytest and Hypothesis.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from batsched_py.metadata.memory_store import MemoryStore
from batsched_py.metadata.store import JobStore
from batsched_py.plugins import load
from batsched_py.protocol import commands
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from batsched_py.testing.bench import Bench
from batsched_py.testing.case import Case
from batsched_py.testing.decision import Decision
from batsched_py.testing.late_batsim import LateBatsim
from batsched_py.testing.play import Played, play
from batsched_py.transcripts.compare import Tolerance, TranscriptComparison, compare_transcripts
from batsched_py.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from batsched_py.testing.contract import ContractTests

__all__ = [
    "Bench",
    "Case",
    "ContractTests",
    "Decision",
    "JobStore",
    "LateBatsim",
    "MemoryStore",
    "Played",
    "Session",
    "Simulation",
    "Tolerance",
    "Transcript",
    "TranscriptComparison",
    "commands",
    "compare_transcripts",
    "load",
    "play",
]


def __getattr__(name: str) -> Any:
    """Import the contract suite lazily, because only it needs pytest and Hypothesis."""
    if name == "ContractTests":
        return import_module("batsched_py.testing.contract").ContractTests
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

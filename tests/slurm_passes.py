"""Passes of the kernel beside those of a real Slurm: what each tested, planned and started, and the first that differs.

Passes of the main scheduler that start nothing are left out, as are those of backfill that test nothing: the end of a
job some hundredths of a second earlier or later adds or removes one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from batsched_py.slurm.decisions import Decision, JobStart
from tests.slurm_cases import Player

#: Seconds by which a pass may be earlier or later than the recorded one.
TOLERANCE = 1.0


@dataclass(frozen=True)
class Pass:
    """A pass; `plan` has the planned start, the end of what is reserved and the nodes of each job."""

    at: float
    kind: str
    started: tuple[str, ...]
    tested: tuple[str, ...] = ()
    plan: tuple[tuple[str, float, float, str], ...] = ()

    def is_empty(self) -> bool:
        return not self.started and not self.tested

    def differs(self, other: Pass) -> bool:
        near = abs(self.at - other.at) <= TOLERANCE
        return not near or (self.kind, self.started, self.tested, self.plan) != (
            other.kind,
            other.started,
            other.tested,
            other.plan,
        )

    def __str__(self) -> str:
        plan = ", ".join(f"{job} {start:g}-{end:g} {nodes}" for job, start, end, nodes in self.plan)
        tested = f" tested {' '.join(self.tested)};" if self.tested else ""
        return (
            f"{self.at:.2f} {self.kind}:{tested} started {' '.join(self.started) or 'nothing'}; plan {plan or 'none'}"
        )


class RecordingPlayer(Player):
    """A player that records the passes of the controller."""

    def __init__(self, case: Mapping[str, Any], clock: int, started: float) -> None:
        super().__init__(case, clock, started)
        self.passes: list[Pass] = []
        self._seen = 0

    def _obey(self, decisions: Sequence[Decision]) -> None:
        slurm = self.controller
        for at, kind in slurm.passes[self._seen :]:
            by = "backfill" if kind == "backfill" else "main"
            starts = [one.job for one in decisions if isinstance(one, JobStart) and (one.at, one.scheduler) == (at, by)]
            last, tested, plan = slurm.backfill.last, tuple[str, ...](), tuple[tuple[str, float, float, str], ...]()
            if by == "backfill" and last is not None:
                tested = tuple(last.tested)
                plan = tuple(sorted((p.job, p.start, p.end, slurm.cluster.names(p.nodes)) for p in last.plan))
            self.passes.append(Pass(at, by, tuple(starts), tested, plan))
        self._seen = len(slurm.passes)
        super()._obey(decisions)


def recorded(passes: Sequence[Mapping[str, Any]]) -> list[Pass]:
    """Return the passes of a recording: `plan` may be "same", as in the pass of backfill before."""
    found, plan = [], dict[str, Any]()
    for one in passes:
        kind, started = one["kind"].split("-")[0], tuple(one.get("started", ()))
        if kind != "backfill":
            found.append(Pass(one["t"], kind, started))
            continue
        plan = plan if one["plan"] == "same" else one["plan"]
        rows = tuple(sorted((job, *row) for job, row in plan.items()))
        found.append(Pass(one["t"], kind, started, tuple(one["tested"]), rows))
    return found


def first_difference(real: Sequence[Pass], ours: Sequence[Pass]) -> tuple[Pass | None, Pass | None] | None:
    """Return the first pass that differs and its counterpart, or None if all agree."""
    pairs = []
    for kind in ("main", "backfill"):
        sides = [[one for one in side if one.kind == kind and not one.is_empty()] for side in (real, ours)]
        differing = ((a, b) for a, b in zip_longest(*sides) if a is None or b is None or a.differs(b))
        if (pair := next(differing, None)) is not None:
            pairs.append(pair)
    return min(pairs, key=lambda pair: min(one.at for one in pair if one is not None), default=None)


def play_passes(case: Mapping[str, Any], clock: int, started: float) -> list[Pass]:
    """Play a case, and return its passes."""
    player = RecordingPlayer(case, clock, started)
    player.run()
    return player.passes

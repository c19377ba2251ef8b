"""Tests of the jobs in a pass of backfill, for the next one: most of them would end in the same way.

A test depends on the running jobs, on the reservations made before it in the pass, and on time. Of a pass in which
nothing started, the next one uses the tests for which all three are the same; a new job at the end of the queue, or an
instant that matters to one job only, costs one test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from batsched_py.slurm.plan_table import PlannedStart
from batsched_py.slurm.queue import Candidate


@dataclass(frozen=True, slots=True)
class JobTest:
    """A test that started nothing.

    Attributes:
        plans: number of planned starts before it.
        may_reserve: may the job have nodes reserved?
        until: from this instant on the test may end otherwise.
        planned: the start that was planned, if there is one.
        is_again_due: was the job tried at a later edge of the table?
    """

    plans: int
    may_reserve: bool
    until: float
    planned: PlannedStart | None
    is_again_due: bool


@dataclass(slots=True)
class PassTests:
    """The tests of one pass: `basis` is that of the cluster, `until` the instant from which no test may be used."""

    basis: int
    until: float = inf
    plan: list[PlannedStart] = field(default_factory=list)
    #: Tests by candidate.
    tests: dict[Candidate, JobTest] = field(default_factory=dict)

    def hold(self, basis: int, instant: float) -> bool:
        """May tests be used in a pass of this basis at an instant?"""
        return basis == self.basis and instant < self.until

    def find(
        self, candidate: Candidate, plan: list[PlannedStart], *, may_reserve: bool, instant: float
    ) -> JobTest | None:
        """Return the test of a candidate if it would be the same after these planned starts; else None.

        All planned starts but the last one must be known to be those of this pass.
        """
        found = self.tests.get(candidate)
        if found is None or found.plans != len(plan) or found.may_reserve != may_reserve or instant >= found.until:
            return None
        return found

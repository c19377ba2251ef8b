"""Tests of the jobs in a pass of backfill, for the next one: most of them would end in the same way.

A test depends on the running jobs, on the reservations made before it in the pass, and on time. The next pass uses the
tests for which none of the three makes a difference; a new job at the end of the queue, or an instant that matters to
one job only, costs one test.

With whole nodes most starts and ends of jobs make no difference, for two reasons. Let a job with the limit L start, or
end early: the nodes that are idle from L on are the same with and without it. So whatever a waiting job was tried with
waits for the same end and gets the same nodes, if this end is after L. And a start takes nodes only: what was too late
before it is too late after it. What is left to look at is the try that succeeded, if its end is not after L: whether it
still leads to the same start and nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from batsched_py.slurm.forecast import JobForecast
from batsched_py.slurm.plan_table import PlannedStart
from batsched_py.slurm.queue import Candidate
from batsched_py.slurm.running_changes import RunningChanges


@dataclass(slots=True)
class JobTest:
    """A test that started nothing, also while it is made.

    Attributes:
        plans: number of planned starts before it.
        may_reserve: may the job have nodes reserved?
        until: from this instant on the test may end otherwise.
        planned: the start that was planned, if there is one.
        is_again_due: was the job tried at a later edge of the table?
        late: the first end of a running job for which a try without success waited; -infinity if this is unknown.
        blocked: the same of the tries without success because their nodes are reserved.
        found: the try with success, if there is one; and from which instant on it was.
    """

    plans: int
    may_reserve: bool
    until: float = inf
    planned: PlannedStart | None = None
    is_again_due: bool = False
    late: float = -inf
    blocked: float = -inf
    found: JobForecast | None = None
    after: float = -inf

    def holds_before(self, now: float, *instants: float) -> None:
        """Note instants from which the test may end otherwise; those that are over do not count."""
        for instant in instants:
            if now < instant < self.until:
                self.until = instant

    def note_late(self, end: float) -> None:
        """Note that a try without success waited for an end."""
        self.late = min(self.late, end)

    def note_blocked(self, end: float) -> None:
        """Note that the nodes of a try that waited for an end are reserved."""
        self.note_late(end)
        self.blocked = min(self.blocked, end)

    def outlives(self, changes: RunningChanges) -> bool:
        """Do the tries without success end in the same way after these changes?"""
        return not changes or (changes.ended < self.late and changes.started < self.blocked)


@dataclass(slots=True)
class PassTests:
    """The tests of one pass: `ground` is that of the cluster, `until` the instant from which no test may be used."""

    ground: int
    until: float = inf
    plan: list[PlannedStart] = field(default_factory=list)
    #: Tests by candidate.
    tests: dict[Candidate, JobTest] = field(default_factory=dict)

    def hold(self, ground: int, instant: float) -> bool:
        """May tests be used in a pass on this ground at an instant?"""
        return ground == self.ground and instant < self.until

    def find(
        self,
        candidate: Candidate,
        plan: list[PlannedStart],
        changes: RunningChanges,
        *,
        may_reserve: bool,
        instant: float,
    ) -> JobTest | None:
        """Return the test of a candidate if it would be the same after these changes and planned starts; else None.

        All planned starts but the last one must be known to be those of this pass.
        """
        found = self.tests.get(candidate)
        if found is None or found.plans != len(plan) or found.may_reserve != may_reserve or instant >= found.until:
            return None
        return found if found.outlives(changes) else None

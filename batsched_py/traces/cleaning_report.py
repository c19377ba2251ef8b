"""Counts of the jobs of a log by rule, as the cleaning of the log found them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from batsched_py.text.wording import counted
from batsched_py.traces.row_rules import RULES, RowRule


class CleaningReport(Struct, frozen=True):
    """The rows of a log, of which each one is kept or counted under one rule that takes rows.

    Attributes:
        jobs: number of rows for jobs; steps of jobs and rows without a value are none.
        kept: number of jobs kept.
        counts: name of a rule of `row_rules` -> number of rows or jobs, without rules that counted none.
        places: name of a rule -> the places of the first ones.
    """

    jobs: int
    kept: int
    counts: Mapping[str, int] = MappingProxyType({})
    places: Mapping[str, tuple[str, ...]] = MappingProxyType({})

    @property
    def rows(self) -> int:
        """The number of rows of the file: those for jobs, and the others."""
        return self.jobs + sum(count for rule, count in self.applied() if rule.effect == "passed over")

    def count(self, rule: str) -> int:
        """Return the number of rows or jobs counted under a rule. KeyError for a rule that there is not."""
        return self.counts.get(RULES[rule].name, 0)

    def applied(self) -> tuple[tuple[RowRule, int], ...]:
        """Return the rules that counted something, with their counts, in the order of the catalogue."""
        return tuple((rule, count) for name, rule in RULES.items() if (count := self.counts.get(name, 0)))

    def lines(self) -> tuple[str, ...]:
        """Return a line for each count that is not 0: "28481 jobs in the log", "3 dropped: never started"."""
        total = [(self.jobs, "jobs in the log"), (self.kept, "jobs kept")]
        counts = [*total, *((count, rule.line) for rule, count in self.applied())]
        return tuple(
            counted(count, line.replace("jobs ", "job ").replace("lines ", "line ").replace("rows ", "row "), line)
            for count, line in counts
            if count
        )

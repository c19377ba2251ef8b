"""The explanation of a job's wait, as text and as a table for notebooks."""

from __future__ import annotations

from batsched_py.reporting.formatting import brief
from batsched_py.reporting.pictures.html.markup import paragraph, plain_table, words
from batsched_py.reporting.waits.explanation import Explanation
from batsched_py.reporting.waits.wording import at, heading, named, stretches, words_of
from batsched_py.text.representation import Brief


class JobWait(Brief, frozen=True):
    """The wait of a job.

    Attributes:
        explanation: its intervals, each with a reason, and who overtook it.
        by_algorithm: False if the reasons are from the schedule alone.
    """

    explanation: Explanation
    by_algorithm: bool

    @property
    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return a row for each interval with one reason: begin, duration, reason, and the blocking jobs."""
        found = []
        for one in stretches(self.explanation.intervals):
            why = words_of(self.explanation, one.reason, one.end)
            found.append((at(one.begin), brief(one.end - one.begin), why, named(one.blocked_by)))
        return found

    def __str__(self) -> str:
        lines = [f"from {begin} for {length}: {why} {jobs}".rstrip() for begin, length, why, jobs in self.rows]
        return "\n".join([heading(self.explanation), *lines])

    def _repr_html_(self) -> str:
        parts = [paragraph(heading(self.explanation))]
        if self.rows:
            heads = ["from", "for", "reason", "in the way"]
            parts.append(plain_table("", heads, [list(map(words, row)) for row in self.rows]))
        if not self.by_algorithm:
            parts.append(paragraph("The reasons are from the schedule alone."))
        return "".join(parts)

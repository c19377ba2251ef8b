"""The rules under which rows of a file are left out, and jobs are changed: one catalogue for all formats.

A row is what may become a job: a line of a log, a row of a table, a task of a workflow, a request for a lease. Each row
is kept, or counted under one rule that takes rows. Readers count what they leave out in a `RowTally`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from batsched_py.named import by_name

#: Number of examples of each rule in a report.
MOST_EXAMPLES: Final = 3
#: What a rule does with a row: it takes it (the first three) or keeps its job, changed or not.
Effect = Literal["dropped", "left out", "passed over", "corrected", "kept"]
_TAKING: Final = frozenset({"dropped", "left out", "passed over"})


class RowRule(Struct, frozen=True):
    """A rule.

    Attributes:
        name: its identifier, in reports and documentation.
        effect: what it does with the rows that it counts.
        line: text after a count, for more than one: "dropped: never started".
    """

    name: str
    effect: Effect
    line: str

    @property
    def takes(self) -> bool:
        """True if the rows that it counts do not become jobs."""
        return self.effect in _TAKING


def _rule(name: str, effect: Effect, line: str = "") -> RowRule:
    return RowRule(name, effect, line)


#: In the order in which reports list them: readers' rules, then those of cleaning, in the order in which they apply.
_RULES: Final = (
    _rule("dropped_row", "dropped", "dropped: row that cannot be read"),
    _rule("dropped_attempt", "dropped", "dropped: requeued or resized, followed by another row"),
    _rule("dropped_going_on", "dropped", "dropped: not ended, or end unknown"),
    _rule("dropped_never_ran", "dropped", "dropped: never started"),
    _rule("dropped_state", "dropped", "dropped: state unknown"),
    _rule("dropped_duplicate", "dropped", "dropped: job number seen before"),
    _rule("dropped_no_submit_time", "dropped", "dropped: submission time unknown or before the log"),
    _rule("dropped_no_run_time", "dropped", "dropped: run time unknown or 0"),
    _rule("dropped_no_request", "dropped", "dropped: requested time unknown or 0"),
    _rule("dropped_no_processors", "dropped", "dropped: number of processors unknown or 0"),
    _rule("dropped_too_large", "dropped", "dropped: larger than the machine"),
    _rule("left_out_by_window", "left out", "left out: submitted outside the window"),
    _rule("left_out_by_max_jobs", "left out", "left out: after the requested number of jobs"),
    _rule("corrected_order", "corrected", "moved: was after a job submitted later"),
    _rule("corrected_processors", "corrected", "corrected: size taken from the other field"),
    _rule("corrected_run_time", "corrected", "corrected: run time cut to the request"),
    _rule("corrected_zero_run_time", "corrected", "corrected: run time 0 taken as 1 s"),
    _rule("corrected_walltime", "corrected", "corrected: no request, walltime = run time"),
    _rule("cut_lines", "corrected", "lines with more than 18 fields: the others ignored"),
    _rule("passed_over_steps", "passed over", "rows of job steps: passed over"),
    _rule("passed_over_events", "passed over", "rows of other events than the end of a job: passed over"),
    _rule("passed_over_blank", "passed over", "rows without a value: passed over"),
    _rule("cut_dependencies", "corrected", "jobs after a job that is left out: without the dependency"),
    _rule("followers", "kept", "jobs submitted after an earlier one of the same user"),
    _rule("cancelled", "kept", "jobs cancelled while waiting"),
    _rule("kept_apart", "corrected", "jobs with the number of another one (another cluster, or used again): renamed"),
    _rule("tasks_apart", "corrected", "jobs of arrays that differ from the other tasks: kept without their array"),
)
#: Name -> rule.
RULES: Final[Mapping[str, RowRule]] = by_name("_RULES", _RULES)


class RowTally:
    """Counts of rows by rule, with the places of the first ones.

    Attributes:
        counts: name of a rule -> number of rows.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        #: Name of a rule -> places of its first rows.
        self._places: dict[str, list[str]] = {}

    def add(self, rule: str, place: str) -> None:
        """Count a row under a rule of RULES; its place is like "line 5" or "job a7". KeyError for another rule."""
        self.counts[rule] += 1
        if self.counts[rule] <= MOST_EXAMPLES:
            self._places.setdefault(RULES[rule].name, []).append(place)

    @property
    def places(self) -> dict[str, tuple[str, ...]]:
        """The places of the first rows under each rule, at most MOST_EXAMPLES."""
        return {rule: tuple(places) for rule, places in self._places.items()}

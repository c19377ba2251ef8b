"""The explanations of the waits of several runs that a report page shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from batsched_py.reporting.schedules.time_window import TimeWindow
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.longest import longest_waits
from batsched_py.reporting.waits.run_explanation import default_groups, explain_run
from batsched_py.reporting.waits.waiting_by_reason import RunExplanation


class ExplainedWaits(Struct, frozen=True):
    """The explanations, one of each kind for each run.

    Attributes:
        waits: job id -> lines that explain its wait, for the longest waits.
        explanations: where all waiting comes from.
    """

    waits: Sequence[Mapping[str, list[str]]]
    explanations: Sequence[RunExplanation]

    @classmethod
    def of(cls, histories: Sequence[RunHistory], window: TimeWindow | None = None) -> ExplainedWaits:
        """Explain the waits of runs; where waiting comes from, of the jobs submitted in the window."""
        submitted = (-math.inf, math.inf) if window is None else (window.begin, window.end)
        return cls(
            [longest_waits(history) for history in histories],
            [explain_run(history, default_groups(history), submitted=submitted) for history in histories],
        )

"""Explanations of the differences between simulator and recordings, comparison by comparison."""

from __future__ import annotations

from typing import Final

MESSAGES: Final = "messages"
FACTS: Final = "facts"

#: (recording, comparison) -> why it differs.
EXPLAINED: Final = {
    ("o25_sharing_random", MESSAGES): (
        "two jobs end 1 ns apart, which is SimGrid's precision: its rounding makes them one instant or two"
    ),
    ("o07_easy_bf_mixed_cluster", FACTS): (
        "a job that takes as long as its walltime started 0.1 ns after another one; at the end of that one SimGrid"
        " stopped it, because its walltime was less than 1 ns away; with messages that take time it is stopped here too"
    ),
    ("14_energy_watcher_query", FACTS): (
        "the questions for energy took 0.6 ms each to reach Batsim, in which its hosts consumed 7.3 J;"
        " with messages that take time the answers are the same"
    ),
}

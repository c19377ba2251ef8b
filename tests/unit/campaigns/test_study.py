"""Studies: what their outcomes have to say."""

from __future__ import annotations

from batsched_py.campaigns.outcome import Outcome
from batsched_py.campaigns.study import group_lines


def test_a_line_that_several_runs_have_comes_once() -> None:
    """With the first of the workloads; a workload that was run with several seeds counts once."""
    runs = [Outcome(f"w{number}", "easy") for number in (0, 1, 2, 3, 3)]
    lines = [*((run, "no walltime") for run in runs), (runs[0], "late"), (Outcome("w0", "fcfs"), "late")]
    assert list(group_lines(lines)) == [
        ("easy on 4 workloads (w0, w1, w2...)", "no walltime"),
        ("easy on w0", "late"),
        ("fcfs on w0", "late"),
    ]

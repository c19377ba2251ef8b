"""The result of a report in words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from batsched_py.reporting.api import Schedule, measure_run
from batsched_py.reporting.pictures.html.result import result_parts
from batsched_py.reporting.waits.history import RunHistory
from batsched_py.reporting.waits.run_explanation import explain_run
from tests.unit.reporting.records import record, rejected
from tests.unit.reporting.sample_schedules import schedule


def text_of(*runs: Schedule, ranked: bool = True) -> Sequence[str]:
    """The sentences, without tags."""
    names, measured = [run.name for run in runs], [measure_run(run) for run in runs]
    explanations = [explain_run(RunHistory(run)) for run in runs]
    parts = result_parts(names, measured, explanations, ranked=ranked)
    return [" ".join(re.sub("<[^>]*>", " ", part).replace("\N{MINUS SIGN}", "-").split()) for part in parts]


def test_a_run_is_described_by_its_key_figures() -> None:
    """A sentence each says how long it took, how long jobs waited, and mostly why."""
    assert text_of(schedule()) == [
        "3 jobs ran in 00:03:20 , 2 jobs of 4 successful; hosts were in use for 68.8 % of the time.",
        "Jobs waited for 26.7 s on average, half of them for at most 0 s, and for 80 s at most."
        " The mean bounded slowdown is 1.27 .",
        "100 % of the waiting is because too few hosts were free.",
    ]
    assert text_of(schedule(rejected())) == ["No job ran."]


def test_the_best_of_several_runs_is_named() -> None:
    """By how much, against the first run, or the next one if the first is the best; and that it is one workload."""
    slow = schedule(record("a", start=10, finish=20), record("b", start=30, finish=40), name="slow", hosts=1)
    fast = schedule(record("a", start=0, finish=10), record("b", start=10, finish=20), name="<fast>", hosts=1)
    for runs in ((slow, fast), (fast, slow)):
        first, advantages, certainty = text_of(*runs)
        assert first == "&lt;fast&gt; is the best by"
        assert advantages == (
            "mean wait: 5 s , 20 s under slow (-75 %) mean bounded slowdown: 1.50 , 3.00 under slow (-50 %)"
            " maximum wait: 10 s , 30 s under slow (-67 %) utilisation: 100.0 % , 50.0 % under slow (+50.0 points)"
            " makespan: 20 s , 40 s under slow (-50 %)"
        )
        assert certainty.startswith("These are single runs")


def test_equal_runs_have_no_best() -> None:
    """Nor have runs of different jobs."""
    assert text_of(schedule(name="a"), schedule(name="b")) == [
        "The runs do not differ by waits, slowdowns, utilisation or makespan."
    ]
    assert text_of(schedule(name="a"), schedule(name="b"), ranked=False) == [
        "The runs are of different jobs: none of them is the best."
    ]

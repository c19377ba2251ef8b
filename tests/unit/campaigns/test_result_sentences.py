"""The result of a comparison in words: which algorithm is the best, by how much, and how certain it is."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from batsched_py.campaigns.best_algorithm import find_best_by_metric
from batsched_py.campaigns.result_sentences import explain_result, result_sentences
from tests.unit.campaigns.waits_of_algorithms import compared, outcome


def words(waits: dict[str, list[float]], *metrics: str, failed: str = "") -> str:
    """Return the sentences without markup."""
    html = " ".join(result_sentences(compared(waits, *metrics, failed=failed)))
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html)).strip()


def test_the_best_is_compared_with_all_others_and_not_only_with_the_baseline() -> None:
    """The next one comes first; an interval without 0 separates."""
    waits = {"slow": [900.0, 800.0, 1000.0], "near": [110.0, 210.0, 310.0], "fast": [100.0, 200.0, 300.0]}
    [best] = find_best_by_metric(compared(waits))
    assert (best.names, best.rivals, best.certain) == (("fast",), (), True)
    assert list(best.others) == ["near", "slow"]
    assert best.others["near"].difference.value == pytest.approx(-10.0)
    assert best.others["slow"].ratio is not None
    assert best.others["slow"].ratio.value == pytest.approx(200 / 900)


def test_what_intervals_do_not_separate_is_not_certain() -> None:
    """Although both differ from the baseline, of the two better algorithms each is the best on some workload."""
    waits = {"slow": [900.0, 800.0, 1000.0], "one": [100.0, 300.0, 200.0], "other": [200.0, 100.0, 360.0]}
    [best] = find_best_by_metric(compared(waits))
    assert (best.names, best.rivals, best.certain) == (("one",), ("other",), False)
    text = words(waits)
    assert text.startswith("Not certain: the intervals do not separate the best from all others by mean wait: one with")
    assert text.endswith("not separate from other")


def test_sentences_have_values_differences_and_intervals() -> None:
    """Percents of the other mean, from 3 times on a factor, points of shares."""
    waits = {"base": [100.0, 200.0, 300.0], "half": [50.0, 100.0, 150.0]}
    less = "\N{MINUS SIGN}50.0"
    assert words(waits) == f"half is the best by mean wait: 100 s , {less} % [{less}, {less}] against base"
    text = words({"base": [10.0, 10.0], "worse": [30.0, 50.0]}, "utilisation", "mean_wait")
    assert "base is the best by utilisation: 25.0 % , +14.6 points [+12.5, +16.7] against worse" in text
    assert "\N{MINUS SIGN}75.0 % [" in text


def test_a_single_workload_has_a_best_but_no_intervals() -> None:
    comparison = compared({"base": [100.0], "half": [50.0]})
    [best] = find_best_by_metric(comparison)
    assert (best.sampled, best.certain) == (False, False)
    assert words({"base": [100.0], "half": [50.0]}).endswith("\N{MINUS SIGN}50.0 % against base")
    assert "This is a single workload" in explain_result(comparison)
    assert "are few" in explain_result(compared({"a": [1.0, 2.0], "b": [3.0, 4.0]}))


@pytest.mark.parametrize(
    ("waits", "said"),
    [
        ({"a": [5.0, 6.0], "b": [5.0, 6.0]}, "The algorithms do not differ by mean wait."),
        ({"a": [5.0, 6.0]}, "Only a was run: there is nothing to compare it with."),
    ],
)
def test_algorithms_that_do_not_differ_have_no_best(waits: dict[str, list[float]], said: str) -> None:
    assert words(waits) == said


def test_an_algorithm_that_failed_is_not_ranked() -> None:
    """It is named, and the others are compared."""
    text = words({"a": [5.0, 6.0], "b": [9.0, 9.0], "<c>": [1.0, 1.0]}, failed="<c>")
    assert "a is the best by" in text
    assert "Not ranked, because a run failed (see the notes): &lt;c&gt;." in text


def test_algorithms_under_which_other_jobs_ran_have_no_best() -> None:
    comparison = compared({"a": [5.0], "b": [9.0]})
    study = replace(comparison.study, outcomes=(outcome("w0", "a", 5.0, ran="x"), outcome("w0", "b", 9.0, ran="y")))
    assert list(find_best_by_metric(replace(comparison, study=study))) == []
    assert "none of them is the best" in "".join(result_sentences(replace(comparison, study=study)))

"""Campaigns: a study and its comparison in one record, and what to know about their results."""

from __future__ import annotations

from batsched_py.campaigns import Drawn, Outcome, Study, Variant, compare_algorithms, find_metrics, run_study
from batsched_py.campaigns.campaign import Campaign, find_cautions, group_lines
from batsched_py.campaigns.inputs import as_platform
from tests.clone import ROOT

PLATFORM = as_platform(ROOT / "platforms" / "tiny4.xml")
VARIANTS = [Variant("easy", "easy"), Variant("fcfs", "fcfs")]


def study(*outcomes: Outcome) -> Study:
    workloads = tuple(dict.fromkeys(outcome.workload for outcome in outcomes))
    return Study(workloads, tuple(VARIANTS), outcomes)


def test_a_campaign_is_a_study_and_its_comparison() -> None:
    """As the two functions make them; progress is that of the study."""
    workloads = {f"w{seed}": Drawn(jobs=5, hosts=4, seed=seed) for seed in (1, 2)}
    metrics = find_metrics(["mean_wait"])
    seen: list[tuple[int, int]] = []
    campaign = Campaign(
        platform=PLATFORM, workloads=workloads, variants=VARIANTS, metrics=metrics, baseline="fcfs", resamples=200
    )
    found = campaign.run(lambda over, count: seen.append((over, count)))
    expected = compare_algorithms(run_study(PLATFORM, workloads, VARIANTS), metrics, baseline="fcfs", resamples=200)
    assert found == expected
    assert seen == [(number, 4) for number in range(5)]


def test_cautions_name_different_jobs_and_few_workloads() -> None:
    """One workload has no interval, which could be too narrow."""
    same = study(*(Outcome("w0", name, ran="a", succeeded="b") for name in ("easy", "fcfs")))
    assert list(find_cautions(compare_algorithms(same, []))) == []
    other = study(
        *(Outcome(f"w{number}", "easy", ran="a", succeeded="b") for number in range(2)),
        Outcome("w0", "fcfs", ran="x", succeeded="b"),
        Outcome("w1", "fcfs", ran="a", succeeded="b"),
    )
    assert list(find_cautions(compare_algorithms(other, []))) == [
        "not the same jobs ran under fcfs as under easy on 1 of 2 workloads (w0...): "
        "their figures are of different jobs",
        "2 workloads are few: below 10 the intervals are narrower than they say",
    ]


def test_a_line_that_several_runs_have_comes_once() -> None:
    """With the first of the workloads; a workload that was run with several seeds counts once."""
    runs = [Outcome(f"w{number}", "easy") for number in (0, 1, 2, 3, 3)]
    lines = [*((run, "no walltime") for run in runs), (runs[0], "late"), (Outcome("w0", "fcfs"), "late")]
    assert list(group_lines(lines)) == [
        ("easy on 4 workloads (w0, w1, w2...)", "no walltime"),
        ("easy on w0", "late"),
        ("fcfs on w0", "late"),
    ]

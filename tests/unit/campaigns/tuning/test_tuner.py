"""The tuner: the same trials for the same seed, runs that are not made again, options that fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.plan.planner import plan_campaign
from batsched_py.campaigns.plan.study_file import read_study
from batsched_py.campaigns.tuning.trial import Trial, best_trials
from batsched_py.campaigns.tuning.trials_file import write_trials
from batsched_py.campaigns.tuning.tuner import read_tuning, tune
from batsched_py.errors import ConfigurationError
from tests.studies import STUDY, HereWorkers, planned, written

TUNE = """
[tune]
algorithm = "backfill"
options = { depth = { from = 1, to = 8 }, order = ["fcfs", "sjf"] }
metric = "mean_wait"
trials = 4
seed = 3
"""


def tuned(folder: Path, text: str = STUDY + TUNE, store: str = "store") -> list[Trial]:
    """All trials of a study file."""
    plan = plan_campaign(read_study(written(folder, text)))
    return tune(read_tuning(plan.campaign), plan, RunStore(folder / store), HereWorkers())


def test_a_search_that_was_stopped_goes_on(tmp_path: Path) -> None:
    """It makes the same trials, finds the runs of the former ones, and makes those of new ones."""
    first = tuned(tmp_path)
    longer = tuned(tmp_path, (STUDY + TUNE).replace("trials = 4", "trials = 5"))
    assert [(one.options, one.value) for one in longer[:4]] == [(one.options, one.value) for one in first]
    assert [one.made for one in longer[:4]] == [0, 0, 0, 0]
    assert first[0].made == 3
    assert tuned(tmp_path, store="other") == first


def test_the_value_of_a_trial_is_the_mean_over_all_runs(tmp_path: Path) -> None:
    """As the campaign with these options has it; the best comes first."""
    trials = tuned(tmp_path)
    [best, *_] = best_trials(trials, read_tuning(read_study(tmp_path / "study.toml")).metric)
    assert best.value == min(trial.value for trial in trials if trial.value is not None)
    text = f'depth = {best.options["depth"]}, order = "{best.options["order"]}"'
    plan = planned(tmp_path, STUDY.replace("depth = [1, 4]", text))
    waits = []
    for key, run in plan.keys.items():
        if run.variant.algorithm == "backfill":
            metrics = RunStore(tmp_path / "store").read(key).outcome.metrics
            assert metrics is not None
            waits.append(metrics.mean_wait or 0.0)
    assert best.value == pytest.approx(sum(waits) / 3)


def test_options_that_fail_have_no_value(tmp_path: Path) -> None:
    """The search goes on; the file tells why."""
    trials = tuned(tmp_path, (STUDY + TUNE).replace('"sjf"]', '"nothing"]'))
    failed = [trial for trial in trials if trial.options["order"] == "nothing"]
    assert failed
    assert all(trial.value is None and "option order of backfill: " in trial.error for trial in failed)
    write_trials(tmp_path / "trials.csv", trials, read_tuning(read_study(tmp_path / "study.toml")).metric)
    lines = (tmp_path / "trials.csv").read_text().splitlines()
    assert lines[0] == "trial,depth,order,mean_wait,error"
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (TUNE, "", "study.toml: tune: is missing"),
        (
            '"backfill"\noptions = { depth = { from',
            '"backfil"\noptions = { depth = { from',
            "tune.algorithm: algorithm",
        ),
        ("order = [", "ordre = [", "tune.options: ordre: unknown; did you mean order?"),
        ("trials = 4", "trials = 0", "tune.trials: must be from 1 to 100000, not 0"),
        ('"mean_wait"', '"mean"', "tune.metric: metric mean: unknown"),
        ("seed = 3", 'seed = "x"', "tune.seed: must be a whole number, not 'x'"),
        ("seed = 3", "seeds = 3", "tune.seeds: unknown; did you mean seed?"),
    ],
)
def test_what_is_wrong_with_a_search_is_told_with_its_place(tmp_path: Path, old: str, new: str, told: str) -> None:
    """Before anything runs."""
    with pytest.raises(ConfigurationError) as caught:
        tuned(tmp_path, (STUDY + TUNE).replace(old, new, 1))
    assert told in str(caught.value)

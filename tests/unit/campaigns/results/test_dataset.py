"""The dataset of a campaign: rows, types, and the same bytes for the same runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import parquet

from batsched_py.campaigns.execution.campaign_runner import read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.results.dataset import write_dataset
from batsched_py.campaigns.results.groups import group_studies
from batsched_py.campaigns.results.run_rows import run_columns
from batsched_py.errors import ConfigurationError
from tests.studies import STUDY, HereWorkers, planned

JOBS = "[results]\njobs = true\n"


def written(folder: Path, text: str, results: str = "out") -> dict[str, bytes]:
    """The files of a dataset."""
    plan, store = planned(folder, text), RunStore(folder / results / "store")
    state = run_missing(read_state(plan, store), store, HereWorkers(), jobs=plan.campaign.jobs)
    return {path.name: path.read_bytes() for path in write_dataset(folder / results, plan, state.ended, store)}


def test_the_same_runs_give_the_same_bytes(tmp_path: Path) -> None:
    """Made at another time, in another order, some before."""
    first = written(tmp_path, STUDY + JOBS)
    assert set(first) == {"runs.parquet", "jobs.parquet"}
    written(tmp_path, STUDY.replace("1-3", "3"), "other")
    assert written(tmp_path, STUDY + JOBS, "other") == first


def test_each_run_is_a_row_that_tells_where_it_is_from(tmp_path: Path) -> None:
    """Names, metrics, options, parameters of the model, hashes, versions."""
    written(tmp_path, STUDY + "[settings]\nclock = ['zero', 'fixed:1']\n")
    rows = parquet.read_table(tmp_path / "out" / "runs.parquet").to_pylist()
    assert len(rows) == 18
    last = rows[-1]
    assert (last["platform"], last["settings"], last["group"]) == ("p", "clock=fixed:1", "lublin")
    assert (last["workload"], last["algorithm"], last["seed"]) == ("lublin seed=3", "fcfs", 3)
    assert (last["setting_clock"], last["generator_jobs"], last["option_depth"]) == ("fixed:1", 20, None)
    assert [row["option_depth"] for row in rows[:3]] == [1, 4, None]
    assert last["jobs"] == 20
    assert last["mean_wait"] > 0
    assert len(last["platform_sha256"]) == len(last["key"]) == 64
    assert '"clock":"fixed:1"' in last["all_settings"]


def test_what_batsim_5_was_asked_for_is_told(tmp_path: Path) -> None:
    """As a part of the settings; schedules are those of Batsim 4."""
    written(tmp_path, STUDY + "[settings]\nprotocol = ['v4', 'v5']\nprofile_reuse = true\n")
    rows = parquet.read_table(tmp_path / "out" / "runs.parquet").to_pylist()
    four, five = ([row for row in rows if row["setting_protocol"] == protocol] for protocol in ("v4", "v5"))
    assert [row["mean_wait"] for row in four] == [row["mean_wait"] for row in five]
    assert "features" not in four[0]["all_settings"]
    assert json.loads(five[0]["all_settings"])["features"]["profile_reuse"]


def test_each_job_is_a_row_that_names_its_run(tmp_path: Path) -> None:
    """A run that failed has none."""
    written(tmp_path, STUDY.replace('"fcfs"', '"crasher"') + JOBS)
    table = parquet.read_table(tmp_path / "out" / "jobs.parquet")
    assert table.num_rows == 6 * 20
    row = table.to_pylist()[-1]
    assert (row["workload"], row["algorithm"], row["seed"]) == ("lublin seed=3", "backfill(depth=4)", 3)
    assert row["finish_time"] >= row["starting_time"] >= row["submission_time"]


def test_columns_are_of_one_type(tmp_path: Path) -> None:
    """Values of different types are texts."""
    plan = planned(tmp_path, STUDY.replace("[1, 4]", '[1, "none"]'))
    store = RunStore(tmp_path / "store")
    state = run_missing(read_state(plan, store), store, HereWorkers(), jobs=False)
    columns = run_columns(plan.runs, state.ended)
    assert columns["option_depth"][:3] == [1, None, None]
    plan = planned(tmp_path, STUDY.replace("depth = [1, 4]", "slack = [1, 2.5]"))
    state = run_missing(read_state(plan, store), store, HereWorkers(), jobs=False)
    assert run_columns(plan.runs, state.ended)["option_slack"][:2] == [1.0, 2.5]


def test_a_campaign_without_runs_has_a_dataset(tmp_path: Path) -> None:
    """With no rows."""
    plan = planned(tmp_path)
    [path] = write_dataset(tmp_path, plan, {}, RunStore(tmp_path))
    assert parquet.read_table(path).num_rows == 0


def test_a_warm_up_of_jobs_is_cut_from_each_run(tmp_path: Path) -> None:
    """As if it were measured from the submission of the next job on; tables say the rule, and from when on."""
    (tmp_path / "one").mkdir()
    one = STUDY.replace('"1-3"', '"1-1"')
    written(tmp_path, one + '[results]\nwarm_up = "5jobs"\n')
    plan, store = planned(tmp_path, one + '[results]\nwarm_up = "5jobs"\n'), RunStore(tmp_path / "out" / "store")
    [group] = group_studies(plan, read_state(plan, store).ended)
    assert group.study.warm_up is not None
    [begin] = group.study.warm_up.begins.values()
    assert str(group.study.warm_up).startswith("the first 5 jobs of each workload, ")
    written(tmp_path / "one", f"{one}[results]\nfrom = {begin!r}\n")
    cut, measured = (
        parquet.read_table(folder / "out" / "runs.parquet").to_pylist() for folder in (tmp_path, tmp_path / "one")
    )
    assert [row["jobs"] for row in cut] == [15, 15, 15]
    assert [row["mean_wait"] for row in cut] == [row["mean_wait"] for row in measured]
    assert str(group_studies(plan, {})[0].study.warm_up) == "the first 5 jobs of each workload"


def test_a_warm_up_of_all_jobs_is_refused(tmp_path: Path) -> None:
    """Before the first run, also of workloads that are drawn later."""
    text = STUDY.replace("jobs = 20", "jobs = 1200") + '[results]\nwarm_up = "1199jobs"\n'
    assert planned(tmp_path, text).runs
    with pytest.raises(ConfigurationError, match="lublin seed=1 has 1200 jobs, and a warm-up of 1200"):
        planned(tmp_path, text.replace("1199", "1200"))

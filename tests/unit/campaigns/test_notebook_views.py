"""Studies, comparisons and runs in a notebook, and as data frames."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from batsched_py.campaigns import (
    AlgorithmComparison,
    Drawn,
    Run,
    Study,
    Variant,
    compare_algorithms,
    draw_comparison,
    find_metrics,
    run_study,
    simulate,
)
from batsched_py.campaigns.comparison_files import write_json
from batsched_py.campaigns.series import ComparisonSeries
from batsched_py.cli.main import run as run_command
from batsched_py.errors import ExtraError, InputError, OptionError
from batsched_py.model.settings import Settings
from tests.clone import ROOT

PLATFORM, JOBS = ROOT / "platforms" / "cluster32.xml", ROOT / "workloads" / "lublin200.json"


@pytest.fixture(scope="module")
def study() -> Study:
    """Two algorithms on three workloads, one of which fails one of them."""
    workloads = {f"<{seed}>": Drawn(12, 32, seed, 0.9) for seed in (1, 2, 3)}
    variants = [Variant("first", "fcfs"), Variant("easy", "easy"), Variant("bad", "crasher", {"message": 3})]
    return run_study(PLATFORM, workloads, variants, settings=Settings())


@pytest.fixture(scope="module")
def comparison(study: Study) -> AlgorithmComparison:
    return compare_algorithms(study, find_metrics(["mean_wait", "utilisation"]))


def test_a_study_is_a_table_of_its_runs(study: Study) -> None:
    """A row each, with all metrics; a run that failed has an error and no metrics."""
    table = study.frame()
    assert list(table.algorithm) == ["first", "easy", "bad"] * 3
    assert list(table.workload) == [name for name in study.workloads for _ in range(3)]
    assert table.mean_wait[0] == study.outcomes[0].metrics.mean_wait  # type: ignore[union-attr]
    assert list(table.mean_wait.isna()) == [False, False, True] * 3
    assert ["failed on purpose" in error for error in table.error] == [False, False, True] * 3
    assert list(table.seed)[:4] == [1, 1, 1, 2]


def test_a_notebook_shows_a_study(study: Study) -> None:
    """Its names are text, not HTML; of many runs, some."""
    shown = study._repr_html_()
    assert "3 algorithms on 3 workloads" in shown
    assert shown.count("<tr>") == 1 + 9
    assert "&lt;1&gt;" in shown
    assert "<1>" not in shown
    many = Study(study.workloads, study.variants, study.outcomes * 7)._repr_html_()
    assert "and 13 more runs" in many


def test_a_comparison_is_a_table_of_means(comparison: AlgorithmComparison, tmp_path: Path) -> None:
    """As the file of --json has them: None where there is none."""
    table = comparison.frame()
    assert list(table.metric) == ["mean_wait"] * 3 + ["utilisation"] * 3
    assert list(table.algorithm) == ["first", "easy", "bad"] * 2
    mean = comparison.metrics[0].means[1]
    assert mean.mean is not None
    assert mean.pairs is not None
    assert mean.pairs.ratio is not None
    assert list(table.columns) == list(comparison.columns())
    row = {name: values[1] for name, values in comparison.columns().items()}
    for name, estimate in (("mean", mean.mean), ("ratio", mean.pairs.ratio), ("difference", mean.pairs.difference)):
        assert (row[name], row[f"{name}_low"], row[f"{name}_high"]) == (estimate.value, estimate.low, estimate.high)
    assert table["mean"].isna().tolist() == [False, False, True] * 2
    assert table["ratio"].isna().tolist() == [True, False, True] * 2
    write_json(tmp_path / "all.json", ComparisonSeries.of(comparison))
    assert str(mean.mean.value) in json.dumps(json.loads((tmp_path / "all.json").read_bytes()))


def test_a_notebook_shows_a_comparison(comparison: AlgorithmComparison) -> None:
    """The tables of the page that --report writes."""
    shown = comparison._repr_html_()
    assert shown.count('<table class="ratios">') == 2
    assert "mean wait [s]: less is better" in shown
    assert "percentile bootstrap" in shown


def test_studies_and_comparisons_are_figures(study: Study, comparison: AlgorithmComparison) -> None:
    """Those of `draw_comparison`, a panel for each metric."""
    forest = comparison.plot(width=5.0).content("svg")
    assert forest == draw_comparison(comparison, width=5.0).content("svg")
    boxes = study.plot(metrics=["mean_wait", "utilisation"]).content("svg")
    assert boxes == comparison.plot("boxes").content("svg") != forest
    with pytest.raises(OptionError, match="wait: unknown"):
        study.plot(metrics=["wait"])
    with pytest.raises(OptionError, match="a curve needs variants"):
        comparison.plot("curve")


def test_a_run_explains_why_a_job_waited(tmp_path: Path) -> None:
    """As the command does: with the algorithm's reasons, if its files are read."""
    words = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-e", str(tmp_path / "run"), "--quiet"]
    assert run_command(["simulate", *words]) == 0
    here, there = simulate(PLATFORM, JOBS, "easy"), Run.read(tmp_path / "run")
    assert str(here.explain("104")).startswith("w0!104: 16 hosts, submitted at ")
    assert str(there.explain("104")).partition(",")[0] == "w0!104: 16 hosts"
    assert "The reasons are from the schedule alone." in here.explain("104")._repr_html_()
    shown = there.explain("104")._repr_html_()
    assert "from the schedule alone" not in shown
    assert shown.count("<tr>") == 1 + len(there.explain("104").rows)
    with pytest.raises(InputError, match=r"has no job w0!999"):
        here.explain("w0!999")


def test_the_files_of_a_run_are_read_as_a_run(tmp_path: Path) -> None:
    """With the same metrics, jobs and pictures."""
    words = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-e", str(tmp_path / "run"), "--quiet"]
    assert run_command(["simulate", *words]) == 0
    here, there = simulate(PLATFORM, JOBS, "easy"), Run.read(str(tmp_path / "run"))
    assert there.name == "run"
    assert there.jobs.waiting_time.tolist() == pytest.approx(here.jobs.waiting_time.tolist())
    assert there.metrics.mean_wait == pytest.approx(here.metrics.mean_wait)
    assert "32 hosts" in there._repr_html_()
    assert there.report(tmp_path / "page.html", here).stat().st_size > 1_000_000
    with pytest.raises(InputError):
        Run.read(tmp_path / "none")


@pytest.mark.parametrize("kind", ["waits", "slowdowns", "utilisation", "queue"])
def test_a_run_is_plotted_as_the_command_does(kind: str, tmp_path: Path) -> None:
    """The same curves."""
    words = ["-p", str(PLATFORM), "-w", str(JOBS), "-s", "easy", "-e", str(tmp_path / "easy"), "--quiet"]
    assert run_command(["simulate", *words]) == 0
    assert run_command(["plot", kind, str(tmp_path / "easy"), "-o", str(tmp_path / "there.svg")]) == 0
    simulate(PLATFORM, JOBS, "easy").plot(kind).save(tmp_path / "here.svg")
    assert (tmp_path / "here.svg").read_bytes() == (tmp_path / "there.svg").read_bytes()


def test_a_curve_of_no_known_kind_is_refused() -> None:
    """With the kinds there are."""
    with pytest.raises(OptionError, match=r"^plot wait: unknown; "):
        simulate(PLATFORM, Drawn(2, 8), "fcfs").plot("wait")


def test_what_needs_pandas_says_so(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    """With the extra; the columns need nothing."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda _: None)
    with pytest.raises(ExtraError, match=r'^Study.frame: needs pandas: pip install "\.\[notebook\]" in a clone$'):
        study.frame()
    assert len(study.columns()["workload"]) == 9

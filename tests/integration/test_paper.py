"""A study from a log to the folder of a paper, whose numbers are computed again by pandas from the jobs of the runs."""

from __future__ import annotations

import hashlib
import importlib
import math
import random
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pandas
import pytest

from batsched_py.traces.platform_writer import write_homogeneous
from tests.integration.programs import ROOT, run_here

STUDY = """
title = "Shorter jobs & longer waits"
platforms = "p.xml"

[[workloads]]
log = "site.swf"
every = "1d"

[[workloads]]
model = "lublin"
jobs = 30
load = [0.6, 1.0]
seeds = "1-4"

[[algorithms]]
algorithm = "easy"

[[algorithms]]
algorithm = "fcfs"

[[algorithms]]
algorithm = "easy"
name = "sjf"
options = { order = "sjf" }

[results]
metrics = ["mean_wait", "utilisation"]
jobs = true

[paper]
tests = true
precision = "10%"
resamples = 1000
figures = [
    { name = "load", kind = "curve", x = "load" },
    { name = "ratios", kind = "forest" },
]
"""


def write_log(path: Path, jobs: int = 150) -> None:
    """Write a log in the Standard Workload Format: some days of a machine of 16 processors."""
    rng, lines, time = random.Random(5), ["; MaxProcs: 16", "; UnixStartTime: 0"], 0
    for number in range(1, jobs + 1):
        time += rng.randrange(4000)
        size, run_time = 2 ** rng.randrange(5), rng.randrange(60, 9000)
        lines.append(f"{number} {time} -1 {run_time} {size} -1 -1 {size} {2 * run_time} -1 1 1 1 1 1 1 -1 -1")
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study, and of its paper."""
    there = tmp_path_factory.mktemp("paper")
    write_homogeneous(there / "p.xml", 16)
    write_log(there / "site.swf")
    (there / "study.toml").write_text(STUDY)
    assert run_here(there, "campaign", "paper", str(there / "study.toml"), "paper") == 0
    return there


@pytest.fixture(scope="module")
def waits(folder: Path) -> Any:
    """Group and algorithm -> a series of the mean waits of its workloads, from the jobs of the runs."""
    jobs = pandas.read_parquet(folder / "study-results" / "jobs.parquet")
    return (jobs.starting_time - jobs.submission_time).groupby([jobs.group, jobs.algorithm, jobs.workload]).mean()


@pytest.fixture(scope="module")
def means(folder: Path) -> Any:
    table = pandas.read_csv(folder / "paper" / "data" / "means.csv")
    return table[table.metric == "mean_wait"].set_index(["group", "algorithm"])


@pytest.fixture(scope="module")
def stats() -> Any:
    """scipy.stats, loaded where it is used: each process of the test-suite would take two seconds for it."""
    return importlib.import_module("scipy.stats")


GROUPS = ("site", "lublin load=0.6", "lublin load=1")


@pytest.mark.parametrize("group", GROUPS)
def test_means_and_pairs_are_those_of_the_jobs(waits: Any, means: Any, group: str) -> None:
    """The mean of each algorithm, ratio, difference, and the balance of the workloads."""
    easy = waits[group]["easy"]
    assert means.loc[group, "easy"]["mean"] == pytest.approx(easy.mean())
    for name in ("fcfs", "sjf"):
        row, own = means.loc[group, name], waits[group][name]
        pairs = own - easy
        assert row["mean"] == pytest.approx(own.mean())
        assert row.ratio == pytest.approx(own.mean() / easy.mean())
        assert row.difference == pytest.approx(pairs.mean())
        assert (row.smaller, row.equal, row.larger) == ((pairs < 0).sum(), (pairs == 0).sum(), (pairs > 0).sum())
        drawn = numpy.random.default_rng(5).choice(pairs.to_numpy(), (2000, len(pairs))).mean(axis=1)
        low, high = numpy.quantile(drawn, [0.025, 0.975])
        room = 0.25 * (high - low) + 1e-9
        assert (row.difference_low, row.difference_high) == (
            pytest.approx(low, abs=room),
            pytest.approx(high, abs=room),
        )


def test_tests_are_those_of_the_pairs(waits: Any, means: Any, folder: Path, stats: Any) -> None:
    """Effect, p, p by Holm over all tests of the folder, and the number of workloads."""
    for group in GROUPS:
        for name in ("fcfs", "sjf"):
            row, pairs = means.loc[group, name], waits[group]["easy"] - waits[group][name]
            some = pairs[pairs.abs() > 1e-9]
            ranks = some.abs().rank()
            assert row.effect == pytest.approx((ranks[some > 0].sum() - ranks[some < 0].sum()) / ranks.sum())
            assert row.p == pytest.approx(stats.wilcoxon(some).pvalue)
            wanted, count = 0.1 * waits[group]["easy"].mean(), int(row.needed)
            widths = [stats.t.ppf(0.975, n - 1) * pairs.std() / math.sqrt(n) for n in (count - 1, count)]
            assert widths[1] <= wanted
            assert widths[0] > wanted or count == len(pairs)
    table = pandas.read_csv(folder / "paper" / "data" / "means.csv").dropna(subset="p")
    ordered = table.sort_values("p", kind="stable")
    steps = pandas.Series(range(len(ordered), 0, -1), index=ordered.index) * ordered.p
    assert len(ordered) == 3 * 2 * 2
    assert ordered.p_holm.tolist() == pytest.approx(steps.cummax().clip(upper=1.0).tolist())


def test_the_tables_and_the_methods_have_the_numbers_of_the_data(folder: Path, means: Any) -> None:
    paper = folder / "paper"
    table, methods = (paper / "tables" / "results.tex").read_text(), (paper / "methods.tex").read_text()
    for group in GROUPS:
        part = table.partition(rf"\textbf{{workloads={group}}}")[2]
        row = means.loc[group, "sjf"]
        assert f"sjf & {row['mean']:.1f} & ${row.ratio:.3f}$" in part
    runs = pandas.read_csv(paper / "data" / "runs.csv")
    parts = runs[(runs.group == "site") & (runs.algorithm == "easy")]
    assert f"{len(parts)} workloads are parts of" in methods
    assert hashlib.sha256((folder / "site.swf").read_bytes()).hexdigest() in methods.replace(r"\allowbreak{}", "")
    assert parts.jobs.sum() == 150
    base = runs[runs.algorithm == "easy"]
    assert f"all {len(base)} together have {base.jobs.sum()}." in methods
    cited = {key for keys in re.findall(r"\\cite\{([^}]*)\}", methods) for key in keys.split(",")}
    assert cited == set(re.findall(r"^@\w+\{(\w+),", (paper / "references.bib").read_text(), re.MULTILINE))


def test_the_folder_is_complete_and_the_same_each_time(folder: Path) -> None:
    """Its list of hashes has all its files, and the command of its README makes it again in an empty folder."""
    paper = folder / "paper"
    lines = (paper / "SHA256SUMS").read_text().splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    files = {path.relative_to(paper).as_posix(): path.read_bytes() for path in paper.rglob("*") if path.is_file()}
    assert sums == {
        name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "SHA256SUMS"
    }
    assert {"figures/load.pdf", "figures/load.svg", "figures/ratios.pdf", "main.tex", "study.toml"} <= set(files)
    again = folder / "again"
    again.mkdir()
    for name in ("study.toml", "site.swf", "p.xml"):
        (again / name).write_bytes((folder / name).read_bytes())
    command = re.search(r"^\$ batsched-py (campaign paper .*)$", files["README.md"].decode(), re.MULTILINE)
    assert command is not None
    assert run_here(again, *command[1].split()) == 0
    for name, content in files.items():
        assert (again / "paper" / name).read_bytes() == content, name


def test_no_file_tells_where_the_study_was(folder: Path) -> None:
    """The study was named by its absolute path, which all inputs had."""
    for path in (folder / "paper").rglob("*"):
        content = path.read_bytes().replace(rb"\allowbreak{}", b"") if path.is_file() else b""
        assert str(folder).encode() not in content, path
        assert path.suffix == ".pdf" or not re.search(rb"(?<![\w./:])/(?:tmp|home|root|usr|var|work)/", content), path


def test_the_document_compiles(folder: Path, tmp_path: Path) -> None:
    """Without errors, and with all citations; no line is wider than the page."""
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    paper = Path(shutil.copytree(folder / "paper", tmp_path / "paper"))
    latex = ("pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex")
    for command in (latex, ("bibtex", "main"), latex, latex):
        done = subprocess.run(command, cwd=paper, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout
    log = (paper / "main.log").read_text(encoding="latin-1")
    assert [line for line in log.splitlines() if "undefined" in line or line.startswith("Overfull")] == []
    assert (paper / "main.pdf").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('figures = [{ name = "a/b" }]', "paper.figures[0].name: must be a name of letters, digits, - and _"),
        ('figures = [{ name = "a" }, { name = "a" }]', "paper.figures[1].name: two are called"),
        ('figures = [{ name = "a", kind = "pie" }]', "paper.figures[0].kind"),
        ('figures = [{ name = "a", width = 0.1 }]', "paper.figures[0].width: must be from 1 to 100 inches"),
        ('precision = "5x"', "paper.precision: must be a percentage such as 5%"),
        ("level = 1", "paper.level: must be between 0 and 1"),
        ("resamples = 1", "paper.resamples: must be from 100 to 1000000"),
        ("colour = true", "paper.colour"),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, rule: str) -> None:
    """Before anything is run or written."""
    (tmp_path / "p.xml").write_bytes((ROOT / "platforms" / "tiny4.xml").read_bytes())
    text = STUDY.partition("[paper]")[0].replace('log = "site.swf"\nevery = "1d"', 'model = "lublin"\njobs = 3')
    (tmp_path / "study.toml").write_text(f"{text}[paper]\n{line}\n")
    assert run_here(tmp_path, "campaign", "paper", "study.toml", "paper") == 2
    written = capsys.readouterr()
    assert written.out == ""
    assert rule in written.err
    assert not (tmp_path / "paper").exists()
    assert not (tmp_path / "study-results").exists()

"""Extras that are not installed: whatever needs one says so at once, in one line, and all the rest works."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from batsched_py.traces.platform_writer import write_homogeneous
from tests.clone import ROOT
from tests.studies import STUDY, written

#: Extra -> the names under which its packages are imported.
PACKAGES = {
    "redis": ["redis", "hiredis"],
    "plot": ["matplotlib"],
    "report": ["plotly"],
    "notebook": ["pandas"],
    "campaign": ["distributed", "dask_jobqueue", "pyarrow"],
    "docker": ["docker"],
    "query": ["re2", "lark"],
    "parquet": ["pyarrow"],
    "yaml": ["yaml"],
    "zstd": ["backports"],
    "gym": ["gymnasium", "numpy"],
    "site": ["litestar", "httptools", "uvicorn", "prometheus_client"],
    "tune": ["optuna"],
    "statistics": ["scipy"],
    "learning": ["sklearn"],
    "testing": ["hypothesis", "pytest"],
}
#: Extras for those who work on batsched-py itself.
INTERNAL = {"docs", "dev"}

#: Runs each command of a list without the packages, and prints its exit code and the lines of its errors.
PROGRAM = """
import contextlib, io, json, sys
packages, commands = json.loads(sys.argv[1])
sys.modules |= dict.fromkeys(packages)  # an import of what is None fails, and it is not found
from batsched_py.cli.main import run
for command in commands:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(command)
    print(json.dumps([code, err.getvalue().splitlines()]))
"""

FILES = ("-p", "p.xml", "-w", "w.json")
#: Extra -> what needs it, and the package that is named.
NEEDS = [
    ("redis", ["simulate", *FILES, "-s", "fcfs", "--enable-redis"], "redis"),
    ("plot", ["gantt", "out/run", "-o", "x.pdf"], "matplotlib"),
    ("plot", ["plot", "waits", "out/run", "-o", "x.pdf"], "matplotlib"),
    ("plot", ["compare", *FILES, "-s", "fcfs", "--figure", "x.pdf"], "matplotlib"),
    ("plot", ["campaign", "figure", "study.toml", "x.pdf"], "matplotlib"),
    ("statistics", ["compare", *FILES, "-s", "fcfs", "--tests"], "scipy"),
    ("statistics", ["compare", *FILES, "-s", "fcfs", "--precision", "5%"], "scipy"),
    ("statistics", ["campaign", "table", "study.toml", "--tests"], "scipy"),
    ("learning", ["simulate", *FILES, "-s", "easy", "-o", "predictor=sklearn"], "scikit-learn"),
    ("learning", ["compare", *FILES, "-s", "easy", "-o", "predictor=sklearn"], "scikit-learn"),
    ("plot", ["timeline", "show", "t.json", "-o", "x.pdf"], "matplotlib"),
    ("report", ["report", "out/run", "-o", "x.html"], "plotly"),
    ("campaign", ["campaign", "run", "study.toml", "--scheduler", "tcp://127.0.0.1:1"], "distributed"),
    ("campaign", ["campaign", "run", "jobs.toml"], "pyarrow"),
    ("docker", ["batsim", *FILES, "-s", "fcfs"], "docker"),
    ("query", ["query", "true", "-p", "p.xml"], "lark"),
    ("query", ["placements", "true", "-p", "p.xml"], "lark"),
    ("query", ["simulate", *FILES, "-s", "placer"], "lark"),
    ("query", ["serve", "-s", "placer", "-b", "tcp://127.0.0.1:*"], "lark"),
    ("query", ["compare", *FILES, "-s", "placer"], "lark"),
    ("query", ["site", "-p", "p.xml", "-s", "placer"], "lark"),
    ("parquet", ["convert", "t.parquet", "-o", "x.json"], "pyarrow"),
    ("yaml", ["timeline", "show", "t.yaml"], "pyyaml"),
    ("site", ["site", "-p", "p.xml"], "litestar"),
    ("site", ["serve", "-s", "fcfs", "--site", "127.0.0.1:0"], "litestar"),
    ("tune", ["campaign", "tune", "study.toml"], "optuna"),
]


def extras() -> dict[str, list[str]]:
    """Extra -> its requirements."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found: dict[str, list[str]] = project["optional-dependencies"]
    return found


def without(packages: list[str], commands: list[list[str]], folder: Path) -> list[tuple[int, list[str]]]:
    """Run commands where packages are not installed; return exit codes and lines of errors."""
    given = json.dumps([packages, commands])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, given], cwd=folder, capture_output=True, text=True, check=True
    )
    return [(code, lines) for code, lines in map(json.loads, done.stdout.splitlines())]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the commands read."""
    there = tmp_path_factory.mktemp("extras")
    (there / "p.xml").write_bytes((ROOT / "platforms" / "energy16.xml").read_bytes())
    (there / "w.json").write_bytes((ROOT / "workloads" / "first.json").read_bytes())
    (there / "t.json").write_text('{"vms": {"a": {"entries": []}}}')
    (there / "t.yaml").write_text("vms: {}")
    (there / "t.parquet").write_bytes(b"PAR1")
    (there / "study.toml").write_text("")
    jobs = STUDY.replace("p.xml", "machine.xml") + "[results]\njobs = true\n"
    (there / "jobs.toml").write_text(jobs)
    write_homogeneous(there / "machine.xml", 8)
    [(code, _)] = without([], [["simulate", *FILES, "-s", "fcfs", "-e", "out/run", "--quiet"]], there)
    assert code == 0
    return there


def test_a_campaign_on_this_machine_needs_no_extra(tmp_path: Path) -> None:
    """Neither Dask nor pyarrow: the dataset is then in CSV."""
    written(tmp_path)
    (tmp_path / "study-results").mkdir()
    (tmp_path / "study-results" / "runs.parquet").write_text("of an earlier state")
    command = ["campaign", "run", "study.toml", "--workers", "2", "--quiet"]
    assert without(PACKAGES["campaign"], [command], tmp_path) == [(0, [])]
    lines = (tmp_path / "study-results" / "runs.csv").read_text().splitlines()
    assert len(lines) == 1 + 9
    assert {len(row) for row in csv.reader(lines)} == {len(lines[0].split(","))}
    assert not list((tmp_path / "study-results").glob("*.parquet"))


def test_each_extra_has_its_packages_here() -> None:
    """So that a new one is tested, too."""
    assert set(PACKAGES) | INTERNAL == set(extras())


def test_the_table_of_the_readme_has_each_extra() -> None:
    """In the order of pyproject.toml, each with what it is for."""
    page = (ROOT / "README.md").read_text()
    table = page[page.index("| extra | for |") :].partition("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \| .+ \|$", table, re.MULTILINE) == [
        name for name in extras() if name not in INTERNAL
    ]


@pytest.mark.parametrize("extra", sorted({extra for extra, _, _ in NEEDS}))
def test_what_needs_an_extra_says_so(folder: Path, extra: str) -> None:
    """In one line, with what installs it, before anything else is done; exit code 2."""
    needs = [(command, package) for name, command, package in NEEDS if name == extra]
    before = sorted(folder.rglob("*"))
    results = without(PACKAGES[extra], [command for command, _ in needs], folder)
    for (command, package), (code, lines) in zip(needs, results, strict=True):
        assert len(lines) == 1, command
        assert lines[0].endswith(f': needs {package}: pip install ".[{extra}]" in a clone'), command
        assert code == 2, command
    assert sorted(folder.rglob("*")) == before


def test_all_else_needs_none_of_them(folder: Path) -> None:
    """Each command explains itself, and each algorithm runs or says which extra it needs before the run begins."""
    from batsched_py.cli.catalogue import COMMANDS  # noqa: PLC0415
    from batsched_py.schedulers import BUILT_INS  # noqa: PLC0415

    wanted = [[name, "--help"] for name in COMMANDS]
    wanted += [["describe", name] for name in BUILT_INS]
    options = ("-E", "--enable-dynamic-jobs", "--quiet")
    wanted += [["simulate", *FILES, *options, "-s", name] for name in BUILT_INS if name != "crasher"]
    every = [name for names in PACKAGES.values() for name in names]
    for command, (code, lines) in zip(wanted, without(every, wanted, folder), strict=True):
        if command[-1] == "placer" and command[0] == "simulate":
            assert lines == ['batsched-py: error: queries: needs lark: pip install ".[query]" in a clone']
        else:
            assert code == 0, (command, lines)

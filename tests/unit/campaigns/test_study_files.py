"""The files of a study from Python are those of the command."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from batsched_py.campaigns import Drawn, StudyFiles, Variant, run_study
from batsched_py.cli.main import run
from batsched_py.errors import OptionError
from batsched_py.model.settings import Settings
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.runs.inputs import WorkloadLike
from tests.clone import ROOT

PLATFORM = ROOT / "platforms" / "cluster32.xml"


def described(folder: Path) -> dict[str, Any]:
    """Return path -> the description of a run, without measured times and the words of a command."""
    found = {}
    for path in folder.rglob("*_run.json"):
        found[str(path.relative_to(folder))] = told = json.loads(path.read_text().replace(str(folder), "FOLDER"))
        del told["measured"], told["command"]
    return found


def test_the_files_of_a_study_are_those_of_the_command(tmp_path: Path) -> None:
    """Byte for byte, except for measured times and the words of the command; generated workloads among them."""
    here, there = tmp_path / "here", tmp_path / "there"
    words = ["--generate", "lublin:jobs=30,load=0.8", "--seeds", "3,5", "-s", "easy", "-s", "fcfs", "--name", "plain"]
    assert run(["compare", "-p", str(PLATFORM), *words, "-e", str(there), "--quiet", "--processes", "1"]) == 0
    sources: dict[str, WorkloadLike] = {
        f"lublin-{seed}": Drawn(jobs=30, hosts=32, load=0.8, seed=seed) for seed in (3, 5)
    }
    variants, files = [Variant("easy", "easy"), Variant("plain", "fcfs")], StudyFiles(here)
    study = run_study(PLATFORM, sources, variants, keep=files, open_log=files.decisions)
    files.describe(
        study, sources, Settings(), {one.name: files_of_algorithm(str(one.algorithm), {}) for one in variants}
    )
    names = sorted(str(path.relative_to(there)) for path in there.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(here)) for path in here.rglob("*") if path.is_file())
    assert "lublin-3/workload.json" in names
    for name in names:
        if not name.endswith(("_run.json", "_schedule.csv")):
            assert (here / name).read_bytes() == (there / name).read_bytes(), name
    assert described(here) == described(there)
    assert len(described(here)) == 4


def test_generated_workloads_are_described_with_seeds_of_algorithms_too(tmp_path: Path) -> None:
    """Each run names the file of its workload, which is there, and is one of the files announced."""
    sources: dict[str, WorkloadLike] = {"drawn": Drawn(jobs=10, hosts=32, load=0.8)}
    files = StudyFiles(tmp_path)
    study = run_study(PLATFORM, sources, [Variant("r", "random")], seeds=[1, 2], keep=files, open_log=files.decisions)
    files.describe(study, sources, Settings(), {})
    found = described(tmp_path)
    paths = [tmp_path / f"drawn-seed-{seed}" / "workload.json" for seed in (1, 2)]
    assert [one["workloads"][0]["path"] for _, one in sorted(found.items())] == [
        str(path).replace(str(tmp_path), "FOLDER") for path in paths
    ]
    for path, (_, one) in zip(paths, sorted(found.items()), strict=True):
        assert sha256(path.read_bytes()).hexdigest() == one["workloads"][0]["sha256"]
    assert set(paths) <= set(files.paths(dict.fromkeys(study.workloads, sources["drawn"]), ["r"]))


def test_names_that_are_the_same_in_paths_are_refused(tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(OptionError, match="the files of a b and of a/b to the same place"):
        StudyFiles(tmp_path).paths({"a b": PLATFORM, "a/b": PLATFORM}, ["easy"])

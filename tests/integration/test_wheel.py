"""The wheel, installed where there is no clone: one top-level package, with algorithms and examples in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clone import ROOT, below, copy

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel installs; the dependencies are those of the tests."""
    folder = tmp_path_factory.mktemp("wheel")
    copy(folder / "clone")
    build = (*_PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(folder / "clone"))
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    subprocess.run((*_PIP, "install", "--no-deps", "--target", str(site), str(wheel)), check=True, capture_output=True)
    return site


def _python(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site)}
    command = (sys.executable, *arguments)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_wheel_installs_one_top_level_package(site: Path) -> None:
    """A package `schedulers` would collide with folders of that name that users have."""
    assert {path.name for path in site.iterdir() if path.suffix != ".dist-info"} == {"batsched_py", "bin"}


def test_each_file_of_the_package_is_installed(site: Path) -> None:
    """Modules, and the page, style and scripts of reports."""
    paths = [path.relative_to(ROOT) for path in below("batsched_py", "*") if not path.is_symlink()]
    assert Path("batsched_py/reporting/pictures/html/page/main.js") in paths
    assert [str(path) for path in paths if (site / path).read_bytes() != (ROOT / path).read_bytes()] == []


def test_algorithms_are_imported_as_part_of_batsched_py(site: Path, tmp_path: Path) -> None:
    """From the installation, not from the clone."""
    done = _python(site, tmp_path, "-c", "import batsched_py.schedulers.easy as easy; print(easy.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(site)
    done = _python(site, tmp_path, "-c", "import schedulers")
    assert "No module named 'schedulers'" in done.stderr


def test_it_runs_in_an_empty_folder_with_its_examples(site: Path, tmp_path: Path) -> None:
    """As `python -m batsched_py`, with a note that says which file was read."""
    inputs = ("-p", "platforms/tiny4.xml", "-w", "workloads/first.json")
    done = _python(site, tmp_path, "-m", "batsched_py", "simulate", *inputs, "-s", "easy")
    assert done.returncode == 0, done.stderr
    assert "note: platforms/tiny4.xml is not here" in done.stderr
    assert "makespan" in done.stdout


def test_a_folder_of_the_users_may_be_called_schedulers(site: Path, tmp_path: Path) -> None:
    """An algorithm in schedulers/mine.py is found by its module, and the built-ins are still there."""
    mine = tmp_path / "schedulers" / "mine.py"
    mine.parent.mkdir()
    mine.write_text((ROOT / "schedulers" / "fcfs.py").read_text())
    inputs = ("-p", "platforms/tiny4.xml", "-w", "workloads/first.json")
    for algorithm in ("schedulers.mine:Fcfs", "fcfs"):
        done = _python(site, tmp_path, "-m", "batsched_py", "simulate", *inputs, "-s", algorithm)
        assert done.returncode == 0, done.stderr

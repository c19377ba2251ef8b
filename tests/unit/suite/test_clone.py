"""Tests that walk the clone see the repository's files, and not those of whoever works there."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clone import ROOT, below, copy, files, tracked

OURS = ("pyproject.toml", "docs/a.md", "docs/deep/b.md", "workloads/one.json")
MINE = ("notes.md", "docs/mine.md", "workloads/mine.json", "my_algorithm.py", ".venv/site.md", "out/_jobs.csv")


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """With files of the repository, one of which is lost, and some of a user's."""
    root = tmp_path / "clone"
    fill(root, *OURS, "docs/lost.md")
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    (root / "docs" / "lost.md").unlink()
    fill(root, *MINE)
    return root


def names(paths: list[Path], root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in paths]


def test_what_git_does_not_know_is_not_there(checkout: Path) -> None:
    """Nor what it knows and the user has removed."""
    assert [path.as_posix() for path in tracked(checkout)] == sorted(OURS)
    assert names(files("docs/*.md", checkout), checkout) == ["docs/a.md"]
    assert names(below("docs", "*.md", checkout), checkout) == ["docs/a.md", "docs/deep/b.md"]
    assert names(files("*.md", checkout), checkout) == []


def test_a_copy_has_nothing_of_the_users(checkout: Path, tmp_path: Path) -> None:
    """It is a copy of the whole, or of some folders."""
    copy(tmp_path / "whole", root=checkout)
    copy(tmp_path / "part", "workloads", root=checkout)
    found = {
        place: names(sorted(p for p in (tmp_path / place).rglob("*") if p.is_file()), tmp_path / place)
        for place in ("whole", "part")
    }
    assert found == {"whole": sorted(OURS), "part": ["workloads/one.json"]}


@pytest.mark.parametrize("inside", [False, True], ids=["nowhere", "in somebody's checkout"])
def test_without_a_checkout_all_files_count_that_nothing_has_made(tmp_path: Path, inside: bool) -> None:
    """As in an unpacked source distribution."""
    if inside:
        subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True, capture_output=True)
    fill(tmp_path / "sdist", *OURS, ".venv/site.md", "out/_jobs.csv")
    assert [path.as_posix() for path in tracked(tmp_path / "sdist")] == sorted(OURS)


def test_this_repository_has_files() -> None:
    """Else the tests that walk it would be empty."""
    assert ROOT / "README.md" in files("*.md")
    assert len(files("workloads/*.json")) >= 4
    assert len(below("docs", "*.md")) > 40

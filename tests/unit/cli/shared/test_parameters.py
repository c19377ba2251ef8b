"""Parameters of commands: an installation brings the platforms and workloads of the clone."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.cli.shared.parameters import INPUT
from batsched_py.example_files import find_example
from tests.clone import ROOT


def test_every_platform_and_workload_of_the_clone_is_an_example() -> None:
    """Found under the path that the documentation uses."""
    for name in ("platforms/cluster32.xml", "workloads/lublin200.json"):
        example = find_example(Path(name))
        assert example is not None
        assert example.samefile(ROOT / name)


@pytest.mark.parametrize(
    "path", ["platforms/none.xml", "cluster32.xml", "platforms/..", "a/platforms/x.xml", "/etc/passwd"]
)
def test_other_paths_are_no_examples(path: str) -> None:
    """Only a file of one of the two folders is."""
    assert find_example(Path(path)) is None


def test_an_example_is_read_with_a_note_where_there_is_no_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The note goes to stderr."""
    monkeypatch.chdir(tmp_path)
    assert INPUT.convert("platforms/tiny4.xml", None, None).samefile(ROOT / "platforms" / "tiny4.xml")
    assert capsys.readouterr().err.startswith("note: platforms/tiny4.xml is not here;")


def test_a_file_of_the_users_own_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """No note, and the user's file."""
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "platforms" / "tiny4.xml"
    mine.parent.mkdir()
    mine.write_text("mine")
    assert INPUT.convert("platforms/tiny4.xml", None, None) == Path("platforms/tiny4.xml")
    assert capsys.readouterr().err == ""

"""Documents in JSON and YAML: the same object, or one line that names the place."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from batsched_py.errors import ExtraError, WorkloadError
from batsched_py.files.document_file import MOST_YAML, read_document


def written(folder: Path, name: str, text: str) -> Path:
    """A file."""
    path = folder / name
    path.write_text(text)
    return path


def test_both_forms_say_the_same(tmp_path: Path) -> None:
    """Numbers, texts, truth values, lists."""
    json = written(tmp_path, "a.json", '{"buffer": 2.5, "vms": {"a": [{"at": "-inf", "break": true}]}}')
    yaml = written(tmp_path, "a.yaml", "buffer: 2.5\nvms:\n  a:\n    - {at: -inf, break: true}\n")
    assert read_document(json) == read_document(yaml)


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.json", "[]", "must be an object, not []"),
        ("a.json", '{"a": NaN}', "a: must be a number, not NaN"),
        ("a.json", '{"vms": {"a": [], "a": []}}', "vms: has the member 'a' twice"),
        ("a.json", "{" + '"a":{' * 150 + "}" * 151, "must be at most 100 levels deep"),
        ("a.yml", "- 1", "must be an object, not [1]"),
        ("a.yml", "a: [1", "line 1, column 6: is not YAML that is read here: expected ',' or ']'"),
        ("a.yml", "a: 1\na: 2\n", "line 2: has the member 'a' twice"),
        ("a.yml", "a: &x [1]\nb: *x\n", "line 2: must have no alias, as *x"),
        ("a.yml", "1: 2", "line 1: the name of a member must be a text, not '1'"),
        ("a.yml", "a: !!python/name:os.system", "line 1, column 4: is not YAML that is read here: could not determine"),
        ("a.yml", "a: " + "[" * 150 + "]" * 150, "line 1: must be at most 100 levels deep"),
        ("a.yml", "a: 2026-13-41", "is not YAML: month must be in 1..12"),
        ("a.yml", "a: \x07", "is not YAML: unacceptable character"),
        ("a.yml", "a: '" + " " * MOST_YAML + "'", f"must be at most {MOST_YAML} bytes in YAML"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, name: str, text: str, rule: str) -> None:
    """File, place, rule."""
    path = written(tmp_path, name, text)
    with pytest.raises(WorkloadError) as told:
        read_document(path)
    assert str(told.value).startswith(f"{path}: {rule}")


def test_a_missing_reader_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what installs it; JSON is read all the same."""
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ExtraError, match=r'files in YAML: needs pyyaml: pip install "\.\[yaml\]" in a clone'):
        read_document(written(tmp_path, "a.yaml", "a: 1"))
    assert read_document(written(tmp_path, "a.json", '{"a": 1}')) == {"a": 1}

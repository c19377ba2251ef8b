"""Objects by module and by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import PluginError
from batsched_py.loading import load_object


def test_an_object_is_found_in_a_module_and_in_a_file(tmp_path: Path) -> None:
    """`package.module:name` and `file.py:name`."""
    file = tmp_path / "mine.py"
    file.write_text("answer = 42\n")
    assert load_object("math:pi", "number") == pytest.approx(3.14159, abs=1e-5)
    assert load_object(f"{file}:answer", "number") == 42


def test_what_is_not_there_is_one_line_that_says_what_it_was_for() -> None:
    """The kind, the target and the missing name."""
    with pytest.raises(PluginError, match="number math:tau2: math has no tau2"):
        load_object("math:tau2", "number")

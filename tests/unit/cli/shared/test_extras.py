"""Packages of extras are asked for before work begins."""

from __future__ import annotations

import sys

import pytest

from batsched_py.cli.shared.extras import require
from batsched_py.errors import ExtraError


def test_what_is_installed_is_not_imported() -> None:
    """It is only looked for."""
    sys.modules.pop("this", None)
    require("this", "poetry", "zen")
    assert "this" not in sys.modules


def test_a_missing_package_is_told_with_its_extra() -> None:
    """In one line, with the command that installs it."""
    with pytest.raises(ExtraError) as caught:
        require("there_is_no_such_package", "report", "report")
    assert str(caught.value) == 'report: needs there_is_no_such_package: pip install "batsched-py[report]"'
    assert caught.value.exit_code == 2

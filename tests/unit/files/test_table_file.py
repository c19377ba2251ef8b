"""Rows of CSV with all digits, written by one function alone."""

from __future__ import annotations

from batsched_py.files.table_file import csv_rows
from tests.clone import ROOT, below


def test_no_text_is_a_formula() -> None:
    """Numbers keep their digits and their signs; nothing is an empty cell."""
    assert csv_rows([["=1+1", "a,b", None, -0.1, 1e-17], ["@x", "-1", "", True, 7]]) == (
        b"'=1+1,\"a,b\",,-0.1,1e-17\n'@x,-1,,True,7\n"
    )


def test_no_other_module_writes_rows() -> None:
    """So that no file is without this guard."""
    found = [path for path in below("batsched_py", "*.py") if "csv.writer" in path.read_text("utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in found] == ["batsched_py/files/table_file.py"]

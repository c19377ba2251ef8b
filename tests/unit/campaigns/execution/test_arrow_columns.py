"""Columns of Parquet files: what pyarrow makes of the same lists, to the byte of the file."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from batsched_py.campaigns.execution.arrow_columns import make_column

#: Values of one kind each, as columns have them, and the types that they may be asked for.
KINDS: list[tuple[st.SearchStrategy[Any], list[Any]]] = [
    (st.text(st.characters(codec="utf-8")), [None, pyarrow.string()]),
    (st.booleans(), [None, pyarrow.bool_()]),
    (st.integers(-(2**63), 2**63 - 1), [None, pyarrow.int64()]),
    (st.floats(), [None, pyarrow.float64()]),
    (st.floats() | st.integers(-(2**53), 2**53), [None, pyarrow.float64()]),
]


def file_of(column: Any) -> bytes:
    """The Parquet file of a column."""
    out = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({"a": column}), out)
    return bytes(out.getvalue().to_pybytes())


@given(st.data())
def test_a_column_is_what_pyarrow_makes_of_it(data: st.DataObject) -> None:
    """It may be of any kind, with missing values or with nothing else."""
    kind, types = data.draw(st.sampled_from(KINDS))
    values = data.draw(st.lists(st.none() | kind, max_size=20))
    asked = data.draw(st.sampled_from(types))
    made, theirs = make_column(pyarrow, values, asked), pyarrow.array(values, asked)
    made.validate(full=True)
    assert made.type == theirs.type
    assert file_of(made) == file_of(theirs)


@pytest.mark.parametrize("values", [[2**63], ["a", 1], [1, "a"], [True, 1]])
def test_what_pyarrow_refuses_is_refused(values: list[Any]) -> None:
    """By the same error."""
    with pytest.raises((pyarrow.ArrowException, OverflowError)) as theirs:
        pyarrow.array(values)
    with pytest.raises(theirs.type):
        make_column(pyarrow, values)


def test_pandas_is_not_loaded() -> None:
    """As it is by pyarrow, if it is installed, which takes longer than most campaigns."""
    program = (
        "import sys, pyarrow\n"
        "from batsched_py.campaigns.execution.arrow_columns import make_column\n"
        "for values in ['a', None], [True, None], [1.5, 2], [1, None], [None]: make_column(pyarrow, values)\n"
        "assert 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)

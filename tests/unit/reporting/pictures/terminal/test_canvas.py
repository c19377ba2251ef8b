"""Means for each column, and bars."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batsched_py.reporting.pictures.terminal.canvas import column_means, vertical_bars


def test_a_span_fills_whole_columns_and_parts_of_those_at_its_ends() -> None:
    """From the middle of the first column to a quarter of the fourth."""
    assert column_means([(0.5, 3.25)], 5) == [0.5, 1.0, 1.0, 0.25, 0.0]


def test_spans_inside_one_column_add_up() -> None:
    """Short waits count by their length."""
    assert column_means([(1.25, 1.5), (1.5, 1.75), (1.0, 2.0)], 3) == [0.0, 1.5, 0.0]


def test_a_span_may_end_where_the_picture_ends() -> None:
    """There is no column after the last."""
    assert column_means([(2.0, 3.0), (3.0, 3.0)], 3) == [0.0, 0.0, 1.0]


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)).map(sorted), max_size=30))
def test_the_means_add_up_to_the_length_of_all_spans(spans: list[list[float]]) -> None:
    """Nothing is lost, however the columns cut."""
    means = column_means([(begin, end) for begin, end in spans], 10)
    assert sum(means) == pytest.approx(sum(end - begin for begin, end in spans), abs=1e-9)


def test_bars_grow_by_eighths_over_the_lines() -> None:
    """The upper line first."""
    assert vertical_bars([0, 1, 8, 9, 16, 20], 16, 2) == ["   ▁██", " ▁████"]


def test_what_is_more_than_nothing_is_never_drawn_as_nothing() -> None:
    """One job that waits is no empty queue."""
    assert vertical_bars([1e-9, 0], 100, 1) == ["▁ "]


def test_a_chart_of_nothing_is_blank() -> None:
    """Without division by zero."""
    assert vertical_bars([0, 0], 0, 2) == ["  ", "  "]

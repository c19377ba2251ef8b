"""Columns as data frames of pandas, which is loaded on first use."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from batsched_py.loading import require

if TYPE_CHECKING:
    from pandas import DataFrame


def data_frame(columns: Mapping[str, Sequence[Any]], use: str) -> DataFrame:
    """Return columns as a DataFrame of pandas; `use` needs it. ExtraError."""
    require("pandas", use, "notebook")
    table: DataFrame = importlib.import_module("pandas").DataFrame(columns)
    return table

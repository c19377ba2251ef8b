"""The jobs of a run as rows of a Parquet file."""

from __future__ import annotations

import importlib
from typing import Any

from batsched_py.campaigns.execution.arrow_columns import make_column
from batsched_py.reporting.metrics.job_metrics import job_columns
from batsched_py.reporting.schedules.schedule import Schedule


def encode_jobs(schedule: Schedule) -> bytes:
    """Return a Parquet file with the rows and the columns of `metrics --per-job`; needs pyarrow."""
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    table = arrow.table({name: make_column(arrow, values) for name, values in job_columns(schedule).items()})
    out = arrow.BufferOutputStream()
    parquet.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content

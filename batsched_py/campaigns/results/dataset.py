"""The dataset of a campaign: `runs.parquet` with a row for each run, `jobs.parquet` with one for each job.

Without pyarrow it is `runs.csv`.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from batsched_py.campaigns.execution.arrow_columns import encode_table, make_column
from batsched_py.campaigns.execution.run_store import RunStore
from batsched_py.campaigns.execution.stored_run import StoredRun
from batsched_py.campaigns.plan.campaign_plan import CampaignPlan, PlannedRun
from batsched_py.campaigns.results.run_rows import run_columns
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.table_file import csv_rows
from batsched_py.loading import require
from batsched_py.reporting.metrics.catalogue import METRIC_INFO, Unit
from batsched_py.reporting.metrics.job_metrics import COLUMNS

RUNS: Final = "runs.parquet"
RUNS_CSV: Final = "runs.csv"
JOBS: Final = "jobs.parquet"
#: Columns of `runs.parquet` that name the run of a job.
_NAMES: Final = ("platform", "settings", "group", "workload", "seed", "algorithm", "key")


def write_dataset(folder: Path, plan: CampaignPlan, ended: Mapping[str, StoredRun], store: RunStore) -> list[Path]:
    """Write the runs of a plan that ended, in its order, and their jobs if it wants them; return the files.

    The same runs give the same bytes. OSError; ExtraError if jobs are wanted and pyarrow is missing.
    """
    if plan.campaign.jobs:
        check_jobs_possible()
    elif importlib.util.find_spec("pyarrow") is None:
        folder.mkdir(parents=True, exist_ok=True)
        _write_csv(folder / RUNS_CSV, run_columns(plan.runs, ended))
        (folder / RUNS).unlink(missing_ok=True)  # it would be the dataset of an earlier state
        return [folder / RUNS_CSV]
    arrow: Any = importlib.import_module("pyarrow")
    columns = run_columns(plan.runs, ended)
    content = encode_table({name: _array(arrow, name, values) for name, values in columns.items()})
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(folder / RUNS, content)
    (folder / RUNS_CSV).unlink(missing_ok=True)
    if not plan.campaign.jobs:
        return [folder / RUNS]
    _write_jobs(folder / JOBS, [run for run in plan.runs if run.key in ended], columns, store)
    return [folder / RUNS, folder / JOBS]


def check_jobs_possible() -> None:
    """Raise ExtraError if the jobs of runs cannot be stored, because pyarrow is missing."""
    require("pyarrow", "campaign with jobs = true", "campaign")


def _write_csv(path: Path, columns: Mapping[str, list[Any]]) -> None:
    """Write columns with all digits, as Parquet has them; tables of runs are rounded."""
    write_atomically(path, csv_rows([columns, *zip(*columns.values(), strict=True)]))


def _array(arrow: Any, name: str, values: list[Any]) -> Any:
    """Return a column; a metric without any value keeps its type."""
    if name in METRIC_INFO or name == "seed":
        return make_column(
            arrow, values, arrow.int64() if name == "seed" or METRIC_INFO[name].unit is Unit.COUNT else arrow.float64()
        )
    if all(value is None for value in values):
        return make_column(arrow, values, arrow.string())
    return make_column(arrow, values)


def _write_jobs(path: Path, runs: list[PlannedRun], columns: Mapping[str, list[Any]], store: RunStore) -> None:
    """Write the jobs of all runs, one run after the other, so that only one run is in memory at a time."""
    arrow: Any = importlib.import_module("pyarrow")
    parquet: Any = importlib.import_module("pyarrow.parquet")
    schema = _jobs_schema(arrow)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with parquet.ParquetWriter(temporary, schema) as writer:
            for place, run in enumerate(runs):
                file = store.jobs_path(run.key)
                if not file.exists():  # it failed
                    continue
                jobs = parquet.ParquetFile(file).read()  # `read_table` would load pandas
                names = {name: _array(arrow, name, [columns[name][place]] * jobs.num_rows) for name in _NAMES}
                found = dict(zip(jobs.column_names, jobs.columns, strict=True))
                writer.write_table(arrow.table({**names, **found}).cast(schema))
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _jobs_schema(arrow: Any) -> Any:
    """Return the columns of `jobs.parquet` with their types, which cannot be inferred from a run without values."""
    integers = {"seed", "requested_number_of_resources", "allocated_number_of_resources", "pieces", "attempt"}
    truths = {"success", "deadline_met"}
    texts = {
        "job_id",
        "first_job_id",
        "workload_name",
        "profile",
        "final_state",
        "allocated_resources",
        "metadata",
        "user",
    } | (set(_NAMES) - {"seed"})
    kinds = dict.fromkeys(integers, arrow.int64()) | dict.fromkeys(truths, arrow.bool_())
    kinds |= dict.fromkeys(texts, arrow.string())
    return arrow.schema([(name, kinds.get(name, arrow.float64())) for name in (*_NAMES, *COLUMNS)])

"""Jobs that others slowed down: written, read back, measured."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reporting.api import Schedule, measure_jobs, measure_run, read_schedule, schedule_of
from batsched_py.reporting.pictures.html.content import pack
from batsched_py.results.records import SlowedJob
from batsched_py.results.result_files import STATES, write_contention, write_jobs
from tests.unit.reporting.records import record, rejected, result

RUN = replace(
    result(record("a", finish=20.0), record("b", finish=12.5, hosts="1"), rejected()),
    slowed=(SlowedJob("w0!a", 20.0, 8.0),),
    host_seconds=dict.fromkeys(STATES, 0.0),
)


def write(folder: Path) -> Path:
    write_jobs(folder / "run_jobs.csv", RUN)
    write_contention(folder / "run_contention.csv", RUN.slowed or ())
    return folder / "run"


def contention(run: Schedule) -> tuple[int | None, float | None, float | None]:
    """Jobs of a run that were slowed down; mean and maximum slowdown."""
    metrics = measure_run(run)
    return metrics.slowed_jobs, metrics.mean_contention_slowdown, metrics.max_contention_slowdown


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    """It is measured: a job that is not in the file was not slowed down."""
    path = write(tmp_path)
    assert (tmp_path / "run_contention.csv").read_text() == (
        "job_id,workload_name,execution_time,alone_time,slowdown\na,w0,20.000000,8.000000,2.500000\n"
    )
    read = read_schedule(path)
    assert read.alone == schedule_of(RUN, "run").alone == {"w0!a": 8.0}
    assert [job.contention_slowdown for job in measure_jobs(read)] == [2.5, 1.0, None]
    assert contention(read) == (1, 1.75, 2.5)


def test_a_run_whose_jobs_were_not_slowed_down_can_be_compared_with_others(tmp_path: Path) -> None:
    """Its slowdowns are 1, from a file without rows and in the same process."""
    write(tmp_path)
    write_contention(tmp_path / "run_contention.csv", ())
    assert contention(read_schedule(tmp_path / "run")) == (0, 1.0, 1.0)
    assert contention(schedule_of(replace(RUN, slowed=()), "run")) == (0, 1.0, 1.0)
    assert contention(schedule_of(replace(RUN, slowed=None), "run")) == (None, None, None)


def test_without_the_file_nothing_is_known(tmp_path: Path) -> None:
    """A run of Batsim has none."""
    path = write(tmp_path)
    (tmp_path / "run_contention.csv").unlink()
    read = read_schedule(path)
    assert [job.contention_slowdown for job in measure_jobs(read)] == [None] * 3
    assert contention(read) == (None, None, None)


@pytest.mark.parametrize(
    "slowed", [SlowedJob("w0!a", 21.0, 8.0), SlowedJob("w0!c", 20.0, 8.0), SlowedJob("w0!r", 20.0, 8.0)]
)
def test_the_file_of_another_run_is_left_out(tmp_path: Path, slowed: SlowedJob) -> None:
    """With a note: a job ran longer there, or not at all."""
    path = write(tmp_path)
    write_contention(tmp_path / "run_contention.csv", [slowed])
    read = read_schedule(path)
    assert read.alone is None
    assert "run_contention.csv is left out: it contains other jobs than those of this run" in read.notes


def test_a_file_with_other_columns_is_somebody_elses(tmp_path: Path) -> None:
    """But what is no number is an error."""
    path = write(tmp_path)
    (tmp_path / "run_contention.csv").write_text("link,bytes\nbb,7\n")
    assert read_schedule(path).alone is None
    header = "job_id,workload_name,execution_time,alone_time,slowdown"
    (tmp_path / "run_contention.csv").write_text(f"{header}\na,w0,much,8,2\n")
    with pytest.raises(InputError, match=r"run_contention\.csv"):
        read_schedule(path)


def test_a_page_has_the_seconds_that_each_job_lost() -> None:
    """0 for a job that nobody delayed; no column if nobody delayed any."""
    known = schedule_of(RUN, "run")
    assert pack([known]).runs[0].lost == [12, 0]
    assert pack([replace(known, alone={})]).runs[0].lost == []
    assert pack([replace(known, alone=None)]).runs[0].lost == []

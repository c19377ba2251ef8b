"""Batsim's files."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.model.settings import Settings
from batsched_py.results.file_forms import BATSIM_1
from batsched_py.results.records import Result, Tally
from batsched_py.results.result_files import PIECE, JobRows, schedule_columns, write_jobs, write_schedule
from tests.unit.simulator.scenario import execute, job, play, reject, workload


@pytest.fixture
def result() -> Result:
    jobs = workload(job("a", at=1.5, res=2, walltime=30), job("b", at=1.5), job("c", at=2))
    finished, _ = play(jobs, {1.5: [execute("a", "0 2"), reject("b")], 2.0: [execute("c", "1")]})
    return finished


def test_a_row_for_each_job_in_order_of_its_end(tmp_path: Path, result: Result) -> None:
    """A job without walltime asks for -1 s; a rejected one has empty times."""
    write_jobs(tmp_path / "out_jobs.csv", result)
    assert (tmp_path / "out_jobs.csv").read_text().splitlines()[1:] == [
        'b,w0,d10,1.500000,1,-1.000000,0,REJECTED,,,,,,,,,""',
        "a,w0,d10,1.500000,2,30.000000,1,COMPLETED_SUCCESSFULLY,1.500000,10.000000,11.500000,0.000000,10.000000,"
        '1.000000,0 2,-1.000000,""',
        "c,w0,d10,2.000000,1,-1.000000,1,COMPLETED_SUCCESSFULLY,2.000000,10.000000,12.000000,0.000000,10.000000,"
        '1.000000,1,-1.000000,""',
    ]


def test_rows_that_were_put_aside_are_the_same_file(tmp_path: Path, result: Result) -> None:
    """Also of more jobs than are put aside at once; while they wait nobody sees a file."""
    many = replace(result, jobs=result.jobs * PIECE)
    write_jobs(tmp_path / "kept_jobs.csv", many)
    aside = tmp_path / "aside"
    aside.mkdir()
    with JobRows(aside) as rows:
        for record in many.jobs:
            rows.add([record])
        assert not list(aside.iterdir())
        rows.write(aside / "out_jobs.csv")
    assert (aside / "out_jobs.csv").read_bytes() == (tmp_path / "kept_jobs.csv").read_bytes()


def test_numbers_alone_give_the_same_schedule(result: Result) -> None:
    """They are those of jobs that were passed on as they ended."""
    tally = Tally.of(result.jobs, result.host_count)
    assert schedule_columns(replace(result, jobs=(), tally=tally)) == schedule_columns(result)


def test_batsim_1_has_no_row_for_a_rejected_job(tmp_path: Path) -> None:
    """Its document says so, and its recordings; the metrics of the schedule count such jobs."""
    jobs, script = workload(job("1", at=1), job("2", at=1)), {1.0: [reject("1"), execute("2", "0")]}
    result, _ = play(jobs, script, settings=Settings(protocol="v1.4", workload_names=("w0",)))
    write_jobs(tmp_path / "out_jobs.csv", result)
    header, *rows = (tmp_path / "out_jobs.csv").read_text().splitlines()
    assert header.startswith("job_id,")
    assert [row.partition(",")[0] for row in rows] == ["2"]
    with JobRows(tmp_path, BATSIM_1) as aside:
        for record in result.jobs:
            aside.add([record])
        aside.write(tmp_path / "aside_jobs.csv")
    assert (tmp_path / "aside_jobs.csv").read_bytes() == (tmp_path / "out_jobs.csv").read_bytes()
    write_schedule(tmp_path / "out_schedule.csv", result)
    names, values = (tmp_path / "out_schedule.csv").read_text().splitlines()
    columns = dict(zip(names.split(","), values.split(","), strict=True))
    assert (columns["nb_jobs"], columns["nb_jobs_finished"]) == ("2", "1")


def test_the_schedule_says_who_made_it(tmp_path: Path, result: Result) -> None:
    """Nobody shall take it for real Batsim's."""
    write_schedule(tmp_path / "out_schedule.csv", result)
    header, row = (tmp_path / "out_schedule.csv").read_text().splitlines()
    columns = dict(zip(header.split(","), row.split(","), strict=True))
    assert columns["batsim_version"].startswith("batsched-py ")
    assert (columns["nb_jobs"], columns["nb_jobs_rejected"], columns["success_rate"]) == ("3", "1", "0.666667")
    assert (columns["makespan"], columns["mean_slowdown"]) == ("12.000000", "0.666667")


def test_a_metric_a_little_below_zero_is_zero(tmp_path: Path, result: Result) -> None:
    """A job may start a nanosecond before its rounded submission time."""
    early = [replace(record, job=replace(record.job, submit_time=record.start + 1e-9)) for record in result.jobs]
    write_schedule(tmp_path / "out_schedule.csv", replace(result, jobs=tuple(early)))
    header, row = (tmp_path / "out_schedule.csv").read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True))["mean_waiting_time"] == "0.000000"


def test_a_simulation_without_jobs_has_a_schedule(tmp_path: Path, result: Result) -> None:
    """No mean divides by nothing."""
    write_schedule(tmp_path / "out_schedule.csv", replace(result, jobs=()))
    assert "nan" not in (tmp_path / "out_schedule.csv").read_text()


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path, result: Result) -> None:
    """Neither a temporary file nor half of the real one."""
    (tmp_path / "out").mkdir()
    with pytest.raises(IsADirectoryError):
        write_jobs(tmp_path / "out", result)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_others_may_read_the_files(tmp_path: Path, result: Result) -> None:
    """As any file made here: they are no secret of whoever ran the simulation."""
    ordinary = tmp_path / "ordinary"
    ordinary.touch()
    for write in (write_jobs, write_schedule):
        write(tmp_path / "written", result)
        assert (tmp_path / "written").stat().st_mode == ordinary.stat().st_mode
        (tmp_path / "written").unlink()

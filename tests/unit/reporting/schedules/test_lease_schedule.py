"""Schedules made of lease tables alone, as `haizea` writes them: the jobs that Batsim would have had."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.reporting.api import measure_run, read_schedule
from batsched_py.reporting.schedules.run_reader import files_of
from tests.unit.reporting.lease_runs import RUNS, result, schedule, write


def alone(folder: Path, name: str = "quickstart") -> Path:
    """The prefix of a run whose jobs file is lost."""
    write(folder, result(name)).unlink()
    return folder / "run"


@pytest.mark.parametrize("name", RUNS)
def test_the_jobs_are_those_of_batsim(tmp_path: Path, name: str) -> None:
    """Names, hosts and times, and the leases to which they belong."""
    read, real = read_schedule(alone(tmp_path, name), hosts=4), schedule(name)
    rows = [
        sorted(
            (one.job.id, one.rejected, one.job.submit_time, one.start, one.finish, one.hosts, run.leases.of_jobs([one]))
            for one in run.jobs
            if run.leases is not None
        )
        for run in (read, real)
    ]
    assert rows[0] == rows[1]
    assert measure_run(read).lease_utilisation == measure_run(real).lease_utilisation


def test_a_lease_that_did_not_end_was_killed(tmp_path: Path) -> None:
    """The run stopped before; what was under way is as long as all that is known."""
    prefix = alone(tmp_path)
    for ending, old, new in (("leases", "Done,0,0,5464", "Active,0,0,"), ("reservations", "3632,5464", "3632,")):
        file = tmp_path / f"run_{ending}.csv"
        file.write_text(file.read_text().replace(old, new))
    first, second, third = read_schedule(prefix).jobs
    assert (first.job.id, first.state) == ("w0!1", "COMPLETED_KILLED")
    assert (second.job.id, second.state) == ("w0!2", "COMPLETED_SUCCESSFULLY")
    assert (third.job.id, third.state, third.finish) == ("w0!1#1", "COMPLETED_KILLED", 5464)


def test_the_number_of_hosts_is_noted(tmp_path: Path) -> None:
    """Up to the highest that a lease had; its name is the prefix."""
    read = read_schedule(alone(tmp_path))
    assert (read.name, read.hosts, read.jobs[0].hosts) == ("run", 4, HostSet.of(0))
    assert "no file says how many there were" in read.notes[0]
    assert [file.name for file in files_of(tmp_path / "run")] == ["run_leases.csv", "run_reservations.csv"]


def test_other_tables_are_refused(tmp_path: Path) -> None:
    """A user's algorithm may give its tables these names."""
    prefix = alone(tmp_path)
    (tmp_path / "run_leases.csv").write_text("a\n1\n")
    with pytest.raises(InputError, match="is no table of leases, and there is no jobs file in its folder"):
        read_schedule(prefix)

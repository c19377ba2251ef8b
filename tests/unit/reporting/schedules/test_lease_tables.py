"""Lease tables: read from files as they were in the process, or told with file, line and rule."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.model.table import Table
from batsched_py.reporting.api import read_schedule
from batsched_py.reporting.schedules.lease_tables import LeaseTables, lease_tables_of
from batsched_py.reporting.schedules.run_reader import files_of
from batsched_py.results.run_file import RunFile, write_run
from tests.unit.reporting.lease_runs import result, schedule, write


def read(folder: Path, **changes: tuple[str, str]) -> LeaseTables | None:
    """The leases of the quickstart's files, of which some text was changed: ending -> (old, new)."""
    path = write(folder, result())
    for name, (old, new) in changes.items():
        file = folder / f"run_{name}.csv"
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))
    return read_schedule(path).leases


@pytest.mark.parametrize("name", ["quickstart", "requeue", "images"])
def test_files_tell_what_the_run_told(tmp_path: Path, name: str) -> None:
    """The same leases, spans and images, to the six digits of files."""
    run = result(name)
    path = write(tmp_path, run)
    read, told = read_schedule(path).leases, lease_tables_of(run.tables)
    assert read is not None
    assert told is not None
    assert (read.spans, read.images, read.jobs) == (told.spans, told.images, told.jobs)
    for number, row in told.leases.items():
        rounded = [round(cell, 6) if isinstance(cell, float) else cell for cell in row]
        assert list(read.leases[number]) == rounded
    ends = ["jobs", "leases", "reservations", *(["images"] if name == "images" else [])]
    assert [file.name for file in files_of(path)] == [f"run_{end}.csv" for end in ends]


def test_each_span_has_its_hosts_and_times() -> None:
    """The suspension of the quickstart, and the reservation on all hosts."""
    leases = schedule().leases
    assert leases is not None
    [suspension] = [span for span in leases.spans if span.kind == "suspend"]
    assert (suspension.lease, suspension.start, suspension.end, suspension.hosts) == (1, 1768, 1800, HostSet.of(0))
    [reserved] = [span for span in leases.spans if span.lease == 2 and span.kind == "vm"]
    assert (reserved.start, reserved.end, reserved.hosts) == (1800, 3600, HostSet.range(4))
    assert leases.end == 5464


def test_segments_belong_to_the_lease_of_the_first_job() -> None:
    """By their names."""
    run = schedule()
    assert run.leases is not None
    assert run.leases.of_jobs(run.jobs) == {"w0!1": 1, "w0!1#1": 1, "w0!2": 2}


def test_segments_of_batsim_1_are_found_by_hosts_and_start(tmp_path: Path) -> None:
    """They are jobs of a workload of their own."""
    path = write(tmp_path, result())
    path.write_text(path.read_text().replace("\n1#1,w0,", "\n0,segments,"))
    run = read_schedule(path)
    assert run.leases is not None
    assert run.leases.of_jobs(run.jobs)["segments!0"] == 1


def test_an_algorithm_of_a_users_own_may_call_its_tables_so(tmp_path: Path) -> None:
    """With other columns they are none of ours."""
    assert read(tmp_path, leases=("lease,", "number,")) is None
    assert lease_tables_of([Table("leases", ("a",), []), Table("reservations", ("b",), [])]) is None
    assert lease_tables_of([]) is None


def test_tables_of_another_run_are_left_out_with_a_note(tmp_path: Path) -> None:
    """An earlier run left them there."""
    path = write(tmp_path, result())
    path.write_text(path.read_text().replace(",w0,", ",w7,"))
    run = read_schedule(path)
    assert run.leases is None
    assert run.notes[-1] == "run_leases.csv is left out: it has none of the jobs of this run"


def test_tables_of_a_run_none_of_whose_jobs_has_ended_are_read(tmp_path: Path) -> None:
    """Such as those of a live site, whose leases run: its description names them."""
    path = write(tmp_path, result())
    path.write_text(path.read_text().splitlines()[0] + "\n")
    files = {"jobs": path, "leases": tmp_path / "run_leases.csv"}
    hashes = {name: sha256(file.read_bytes()).hexdigest() for name, file in files.items()}
    described = RunFile(
        algorithm="leases", options={}, seed=None, platform=None, workloads=(), settings={}, command=(), version="1",
        python="3", results=hashes,
    )  # fmt: skip
    for results, read in ((hashes, 2), (hashes | {"leases": "0"}, None)):
        write_run(tmp_path / "run_run.json", replace(described, results=results))
        leases = read_schedule(path).leases
        assert (None if leases is None else len(leases.leases)) == read


@pytest.mark.parametrize(
    ("table", "old", "new", "rule"),
    [
        ("leases", "\n2,AR", "\n1,AR", "run_leases.csv: line 3: repeats lease 1 of line 2"),
        ("leases", "\n2,AR", "\n-2,AR", "line 3, column lease: must be a whole number from 0, not '-2'"),
        ("leases", ",AR,", ",XX,", "line 3, column type: must be one of BE, AR, IM, DL, not 'XX'"),
        ("leases", ",5464,", ",soon,", "line 2, column end_time: must be a number, not 'soon'"),
        ("reservations", ",suspend,", ",pause,", "line 3, column kind: must be one of vm, shutdown, suspend"),
        ("reservations", "1768,1800,0", "1768,1800,x", "run_reservations.csv: line 3, column hosts: "),
        ("reservations", "1768,1800,0", "1768,1700,0", "line 3, column end: must not be before the start, as 1700 is"),
        ("reservations", "vm,0,", "vm,inf,", "line 2, column start: must be a number, not 'inf'"),
    ],
)
def test_a_wrong_cell_is_told_with_its_place(tmp_path: Path, table: str, old: str, new: str, rule: str) -> None:
    """One line, with file, line, column and rule."""
    with pytest.raises(InputError) as caught:
        read(tmp_path, **{table: (old, new)})
    assert rule in str(caught.value)


def test_what_was_under_way_lasts_until_the_last_end(tmp_path: Path) -> None:
    """A run that stopped early."""
    leases = read(tmp_path, reservations=("3632,5464,", "3632,,"))
    assert leases is not None
    [last] = [span for span in leases.spans if span.end is None]
    assert leases.until(last) == 5464  # its machines are shut down then

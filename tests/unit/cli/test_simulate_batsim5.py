"""`simulate --protocol v5`: its own output files, and the options that a program on a socket has to ask for itself."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile

import pytest
from click.testing import CliRunner, Result

from batsched_py.cli.main import batsched
from batsched_py.reporting.api import read_schedule
from batsched_py.reporting.schedules.run_reader import files_of
from batsched_py.results.result_files import STATES
from tests.clone import ROOT, files

RECORDED = ROOT / "tests" / "data" / "batsim5"


def simulate(*words: str | Path) -> Result:
    """The command as Batsim 5, with what it printed."""
    common = ["simulate", "-p", ROOT / "platforms" / "tiny4.xml", "-w", ROOT / "workloads" / "first.json", "--quiet"]
    return CliRunner().invoke(batsched, [*map(str, common), "--protocol", "v5", *map(str, words)])


def members(path: Path) -> dict[str, type]:
    """Each member of an object in a file -> the type of its value."""
    return {name: type(value) for name, value in json.loads(path.read_text()).items()}


def test_the_schedule_is_written_as_batsim_5_does(tmp_path: Path) -> None:
    """The members of a recorded one, in their order, as JSON."""
    assert simulate("-s", "fcfs", "-e", f"{tmp_path}/").exit_code == 0
    recorded, ours = members(RECORDED / "fcfs_basic.schedule.json"), members(tmp_path / "schedule.json")
    assert (list(ours), ours) == (list(recorded), recorded)
    row = json.loads((tmp_path / "schedule.json").read_text())
    assert (row["nb_jobs"], row["makespan"]) == (8, 170.0)
    assert all(f"time_{state}" in row for state in STATES)
    measured = members(RECORDED / "pstates_energy.real_exec_info.json")
    assert members(tmp_path / "real_exec_info.json").items() <= measured.items()


@pytest.mark.parametrize("prefix", ["", "five"])
def test_files_have_the_names_of_batsim_5(prefix: str, tmp_path: Path) -> None:
    """The prefix and nothing between; ours are named as ever. Readers find them all."""
    assert simulate("-s", "fcfs", "-e", f"{tmp_path}/{prefix}").exit_code == 0
    batsims = ("jobs.csv", "schedule.json", "real_exec_info.json", "machine_states.csv")
    written = {f"{prefix}{name}" for name in (*batsims, "_run.json", "_decisions.csv")}
    assert {file.name for file in tmp_path.iterdir()} == written
    jobs = tmp_path / f"{prefix}jobs.csv"
    for path in (jobs, tmp_path / prefix):
        run = read_schedule(path)
        assert run.batsim_row["nb_jobs"] == "8"
        assert run.machine_states is not None
        assert run.run is not None
        assert run.name == (prefix or tmp_path.name)
        assert {file.name for file in files_of(path)} == written - {f"{prefix}real_exec_info.json"}


def test_jobs_have_the_rows_of_batsim_5(tmp_path: Path) -> None:
    """It recorded them for the same workload, with profiles named by workload and no metadata."""
    inputs = RECORDED / "inputs"
    words = ["simulate", "-p", inputs / "p4.xml", "-w", inputs / "w_basic.json", "-s", "fcfs", "--protocol", "v5"]
    more = ["--allow-oversized-jobs", "-e", f"{tmp_path}/", "--quiet"]
    assert CliRunner().invoke(batsched, [*map(str, words), *more]).exit_code == 0
    recorded = RECORDED / "fcfs_basic.jobs.csv"
    ours, theirs = (sorted(path.read_text().splitlines()) for path in (tmp_path / "jobs.csv", recorded))
    assert ours == theirs  # their decision process rejected a job later
    assert {record.job.profile for record in read_schedule(recorded).jobs} == {"d10", "d100", "fail"}


@pytest.mark.parametrize("jobs", files("tests/data/batsim5/*.jobs.csv"), ids=lambda path: path.stem)
def test_what_batsim_5_wrote_is_read(jobs: Path, tmp_path: Path) -> None:
    """Also of a run without jobs, whose means are no JSON."""
    run = jobs.name.removesuffix(".jobs.csv")
    for file in jobs.parent.glob(f"{run}.*"):
        copyfile(file, tmp_path / file.name.removeprefix(f"{run}."))
    read = read_schedule(tmp_path, hosts=4)
    assert read.batsim_row["batsim_version"] == "5.0.0-rc2"
    assert len(read.jobs) == int(read.batsim_row["nb_jobs"])
    assert (read.consumed_energy is None) == (not (tmp_path / "consumed_energy.csv").exists())
    assert not any("!" in record.job.profile for record in read.jobs)


def test_dynamic_jobs_are_asked_for_by_the_session(tmp_path: Path) -> None:
    """The options of Batsim 4 say what our own algorithm asks for; a program on a socket asks itself."""
    done = simulate("-s", "submitter", "--enable-dynamic-jobs", "-o", "jobs=1", "-e", tmp_path / "out")
    assert done.exit_code == 0, done.output
    refused = simulate("--socket", "tcp://127.0.0.1:9", "--enable-dynamic-jobs")
    assert refused.exit_code == 2
    assert "asks for dynamic jobs and profiles itself" in " ".join(refused.output.split())


def test_algorithms_are_compared_as_batsim_5_runs_them(tmp_path: Path) -> None:
    """The runs are those of Batsim 4; what was asked for is told. Each has a folder, which readers take as ever."""
    files = ["-p", ROOT / "platforms" / "tiny4.xml", "-w", ROOT / "workloads" / "first.json"]
    words = ["compare", *files, "-s", "fcfs", "-s", "submitter", "--enable-dynamic-jobs", "--quiet"]
    for protocol in ("v4", "v5"):
        done = CliRunner().invoke(batsched, [*map(str, words), "--protocol", protocol, "-e", str(tmp_path / protocol)])
        assert done.exit_code == 0, done.output
    for name in ("fcfs", "submitter"):
        four, five = (read_schedule(tmp_path / protocol / "first" / name) for protocol in ("v4", "v5"))
        starts = [{job.job.id: (job.start, job.hosts) for job in run.jobs} for run in (four, five)]
        assert starts[0] == starts[1]
        assert four.run is not None
        assert five.run is not None
        assert "features" not in four.run.settings
        assert five.run.settings["features"]["dynamic_registration"]
    assert (tmp_path / "v5" / "first" / "fcfs" / "jobs.csv").exists()

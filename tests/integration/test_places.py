"""Places of tasks: in records, in the files of a run, and read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.model.demand import TaskDemand
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import load
from batsched_py.reporting.api import measure_run, read_schedule
from batsched_py.results.place_files import CAPACITIES, PLACES
from batsched_py.results.places import JobPlaces
from batsched_py.results.records import Result
from batsched_py.runs.result_writer import JobRowSpool, write_result
from batsched_py.runs.run import Run
from batsched_py.runs.simulate import simulate
from batsched_py.session.session import Session
from batsched_py.simulator.simulation import Simulation
from tests.drawing import drawn
from tests.integration.packed_runs import JOBS, machine, packed_workload, run_packed
from tests.integration.test_packed_conversations import SPECS


def places_of(result: Result) -> dict[str, JobPlaces | None]:
    """Job id -> places, for the jobs that ran."""
    return {record.job.id: record.places for record in result.jobs if not record.rejected}


@pytest.mark.parametrize("name", ["filler", "easy", "ar_preempt", "leases"])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    """The same places and capacities, of algorithms that place tasks and of those that know whole hosts."""
    for specs in drawn(JOBS, 4):
        result, _, _ = run_packed(name, {}, packed_workload(specs))
        write_result(f"{tmp_path}/run", result)
        found = read_schedule(tmp_path / "run")
        assert {record.job.id: record.places for record in found.ran} == places_of(result)
        if any(job.demand for job in packed_workload(specs).jobs) and found.ran:
            assert found.capacity == result.capacity


def test_each_task_has_a_place_on_a_host_of_its_job() -> None:
    """Jobs with whole hosts have none."""
    for specs in drawn(JOBS, 4):
        result, _, _ = run_packed("filler", {}, packed_workload(specs))
        for record in result.jobs:
            if record.rejected or record.job.demand is None:
                assert record.places is None
            else:
                assert record.places is not None
                assert (record.places.hosts, record.places.tasks) == (record.hosts, record.job.size)
                assert record.places.whole is record.job.demand.task.exclusive


def test_jobs_that_are_stored_on_disk_have_the_same_files(tmp_path: Path) -> None:
    """The memory of large runs does not hold them."""
    result, _, _ = run_packed("filler", {}, packed_workload(SPECS))
    write_result(f"{tmp_path}/kept", result)
    with JobRowSpool(f"{tmp_path}/stored", result.files) as rows:
        rows.add(result.jobs[:3])
        rows.add(result.jobs[3:])
        write_result(f"{tmp_path}/stored", replace(result, jobs=()), rows)
    for ending in (PLACES, CAPACITIES):
        assert Path(f"{tmp_path}/kept{ending}").read_bytes() == Path(f"{tmp_path}/stored{ending}").read_bytes()


def test_runs_with_whole_hosts_have_no_such_files(tmp_path: Path) -> None:
    """Their files are those of Batsim."""
    run = simulate(machine(), packed_workload([(0, 2, 5, 9, None, False, 0)]), "easy")
    run.write(f"{tmp_path}/run")
    assert not {f"run{PLACES}", f"run{CAPACITIES}"} & {file.name for file in tmp_path.iterdir()}
    assert run.result.capacity is None


def test_a_run_that_was_written_is_read_with_its_places(tmp_path: Path) -> None:
    """From Python as from the command line."""
    run = simulate(machine(), packed_workload(SPECS), "filler")
    run.write(tmp_path / "run")
    found = Run.read(tmp_path / "run")
    assert [record.places for record in found.schedule.jobs] == [record.places for record in run.schedule.jobs]
    assert found.schedule.capacity == run.schedule.capacity


def served(workload: Workload) -> tuple[Session, Result]:
    """A run with a peer that counts no resources, as Batsim with compute sharing."""
    session = Session(load("filler"))

    def answer(request: bytes) -> bytes:
        return session.answer(request.replace(b',"demands":true', b"").replace(b'"demands":true,', b""))

    return session, Simulation(machine(), [workload], Settings(compute_sharing=True)).run(answer)


def test_a_session_knows_the_places_that_batsim_does_not() -> None:
    """They are those that the simulator counts by the mapping, with the numbers of GPUs."""
    for specs in drawn(JOBS, 4):
        session, result = served(packed_workload(specs))
        counted = {job: places for job, places in places_of(result).items() if places is not None}
        assert {job: places.hosts for job, places in counted.items()} == {
            job: places.hosts for job, places in session.placed.places.items()
        }
        asked = any(spec[4] is not None for spec in specs)
        assert (session.placed.capacity is not None) is asked
        if result.capacity is not None:
            assert session.placed.capacity == result.capacity


def test_a_session_with_the_simulator_leaves_them_to_it() -> None:
    """They are in one file only."""
    _, session, _ = run_packed("filler", {}, packed_workload(SPECS))
    assert not session.placed.places
    assert session.placed.capacity is None


def written(folder: Path) -> Path:
    """The files of a run with one task on the first GPU of host 3."""
    result, _, _ = run_packed(
        "filler", {}, packed_workload([(0, 1, 5, 9, TaskDemand(gpus=1, share=500, models=("V100",)), False, 1)])
    )
    write_result(f"{folder}/run", result)
    return folder / "run"


def test_the_files_are_plain_tables(tmp_path: Path) -> None:
    """A row for each host of a job, and for each kind of host."""
    path = written(tmp_path)
    assert Path(f"{path}{PLACES}").read_text() == (
        "job_id,workload_name,host,tasks,whole,gpu_numbers,cores,memory,gpus,gpu_share,gpu_models,others,licences\n"
        '000,w0,3,1,0,0,0,0,1,0.5,"[""V100""]",,matlab:1\n'
    )
    assert Path(f"{path}{CAPACITIES}").read_text() == (
        "hosts,cores,memory,gpus,gpu_model,others,licences\n"
        "0,8,1000,2,T4,,matlab:2\n1,4,500,0,,,matlab:2\n2,4,500,0,,fpga:2,matlab:2\n3,16,2000,4,V100,,matlab:2\n"
    )


@pytest.mark.parametrize(
    ("column", "text", "rule"),
    [
        ("tasks", "0", "must be at least 1"),
        ("whole", "2", "must be 0 or 1"),
        ("gpu_numbers", "x", "must be numbers of GPUs below 1000"),
        ("gpu_numbers", "0 1", "must have 1 numbers, not 2"),
        ("cores", "0.0005", "with at most three decimals"),
        ("gpu_share", "1.5", "must be a number from 0 to 1"),
        ("gpus", "5000", "must be at most 1000"),
        ("gpu_models", "V100", "must be a list of texts in JSON"),
        ("others", "fpga", "must be pairs like"),
        ("licences", "matlab:1.5", "must be whole numbers"),
    ],
)
def test_wrong_cells_are_named(column: str, text: str, rule: str, tmp_path: Path) -> None:
    """With the file, the line, the column and the rule."""
    path = written(tmp_path)
    file = Path(f"{path}{PLACES}")
    header, row = file.read_text().splitlines()
    cells = dict(
        zip(header.split(","), ["000", "w0", "3", "1", "0", "0", "0", "0", "1", "0.5", "", "", ""], strict=True)
    )
    file.write_text(f"{header}\n{','.join({**cells, column: text}.values())}\n")
    assert row.startswith("000,w0,3,1,0,0,0,0,1,0.5,")
    with pytest.raises(InputError, match=rf"line 2, column {column}: .*{rule}"):
        read_schedule(path)


def test_a_task_has_different_gpus(tmp_path: Path) -> None:
    """And models only with GPUs."""
    path = written(tmp_path)
    file = Path(f"{path}{PLACES}")
    text = file.read_text()
    file.write_text(text.replace(",1,0,0,0,0,1,0.5", ",1,0,1 1,0,0,2,0.5"))
    with pytest.raises(InputError, match="column gpu_numbers: must have different GPUs for each task"):
        read_schedule(path)
    file.write_text(text.replace(",1,0,0,0,0,1,0.5", ",1,0,,1,0,0,0.5"))
    with pytest.raises(InputError, match="line 2: models: must be empty for a task without GPUs"):
        read_schedule(path)


def test_files_of_another_run_are_left_out(tmp_path: Path) -> None:
    """A note names the file: a run without demands does not replace them."""
    path = written(tmp_path)
    jobs = Path(f"{path}_jobs.csv")
    jobs.write_text(jobs.read_text().replace(",3,-1.0", ",2,-1.0"))
    found = read_schedule(path)
    assert found.capacity is None
    assert any("run_places.csv is left out" in note for note in found.notes)


def test_capacities_must_be_those_of_all_hosts(tmp_path: Path) -> None:
    """Without a gap, and each once."""
    path = written(tmp_path)
    file = Path(f"{path}{CAPACITIES}")
    text = file.read_text()
    file.write_text(text.replace("\n1,4", "\n5,4"))
    with pytest.raises(InputError, match="must have all hosts from 0 to 5"):
        read_schedule(path)
    file.write_text(text.replace("\n1,4", "\n0,4"))
    with pytest.raises(InputError, match="line 3, column hosts: has host 0 of another line, too"):
        read_schedule(path)


@pytest.mark.parametrize(("lost", "other"), [(PLACES, CAPACITIES), (CAPACITIES, PLACES)])
def test_one_file_without_the_other_is_left_out(lost: str, other: str, tmp_path: Path) -> None:
    """With a note, since figures of hosts that jobs share mislead without it."""
    path = written(tmp_path)
    Path(f"{path}{lost}").unlink()
    found = read_schedule(path)
    assert found.capacity is None
    assert f"run{other} is left out: it belongs to a file {lost}, which is missing" in found.notes


def test_capacities_of_another_machine_are_left_out(tmp_path: Path) -> None:
    """A host more would lower each share."""
    path = written(tmp_path)
    with Path(f"{path}{CAPACITIES}").open("a") as file:
        file.write("4,16,2000,4,V100,,matlab:2\n")
    found = read_schedule(path)
    assert found.capacity is None
    assert "run_capacities.csv is left out: it has 5 hosts, the run has 4" in found.notes


def test_the_fragmentation_is_unknown_where_more_is_used_than_there_is(tmp_path: Path) -> None:
    """Which `check` and a warning name."""
    path = written(tmp_path)
    file = Path(f"{path}{CAPACITIES}")
    file.write_text(file.read_text().replace("3,16,2000,4,V100", "3,16,2000,1,V100"))
    one = read_schedule(path)
    assert measure_run(one).gpu_fragmentation is not None
    twice = replace(one.jobs[0], job=replace(one.jobs[0].job, id="w0!001"))
    thrice = replace(one.jobs[0], job=replace(one.jobs[0].job, id="w0!002"))
    assert measure_run(replace(one, jobs=(*one.jobs, twice, thrice))).gpu_fragmentation is None

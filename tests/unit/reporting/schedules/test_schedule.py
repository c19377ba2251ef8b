"""Schedules, read from the files of Batsim and of ours, from logs, and made of results."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.hostset import HostSet
from batsched_py.reporting.api import batsim_metrics, measure_run, read_schedule, read_schedules, schedule_of
from batsched_py.reporting.schedules.placement_tables import COLUMNS as PLACED
from batsched_py.reporting.schedules.run_reader import files_of
from batsched_py.results.result_files import CONTENTION_HEADER, STATES, write_jobs, write_schedule
from batsched_py.results.timeline_rows import EntryRow, VmRow
from batsched_py.results.tracing import TO_SLEEP
from tests.clone import ROOT
from tests.unit.reporting.records import record, rejected, result

BATSIM = ROOT / "tests" / "data" / "batsim"

HEADER_4 = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata"
)
HEADER_1 = (
    "job_id,hacky_job_id,workload_name,submission_time,requested_number_of_processors,requested_time,success,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,consumed_energy,allocated_processors"
)
ROW_4 = "a,w0,p,1.000000,2,30.000000,1,COMPLETED_SUCCESSFULLY,5.0,10.0,15.0,4.0,14.0,1.4,0-1,-1.0,"
LOG = "; MaxProcs: 8\n1 0 5 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1\n"


def jobs_file(folder: Path, *rows: str, header: str = HEADER_4) -> Path:
    """A jobs file."""
    path = folder / "run_jobs.csv"
    path.write_text("\n".join((header, *rows, "")))
    return path


def test_what_batsim_4_wrote_of_a_job_is_read(tmp_path: Path) -> None:
    """Each column becomes a field of the record."""
    row = 'a,w0,p,1.000000,2,30.000000,0,COMPLETED_KILLED,5.0,10.0,15.0,4.0,14.0,1.4,0-1 3,120.5,"so, ""quoted"""'
    (read,) = read_schedule(jobs_file(tmp_path, row)).jobs
    assert (read.job.id, read.job.submit_time, read.job.size, read.job.walltime) == ("w0!a", 1.0, 2, 30.0)
    assert (read.job.profile, read.state, read.success) == ("p", "COMPLETED_KILLED", False)
    assert (read.start, read.finish, read.hosts, read.energy) == (5.0, 15.0, HostSet.parse("0-1 3"), 120.5)
    assert read.metadata == 'so, "quoted"'


def test_a_rejected_job_has_no_times(tmp_path: Path) -> None:
    """Its cells are empty."""
    (read,) = read_schedule(jobs_file(tmp_path, "big,w0,d,1.0,400,-1.0,0,REJECTED,,,,,,,,,why")).jobs
    assert (read.rejected, read.start, read.finish, read.hosts) == (True, 0.0, 0.0, HostSet())
    assert (read.job.walltime, read.metadata) == (None, "why")


@pytest.mark.parametrize(
    ("success", "execution", "state"),
    [
        (1, 10, "COMPLETED_SUCCESSFULLY"),
        (0, 10, "COMPLETED_KILLED"),
        (0, 30, "COMPLETED_WALLTIME_REACHED"),
    ],
)
def test_old_versions_tell_of_success_only(tmp_path: Path, success: int, execution: int, state: str) -> None:
    """The walltime tells why a job ended; other names of columns are known."""
    row = f"a,10,f00d,1.0,2,30.0,{success},5.0,{execution},{5 + execution},4.0,14.0,1.4,-1.0,0-1"
    (read,) = read_schedule(jobs_file(tmp_path, row, header=HEADER_1)).jobs
    assert (read.job.id, read.job.size, read.state) == ("f00d!a", 2, state)


def test_columns_may_stand_in_any_order(tmp_path: Path) -> None:
    """Other columns may be among them."""
    names, cells = HEADER_4.split(","), ROW_4.split(",")
    path = jobs_file(tmp_path, ",".join(["x", *reversed(cells)]), header=",".join(["mine", *reversed(names)]))
    assert read_schedule(path).jobs[0].hosts == HostSet.of(0, 1)


def test_a_run_is_found_by_file_prefix_and_folder(tmp_path: Path) -> None:
    """All mean the same run."""
    path = jobs_file(tmp_path, ROW_4)
    found = [read_schedule(path), read_schedule(tmp_path / "run"), read_schedule(str(tmp_path))]
    assert {schedule.source for schedule in found} == {str(path)}
    assert {schedule.name for schedule in found} == {"run"}


@pytest.mark.parametrize("prefix", ["", "out"])
def test_a_prefix_that_says_nothing_is_replaced_by_the_folders_name(tmp_path: Path, prefix: str) -> None:
    """Batsim's default prefix is `out`."""
    folder = tmp_path / "easy"
    folder.mkdir()
    jobs_file(folder, ROW_4).rename(folder / f"{prefix}_jobs.csv")
    assert read_schedule(folder).name == "easy"
    assert read_schedule(folder, name="mine").name == "mine"


def test_the_other_files_of_the_run_are_read() -> None:
    """States of machines, energy and power states."""
    schedule = read_schedule(BATSIM / "o17_energy_sleeper")
    assert schedule.machine_states is not None
    assert list(schedule.machine_states.counts[:10]) == [0, 0, 16, 0, 0, 16, 0, 0, 0, 0]
    assert schedule.consumed_energy is not None
    assert (schedule.consumed_energy.times[1], schedule.consumed_energy.joules[1]) == (2.0, 3840.0)
    assert schedule.pstate_changes is not None
    assert schedule.pstate_changes[1] == (2e-10, 0xFFFF, TO_SLEEP)
    assert schedule.batsim_row["nb_computing_machines"] == "16"


def test_hosts_are_those_that_have_a_state(tmp_path: Path) -> None:
    """Batsim's number of machines has the storage hosts in it; what the user says rules over both."""
    jobs_file(tmp_path, ROW_4)
    assert read_schedule(tmp_path).hosts == 2
    assert "2 hosts" in read_schedule(tmp_path).notes[0]
    (tmp_path / "run_schedule.csv").write_text("nb_computing_machines,nb_jobs\n6,1\n")
    assert read_schedule(tmp_path).hosts == 6
    states = "time,nb_sleeping,nb_switching_on,nb_switching_off,nb_idle,nb_computing\n1,0,0,0,3,0\n5,1,0,0,1,2\n"
    (tmp_path / "run_machine_states.csv").write_text(states)
    assert (read_schedule(tmp_path).hosts, read_schedule(tmp_path).notes) == (4, ())
    assert read_schedule(tmp_path, hosts=9).hosts == 9


def test_hosts_above_the_number_of_compute_hosts_are_not_counted(tmp_path: Path) -> None:
    """A note says so, and who left them out."""
    schedule = read_schedule(jobs_file(tmp_path, ROW_4), hosts=1)
    assert schedule.size(schedule.jobs[0]) == 1
    assert schedule.notes[0].startswith("hosts from 1 on are not counted: the number of compute hosts that was given")


def test_jobs_that_batsim_does_not_list_are_counted(tmp_path: Path) -> None:
    """Batsim 1.4 has no row for a rejected job, and counts it."""
    jobs_file(tmp_path, ROW_4)
    (tmp_path / "run_schedule.csv").write_text("nb_computing_machines,nb_jobs\n6,3\n")
    assert read_schedule(tmp_path).unlisted == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("job_id\n1\n", "line 1: has no column workload_name"),
        (f"{HEADER_4}\n{ROW_4}\na,w0\n", "line 3: must have 17 columns as the header, not 2"),
        (f"{HEADER_4}\n{ROW_4.replace('5.0', 'soon')}\n", "line 2, column starting_time: must be a number"),
        (f"{HEADER_4}\n{ROW_4.replace('15.0', 'inf')}\n", "line 2, column finish_time: must be a number"),
        (f"{HEADER_4}\n{ROW_4.replace('15.0', '4.0')}\n", "line 2, column finish_time: must not be before the start"),
        (f"{HEADER_4}\n{ROW_4.replace('0-1,', '1-0,')}\n", "line 2, column allocated_resources: interval '1-0'"),
        (f"{HEADER_4}\n{ROW_4.replace(',2,', ',two,')}\n", "column requested_number_of_resources: must be a whole"),
        (f'{HEADER_4}\n{ROW_4}"open\n', "line 2"),
        (f"{HEADER_4}\n{ROW_4}\n\n{ROW_4}\n", "line 4, column job_id: repeats 'w0!a' of line 2"),
        (
            f"{HEADER_4}\n{ROW_4.replace('COMPLETED_SUCC', 'WHAT')}\n",
            "line 2, column final_state: must be one of COMPLETED_SUCCESSFULLY, COMPLETED_FAILED, ",
        ),
    ],
)
def test_what_is_wrong_is_told_with_line_and_column(tmp_path: Path, content: str, told: str) -> None:
    """In one line that names the file."""
    path = tmp_path / "run_jobs.csv"
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert str(caught.value).startswith(str(path))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_with_several_runs_must_be_told_which(tmp_path: Path) -> None:
    """One that has none, or that does not exist, too."""
    for name in ("easy", "fcfs"):
        jobs_file(tmp_path, ROW_4).rename(tmp_path / f"{name}_jobs.csv")
    with pytest.raises(InputError, match=r"one file \*_jobs.csv, not 2 \(easy_jobs.csv, fcfs_jobs.csv\)"):
        read_schedule(tmp_path)
    with pytest.raises(InputError, match="there is no such file"):
        read_schedule(tmp_path / "sjf")


def test_a_prefix_of_runs_of_two_versions_must_be_told_which(tmp_path: Path) -> None:
    """Batsim 4 and Batsim 5 name their jobs files differently, and either is read by its own name."""
    jobs_file(tmp_path, ROW_4)
    (tmp_path / "runjobs.csv").write_text((tmp_path / "run_jobs.csv").read_text())
    with pytest.raises(InputError, match=r"the prefix of one jobs file, not 2 \(run_jobs.csv, runjobs.csv\)"):
        read_schedule(tmp_path / "run")
    assert {read_schedule(tmp_path / name).name for name in ("run_jobs.csv", "runjobs.csv")} == {"run"}


def test_a_job_of_a_log_starts_after_its_wait(tmp_path: Path) -> None:
    """Its hosts are unknown; its size is the processors it used; the user is a member."""
    path = tmp_path / "log.swf.gz"
    path.write_bytes(gzip.compress(LOG.encode()))
    schedule = read_schedule(path)
    (read,) = schedule.jobs
    assert (read.start, read.finish, read.hosts) == (5.0, 15.0, HostSet())
    assert (schedule.hosts, schedule.size(read), read.job.walltime, read.job.members["user"]) == (8, 2, 20.0, 7)
    assert (schedule.name, read.job.id, schedule.hosts_known) == ("log", "log!1", False)


def test_what_a_log_does_not_know_is_left_out_and_told(tmp_path: Path) -> None:
    """Waits and run times that are unknown, and lines that are parts of jobs; a cancelled job was rejected."""
    path = tmp_path / "log.swf"
    lines = [
        "2 0 -1 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1",
        "3 0 5 -1 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1",
        "4 0 5 10 2 -1 -1 4 20 -1 2 7 -1 -1 -1 -1 -1 -1",
        "5 0 5 0 -1 -1 -1 -1 20 -1 5 7 -1 -1 -1 -1 -1 -1",
        "6 0 5 9 -1 -1 -1 -1 20 -1 0 7 -1 -1 -1 -1 -1 -1",
    ]
    path.write_text(LOG + "\n".join(lines))
    schedule = read_schedule(path)
    assert [record.state for record in schedule.jobs] == ["COMPLETED_SUCCESSFULLY", "REJECTED"]
    assert len(schedule.notes) == 4


def test_a_log_of_which_most_jobs_have_no_wait_is_a_workload(tmp_path: Path) -> None:
    """Its cancelled jobs do not matter; a log in which half of the jobs have waits is a schedule."""
    path = tmp_path / "log.swf"
    cancelled = "".join(f"{number} 0 5 0 -1 -1 -1 -1 20 -1 5 7 -1 -1 -1 -1 -1 -1\n" for number in range(10, 20))
    unknown = [f"{number} 0 -1 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1\n" for number in (2, 3)]
    path.write_text(LOG + unknown[0] + cancelled)
    assert len(read_schedule(path).ran) == 1
    path.write_text(LOG + "".join(unknown) + cancelled)
    with pytest.raises(InputError, match=r"tells the wait of 1 of 3 jobs \(field 3 of SWF\): it is a workload"):
        read_schedule(path)
    path.write_text("".join(unknown) + cancelled)
    with pytest.raises(InputError, match=r"tells no job's wait \(field 3 of SWF\): it is a workload"):
        read_schedule(path)


def test_columns_that_nobody_knows_are_told(tmp_path: Path) -> None:
    """In each file of a run; a file without the columns of ours is left out, which is told, too."""
    for name in ("jobs", "schedule", "machine_states", "consumed_energy", "pstate_changes"):
        lines = (BATSIM / "o17_energy_sleeper" / f"out_{name}.csv").read_text().splitlines()
        (tmp_path / f"r_{name}.csv").write_text(
            "".join(f"{line},{'1' if k else 'spin'}\n" for k, line in enumerate(lines))
        )
    (tmp_path / "r_contention.csv").write_text("a,b\n")
    notes = read_schedule(tmp_path / "r").notes
    kinds = {"jobs": "jobs", "schedule": "figures", "machine_states": "machine states"}
    kinds |= {"consumed_energy": "consumed energy", "pstate_changes": "changes of pstates"}
    assert notes == (
        *(f"r_{name}.csv: column spin of {kind} is unknown and has no effect" for name, kind in kinds.items()),
        "r_contention.csv is left out: columns of batsched-py's table are missing",
    )


def test_columns_of_our_own_tables_are_told_too(tmp_path: Path) -> None:
    """Tables of slowed jobs, placements and timelines are not left out because of a further column."""
    (tmp_path / "r_jobs.csv").write_bytes((BATSIM / "o16_energy_easy" / "out_jobs.csv").read_bytes())
    headers = {"contention": CONTENTION_HEADER, "placements": ",".join(PLACED)}
    headers |= {"timeline": ",".join(EntryRow._fields), "timeline_vms": ",".join(VmRow._fields)}
    for name, header in headers.items():
        (tmp_path / f"r_{name}.csv").write_text(f"spin,{header}\n")
    schedule = read_schedule(tmp_path / "r")
    told = [note for note in schedule.notes if "spin" in note]
    assert len(told) == 4
    assert all(note.endswith(" is unknown and has no effect") for note in told)
    assert (schedule.alone, schedule.placements) == ({}, {})
    assert schedule.timelines is not None


ACCOUNTING = """JobID|User|Account|State|Submit|Start|End|AllocCPUS
9|ada|math|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:00:05|2024-05-31T08:00:15|2
9.batch|||COMPLETED|2024-05-31T08:00:05|2024-05-31T08:00:05|2024-05-31T08:00:15|2
8_1|bob|bio|TIMEOUT|2024-05-31T08:01:00|2024-05-31T08:01:00|2024-05-31T08:02:00|4
8_2|bob|bio|PENDING|2024-05-31T08:01:00|Unknown|Unknown|0
"""


@pytest.mark.parametrize("name", ["june.txt", "june.csv", "june.txt.gz", "june"])
def test_slurms_accounting_is_known_by_its_first_line(tmp_path: Path, name: str) -> None:
    """The name of the file does not matter; jobs have their ids and users."""
    path = tmp_path / name
    path.write_bytes(gzip.compress(ACCOUNTING.encode()) if name.endswith(".gz") else ACCOUNTING.encode())
    assert files_of(path) == [path]
    schedule = read_schedule(path)
    assert [(one.job.id, one.job.submit_time, one.start, one.finish, one.state) for one in schedule.jobs] == [
        ("june!9", 0, 5, 15, "COMPLETED_SUCCESSFULLY"),
        ("june!8_1", 60, 60, 120, "COMPLETED_FAILED"),
    ]
    assert [schedule.size(one) for one in schedule.jobs] == [2, 4]
    assert dict(schedule.jobs[0].job.members) == {"user": "ada", "account": "math"}
    assert schedule.log_start is not None
    assert schedule.log_start.isoformat() == "2024-05-31T08:00:00+00:00"
    assert schedule.notes == (
        "1 line left out: not ended, or end unknown",
        "4 hosts, the size of the largest job: the log does not say how many",
    )
    assert [one.name for one in read_schedules([path])] == ["june"]


def test_a_log_without_waits_is_a_workload(tmp_path: Path) -> None:
    """There is no schedule in it."""
    path = tmp_path / "log.swf"
    path.write_text("1 0 -1 10 2 -1 -1 4 20 -1 1 7 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InputError, match="it is a workload, not a schedule"):
        read_schedule(path)


def test_what_we_write_is_what_we_read(tmp_path: Path) -> None:
    """But for the members of jobs and what a code of return was."""
    ran = record("1", submit=1, start=5, finish=15, hosts="0-1 3")
    made = result(ran, rejected(submit=2))
    made = replace(made, host_seconds=dict.fromkeys(STATES, 1.0))
    write_jobs(tmp_path / "run_jobs.csv", made)
    write_schedule(tmp_path / "run_schedule.csv", made)
    read, ours = read_schedule(tmp_path), schedule_of(made, "run")
    assert (read.hosts, read.batsim_row, read.name) == (ours.hosts, ours.batsim_row, ours.name)
    for left, right in zip(read.jobs, ours.jobs, strict=True):
        assert (left.job.id, left.state, left.hosts) == (right.job.id, right.state, right.hosts)
        assert (left.start, left.finish, left.job.submit_time) == (right.start, right.finish, right.job.submit_time)


def test_runs_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    """By as many as it takes; a run that is given twice is numbered."""
    paths = []
    for folder in ("one/x/easy", "two/x/easy", "two/y/easy", "two/y/fcfs"):
        (tmp_path / folder).mkdir(parents=True)
        paths.append(jobs_file(tmp_path / folder, ROW_4).rename(tmp_path / folder / "out_jobs.csv"))
    assert [run.name for run in read_schedules(paths)] == ["one/x/easy", "two/x/easy", "y/easy", "fcfs"]
    assert [run.name for run in read_schedules([paths[3], paths[3]])] == ["fcfs (1)", "fcfs (2)"]


def test_the_files_that_are_read_are_told(tmp_path: Path) -> None:
    """So that a command does not write over them."""
    path = jobs_file(tmp_path, ROW_4)
    (tmp_path / "run_schedule.csv").write_text("nb_computing_machines,nb_jobs\n6,3\n")
    assert files_of(tmp_path / "run") == [path, tmp_path / "run_schedule.csv"]
    log = tmp_path / "log.swf"
    log.write_text(LOG)
    assert files_of(log) == [log]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("nb_jobs\n", "must have one row below the names of the columns, not 0"),
        ("nb_jobs\nmany\n", "line 2, column nb_jobs: must be a whole number from 0, not 'many'"),
        ("makespan,nb_jobs\nnan,1\n", "line 2, column makespan: must be a number, not 'nan'"),
    ],
)
def test_a_wrong_schedule_file_is_told(tmp_path: Path, content: str, told: str) -> None:
    """Its metrics are used, so they are checked."""
    jobs_file(tmp_path, ROW_4)
    (tmp_path / "run_schedule.csv").write_text(content)
    with pytest.raises(InputError) as caught:
        read_schedule(tmp_path)
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"nb_jobs": "many"}', "nb_jobs: must be a whole number from 0, not 'many'"),
        ('{"makespan": true}', "makespan: must be a number, not True"),
        ('{"makespan": 1e200}', "makespan: must be a number, not 1e+200"),
        ('{"batsim_version": 5}', "batsim_version: must be a text, not 5"),
        ('{"nb_jobs": 1', "is not JSON"),
        ("[]", "must be an object"),
    ],
)
def test_a_wrong_schedule_file_of_batsim_5_is_told(tmp_path: Path, content: str, told: str) -> None:
    """An object, whose members are of the same kinds as the columns of Batsim 4."""
    jobs_file(tmp_path, ROW_4).rename(tmp_path / "jobs.csv")
    (tmp_path / "schedule.json").write_text(content)
    with pytest.raises(InputError) as caught:
        read_schedule(tmp_path)
    assert told in str(caught.value)


def test_a_job_that_took_no_time_has_an_infinite_stretch(tmp_path: Path) -> None:
    """We write it so, and read it again."""
    row = ROW_4.replace("10.0,15.0", "0.0,5.0").replace("1.4", "inf")
    schedule = read_schedule(jobs_file(tmp_path, row))
    assert schedule.stretch(schedule.jobs[0]) == float("inf")


PIECES = st.sampled_from(["", ",", "\n", '"', "0-1", "1-0", "x", "-1", "1e999", "nan", "\0", "é", "REJECTED", "9" * 30])


@given(st.lists(st.tuples(st.integers(0, 600), st.integers(0, 9), PIECES), max_size=4))
def test_whatever_a_file_holds_is_read_or_told(edits: list[tuple[int, int, str]]) -> None:
    """In one line; and what was read has metrics."""
    text = f"{HEADER_4}\n{ROW_4}\n{ROW_4}\n"
    for position, length, piece in edits:
        text = text[:position] + piece + text[position + length :]
    with TemporaryDirectory() as folder:
        path = Path(folder, "run_jobs.csv")
        path.write_text(text)
        told = f"{path}: "
        try:
            schedule = read_schedule(path)
        except InputError as error:
            told = str(error)
        else:
            assert measure_run(schedule).jobs == batsim_metrics(schedule).nb_jobs
        assert told.startswith(f"{path}: ")
        assert "\n" not in told


def test_a_log_whose_times_have_no_end_is_refused(tmp_path: Path) -> None:
    """The reader of logs lets any wait pass."""
    path = tmp_path / "log.swf"
    path.write_text(LOG.replace(" 5 10 ", " 1e300 10 "))
    with pytest.raises(InputError, match="job 1: must start before 1e"):
        read_schedule(path)

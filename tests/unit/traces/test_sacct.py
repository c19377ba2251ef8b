"""Slurm's accounting, as `sacct --parsable2` prints it."""

from __future__ import annotations

import dataclasses
import gzip
from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.limits import LONGEST, Limits
from batsched_py.model.workload import Workload
from batsched_py.traces.cleaning import CleaningReport, CleaningRules, clean
from batsched_py.traces.sacct import Unit, read_sacct, sacct_unit
from batsched_py.traces.swf import SwfLog
from tests.fuzz.judging import limited

FIELDS = (
    "JobID|User|Account|State|Submit|Start|End|ElapsedRaw|Elapsed|TimelimitRaw|Timelimit|"
    "ReqCPUS|AllocCPUS|ReqNodes|NNodes"
)
DAY = "2024-05-31T"


def row(job: str = "1", state: str = "COMPLETED", **changes: str) -> str:
    """A job that ran for 100 s on 4 of 8 CPUs of 2 nodes, but for the changes, by the names of fields."""
    cells = {
        "JobID": job, "User": "ada", "Account": "", "State": state, "Submit": f"{DAY}08:00:00",
        "Start": f"{DAY}08:01:00", "End": f"{DAY}08:02:40", "ElapsedRaw": "100", "Elapsed": "00:01:40",
        "TimelimitRaw": "10", "Timelimit": "00:10:00", "ReqCPUS": "4", "AllocCPUS": "8", "ReqNodes": "1", "NNodes": "2",
    }  # fmt: skip
    return "|".join({**cells, **changes}.values())


def read(tmp_path: Path, *rows: str, header: str = FIELDS, unit: Unit = "cpus") -> SwfLog:
    """The log of these rows."""
    (tmp_path / "s.txt").write_text("\n".join([header, *rows]) + "\n")
    return read_sacct(tmp_path / "s.txt", unit)


def cleaned(tmp_path: Path, *rows: str) -> tuple[Workload, CleaningReport]:
    """The workload of these rows."""
    return clean(read(tmp_path, *rows), CleaningRules(hosts=100))


def test_a_job_that_ended(tmp_path: Path) -> None:
    """Its size, its times and whose it is; times count from the first submission."""
    log = read(tmp_path, row("7", Submit=f"{DAY}08:00:30"), row("8"))
    workload, report = clean(log, CleaningRules(hosts=100))
    assert [dict(job.members) for job in workload.jobs] == [
        {"id": "8", "subtime": 0, "res": 4, "walltime": 600, "profile": "delay_100", "user": "ada"},
        {"id": "7", "subtime": 30, "res": 4, "walltime": 600, "profile": "delay_100", "user": "ada"},
    ]
    assert workload.log_start is not None
    assert workload.log_start.isoformat() == "2024-05-31T08:00:00+00:00"
    assert (report.jobs, report.kept) == (2, 2)


def test_what_sizes_count_is_seen_from_the_header(tmp_path: Path) -> None:
    """CPUs if there are any; a file without these fields is none of sacct's."""
    path = tmp_path / "s"
    for header, unit in (
        (FIELDS, "cpus"),
        ("jobid|State|NNodes|Start", "nodes"),
        ("JobID|State", "cpus"),
        ("job_id,JobID,State", None),
        ("JobID", None),
        ("Job|State", None),
        ("", None),
    ):
        path.write_text(f"{header}\n" if header else "")
        assert sacct_unit(path) == unit


@pytest.mark.parametrize(("start", "wait"), [(f"{DAY}08:01:00", 60), (f"{DAY}08:00:00", 0), (f"{DAY}07:59:00", -1)])
def test_the_wait_lasts_from_submission_to_start(tmp_path: Path, start: str, wait: int) -> None:
    """It is unknown if the clocks disagree."""
    (record,) = read(tmp_path, row(Submit=f"{DAY}08:00:00", Start=start)).records
    assert record.wait == wait


@pytest.mark.parametrize(
    ("rows", "rule", "count"),
    [
        (["2.batch", "2.extern", "2.0", "1_3.1", "1+1.0"], "passed_over_steps", 5),
        ([("2", "PENDING"), ("3", "RUNNING"), ("4", "SUSPENDED"), ("5_[1-9%2]", "PENDING")], "dropped_going_on", 4),
        ([("2", "BOOT_FAIL"), ("3", "REVOKED"), ("5_[1-9]", "CANCELLED by 7")], "dropped_never_ran", 3),
        ([("2", "REQUEUED"), ("3", "RESIZING")], "dropped_attempt", 2),
        ([("2", "NEW_STATE"), ("3", "")], "dropped_state", 2),
    ],
)
def test_rows_that_are_left_out(tmp_path: Path, rows: list[str | tuple[str, str]], rule: str, count: int) -> None:
    """Each is counted under its rule; a step is no job."""
    lines = [row(one) if isinstance(one, str) else row(*one) for one in rows]
    workload, report = cleaned(tmp_path, row("1"), *lines)
    assert [job.id for job in workload.jobs] == ["1"]
    assert getattr(report, rule) == count
    assert report.jobs == 1 + (0 if rule == "passed_over_steps" else count)


@pytest.mark.parametrize("state", ["COMPLETED", "FAILED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "CANCELLED by 1000"])
def test_states_of_jobs_that_ran(tmp_path: Path, state: str) -> None:
    """However they ended: they had their hosts."""
    workload, _ = cleaned(tmp_path, row(state=state))
    assert [job.profile for job in workload.jobs] == ["delay_100"]


def test_unknown_times(tmp_path: Path) -> None:
    """Without an end it has not ended, without a start it never ran, cancelled after no time neither."""
    rows = [
        row("2", End="Unknown"),
        row("3", Start="Unknown", End="Unknown"),
        row("4", "CANCELLED", Start="None", ElapsedRaw="0"),
        row("5", "CANCELLED by 3", ElapsedRaw="0"),
        row("6", Submit="Unknown"),
        row("7", ElapsedRaw="0"),
    ]
    report = dataclasses.asdict(cleaned(tmp_path, row("1"), *rows)[1])
    found = {name: report[name] for name in report if report[name] and name.startswith("dropped")}
    assert found == {
        "dropped_going_on": 1,
        "dropped_never_ran": 3,
        "dropped_no_submit_time": 1,
        "dropped_no_run_time": 1,
    }


def test_the_last_attempt_of_a_requeued_job_counts(tmp_path: Path) -> None:
    """Also if it has not ended."""
    again = row("1", Submit=f"{DAY}09:00:00", ElapsedRaw="50")
    workload, report = cleaned(tmp_path, row("1", "NODE_FAIL"), row("1", "PREEMPTED"), again, row("2"))
    assert [(job.id, job.profile) for job in workload.jobs] == [("2", "delay_100"), ("1", "delay_50")]
    assert (report.dropped_attempt, report.jobs, report.kept) == (2, 4, 2)
    waiting = cleaned(tmp_path, row("1", "NODE_FAIL"), row("1", "PENDING"), row("2"))[1]
    assert (waiting.dropped_attempt, waiting.dropped_going_on, waiting.kept) == (1, 1, 1)


def test_tasks_and_components_are_jobs(tmp_path: Path) -> None:
    """Under the ids that the site knows, in the order of these at one instant."""
    workload, _ = cleaned(
        tmp_path, row("12_2"), row("12_10"), row("13+0"), row("13+1"), row("9", Submit=f"{DAY}07:00:00")
    )
    assert [job.id for job in workload.jobs] == ["9", "12_10", "12_2", "13+0", "13+1"]


@pytest.mark.parametrize(
    ("changes", "run", "walltime"),
    [
        ({"ElapsedRaw": "", "Elapsed": "1-00:00:01", "TimelimitRaw": "", "Timelimit": "2-01:00:00"}, 86401, 176400),
        ({"ElapsedRaw": "", "Elapsed": ""}, 100, 600),
        ({"Elapsed": "9-00:00:00"}, 100, 600),
        ({"TimelimitRaw": "UNLIMITED", "Timelimit": "UNLIMITED"}, 100, 100),
        ({"TimelimitRaw": "", "Timelimit": "Partition_Limit"}, 100, 100),
        ({"TimelimitRaw": "", "Timelimit": "05:00"}, 100, 300),
        (
            {"Submit": "1717142400", "Start": "1717142460", "End": "1717142500", "ElapsedRaw": "", "Elapsed": ""},
            40,
            600,
        ),
    ],
)
def test_times(tmp_path: Path, changes: dict[str, str], run: int, walltime: int) -> None:
    """The elapsed time in seconds, else on a clock, else from start to end; a limit may be none."""
    (job,) = cleaned(tmp_path, row(**changes))[0].jobs
    assert (job.profile, job.walltime) == (f"delay_{run}", walltime)


@pytest.mark.parametrize(
    ("unit", "processors", "size"),
    [("cpus", "requested", 4), ("cpus", "used", 8), ("nodes", "requested", 1), ("nodes", "used", 2)],
)
def test_sizes(tmp_path: Path, unit: Unit, processors: str, size: int) -> None:
    """In CPUs or nodes, asked for or given."""
    rules = CleaningRules(hosts=100, processors="used" if processors == "used" else "requested")
    (job,) = clean(read(tmp_path, row(), unit=unit), rules)[0].jobs
    assert job.size == size


def test_members(tmp_path: Path) -> None:
    """Those that are told; the names of fields may be written otherwise."""
    rows = ["1|" + row().partition("|")[2].replace("ada||", "ada|math|", 1)]
    (job,) = clean(read(tmp_path, *rows, header=FIELDS.upper()), CleaningRules(hosts=9))[0].jobs
    assert dict(job.extra) == {"user": "ada", "account": "math"}


def test_other_forms_of_the_file(tmp_path: Path) -> None:
    """Compressed, with a | at the end of each line as of --parsable, with empty lines and bytes of any encoding."""
    content = f"{FIELDS}|\n{row(User='x')}|\n\n{row('2')}|\n".replace("|x|", "|\xe9|").encode("latin-1")
    (tmp_path / "s.gz").write_bytes(gzip.compress(content, mtime=0))
    assert len(read_sacct(tmp_path / "s.gz").records) == 2


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (
            [row("job")],
            r"line 2, field jobid: must be the number of a job, like 12, 12_3, 12\+1 or 12.batch, not 'job'",
        ),
        (
            [row(Submit="yesterday")],
            "line 2, field submit: must be a time like 2024-05-31T08:00:00, .* not 'yesterday'",
        ),
        ([row(End="2024-02-30T00:00:00")], "line 2, field end: must be a time like"),
        (
            [row(ElapsedRaw="1.5")],
            r"line 2, field elapsedraw: must be \[days-\]hours:minutes:seconds or a whole number",
        ),
        ([row(TimelimitRaw="-1")], "line 2, field timelimitraw: must be"),
        ([row(ReqCPUS="many")], "line 2, field reqcpus: must be a whole number, not 'many'"),
        (
            [row(), row() + "|"],
            r"line 3: must have 15 fields as the header, not 16: a field such as JobName may hold a |",
        ),
        ([row().rpartition("|")[0]], "line 2: must have 15 fields as the header, not 14$"),
        ([row(ElapsedRaw=str(LONGEST + 1))], "line 2, field elapsed: must be at most 60000000000 s"),
    ],
)
def test_wrong_rows(tmp_path: Path, rows: list[str], rule: str) -> None:
    """The line, the field and the rule are told."""
    with pytest.raises(WorkloadError, match=rule):
        read(tmp_path, *rows)


@pytest.mark.parametrize(
    ("header", "rule"),
    [
        (
            FIELDS.replace("Start|", ""),
            "line 1: has no field start: call sacct --allusers --parsable2 --format=JobID,User",
        ),
        (FIELDS.replace("|ReqCPUS|AllocCPUS", ""), "line 1: has no field reqcpus or alloccpus"),
        (FIELDS + "|user", "line 1: has the field 'user' twice"),
        ("", "is empty: a line with the names of the fields is missing|has no field jobid"),
    ],
)
def test_wrong_headers(tmp_path: Path, header: str, rule: str) -> None:
    """With the call of sacct that makes a right one."""
    with pytest.raises(WorkloadError, match=rule):
        read(tmp_path, header=header)


def test_a_header_of_many_fields_is_looked_through_once(tmp_path: Path) -> None:
    """A megabyte of names that were each compared with each other took minutes."""
    header = "|".join((FIELDS, *(f"f{number}" for number in range(150_000)), "f9"))
    with limited(), pytest.raises(WorkloadError, match="line 1: has the field 'f9' twice"):
        read(tmp_path, header=header)


def test_jobs_are_limited(tmp_path: Path) -> None:
    """As in logs."""
    (tmp_path / "s.txt").write_text("\n".join([FIELDS, row("1"), row("2")]))
    with pytest.raises(WorkloadError, match=r"line 3: must be at most 1 jobs \(--limit jobs=N allows more\)"):
        read_sacct(tmp_path / "s.txt", limits=Limits(jobs=1))


def test_other_fields_are_kept(tmp_path: Path) -> None:
    """In small letters; they must be there."""
    (tmp_path / "s.txt").write_text(f"{FIELDS}|JobName\n{row()}|my job\n")
    assert read_sacct(tmp_path / "s.txt", keep=("JobName", "User")).members == {1: {"user": "ada", "jobname": "my job"}}
    with pytest.raises(WorkloadError, match="line 1: has no field reason"):
        read_sacct(tmp_path / "s.txt", keep=("Reason",))

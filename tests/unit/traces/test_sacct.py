"""Slurm's accounting, as `sacct --parsable2` prints it."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from pathlib import Path

import pytest

from batsched_py.errors import WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import LONGEST, Limits
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.formats import Unit
from batsched_py.traces.sacct import read_sacct, sacct_unit
from batsched_py.traces.swf_log import SwfLog
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


def read(
    tmp_path: Path,
    *rows: str,
    header: str = FIELDS,
    unit: Unit = "cpus",
    keep: Sequence[str] = (),
    strict: bool = False,
) -> SwfLog:
    """The log of these rows."""
    (tmp_path / "s.txt").write_text("\n".join([header, *rows]) + "\n")
    return read_sacct(tmp_path / "s.txt", unit, keep=keep, strict=strict)


def notes(log: SwfLog) -> list[str]:
    """The lines on a log, without the name of its file."""
    return [line.partition("s.txt: ")[2] for line in log.notes]


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
    assert report.count(rule) == count
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
    report = cleaned(tmp_path, row("1"), *rows)[1]
    found = {rule.name: count for rule, count in report.applied() if rule.takes}
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
    assert (report.count("dropped_attempt"), report.jobs, report.kept) == (2, 4, 2)
    waiting = cleaned(tmp_path, row("1", "NODE_FAIL"), row("1", "PENDING"), row("2"))[1]
    assert (waiting.count("dropped_attempt"), waiting.count("dropped_going_on"), waiting.kept) == (1, 1, 1)


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
    """Fields that are present become members; their names may be written otherwise."""
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
            [row(), row() + "|x"],
            r"line 3: must have 15 fields as the header, not 16: a field such as JobName may hold a |",
        ),
        ([row().rpartition("|")[0]], "line 2: must have 15 fields as the header, not 14$"),
        (
            [row(ElapsedRaw=str(LONGEST + 1))],
            "line 2, field elapsedraw: must be at most 60000000000 s, .* not '60000000001'",
        ),
    ],
)
def test_wrong_rows(tmp_path: Path, rows: list[str], rule: str) -> None:
    """The line, the field and the rule are told."""
    with pytest.raises(WorkloadError, match=rule):
        read(tmp_path, *rows, strict=True)


@pytest.mark.parametrize("bad", ["9|x", row("job"), row(Submit="yesterday"), row(ReqCPUS="1.5"), row() + "|a|b"])
def test_a_bad_row_costs_that_row(tmp_path: Path, bad: str) -> None:
    """It is counted, and its rule is told with the first line that breaks it."""
    log = read(tmp_path, row("1"), bad, row("2"), bad)
    assert [log.names[record.number] for record in log.records] == ["1", "2"]
    assert log.dropped["dropped_row"] == 2
    line = notes(log)[0]
    assert line.startswith("row dropped: ")
    assert line.endswith(" (2 times, first in line 3)")


TEXTS = f"{FIELDS}|JobName"


@pytest.mark.parametrize(
    ("header", "written", "name"),
    [
        (TEXTS, row() + "|a|b", "a|b"),
        (TEXTS, row() + "|||", "||"),
        (f"JobName|{FIELDS}", "sed s|a|b||" + row(), "sed s|a|b|"),
        (f"{TEXTS}|Comment", row() + "|a|b", "a"),
        (f"{FIELDS.replace('User', 'User|JobName')}|Comment", row().replace("|ada|", "|ada|x|y|") + "|c", "x|y"),
        (TEXTS, row() + "|a\nb", "a b"),
        (TEXTS, row() + "|a|\nb\nc|", "a| b c|"),
    ],
)
def test_delimiters_and_line_ends_in_a_text(tmp_path: Path, header: str, written: str, name: str) -> None:
    """They belong to it where only one text can hold them."""
    log = read(tmp_path, written, row("2") + "|" * header.count("|JobName"), header=header, keep=["JobName"])
    if "\n" in written:  # the row is whole without what stands below
        assert log.dropped["dropped_row"] >= 1
    else:
        assert log.members[1]["jobname"] == name


def test_a_text_inside_a_row_may_hold_line_ends(tmp_path: Path) -> None:
    """The row then goes on below."""
    header = FIELDS.replace("User", "User|JobName")
    log = read(
        tmp_path, row().replace("|ada|", "|ada|x\ny\nz|"), row("2", User="ada|c"), header=header, keep=["JobName"]
    )
    assert [members["jobname"] for members in log.members.values()] == ["x y z", "c"]
    assert not log.dropped


@pytest.mark.parametrize("delimiter", ["|", ";", "\t", ","])
@pytest.mark.parametrize("end", ["", "trailing"])
def test_delimiters(tmp_path: Path, delimiter: str, end: str) -> None:
    """As --delimiter, --parsable and spreadsheets write them."""
    tail = delimiter if end else ""
    rows = [line.replace("|", delimiter) + tail for line in (FIELDS, row("1"), row("2"))]
    log = read(tmp_path, *rows[1:], header=rows[0])
    assert len(log.records) == 2
    assert sacct_unit(tmp_path / "s.txt") == "cpus"


def test_quotes_of_spreadsheets(tmp_path: Path) -> None:
    """A comma may stand in them."""
    header, written = FIELDS.replace("|", ","), row().replace("|", ",").replace("ada", '"lovelace, ada"')
    assert read(tmp_path, written, header=header).members == {1: {"user": "lovelace, ada"}}


@pytest.mark.parametrize(
    "times",
    [
        {"Submit": f"{DAY}10:00:00+02:00", "Start": f"{DAY}08:01:00Z", "End": f"{DAY}04:02:40-0400"},
        {"Submit": f"{DAY}08:00:00.5", "Start": f"{DAY}08:01".replace("T", " "), "End": f"{DAY}08:02:40"},
        {"Submit": "1717142400", "Start": "1717142460", "End": "1717142560"},
    ],
)
def test_forms_of_times(tmp_path: Path, times: dict[str, str]) -> None:
    """With an offset, a fraction, a blank, or in seconds since 1970."""
    log = read(tmp_path, row(ElapsedRaw="", Elapsed="", **times))
    assert log.headers == {"UnixStartTime": "1717142400"}
    assert [(record.wait, record.run) for record in log.records] == [(60, 100)]


@pytest.mark.parametrize("unknown", ["UNKNOWN", "None", "INVALID", "4294967294", "0", "n/a"])
def test_unknown_times_in_all_spellings(tmp_path: Path, unknown: str) -> None:
    """Also as the numbers of the database."""
    log = read(tmp_path, row("1"), row("2", End=unknown), row("3", Start=unknown))
    assert log.dropped == {"dropped_going_on": 1, "dropped_never_ran": 1}


@pytest.mark.parametrize(
    ("raw", "limit", "seconds"),
    [
        ("4294967295", "UNLIMITED", -1),
        ("4294967294", "Partition_Limit", -1),
        ("", "1-12", 129600),
        ("", "1-12:30", 131400),
        ("", "2-00:00:01", 172801),
        ("", "90:00", 5400),
        ("", "00:10:00.500", 600),
        ("UNLIMITED", "INVALID", -1),
    ],
)
def test_forms_of_limits(tmp_path: Path, raw: str, limit: str, seconds: int) -> None:
    """Days, hours and minutes, and none at all."""
    (record,) = read(tmp_path, row(TimelimitRaw=raw, Timelimit=limit)).records
    assert record.requested_time == seconds


@pytest.mark.parametrize(("text", "size"), [("2K", 2048), ("1.50K", 1536), ("1M", 1 << 20), ("4294967294", -1)])
def test_forms_of_sizes(tmp_path: Path, text: str, size: int) -> None:
    """As sacct shortens them."""
    (record,) = read(tmp_path, row(ReqCPUS=text)).records
    assert record.requested_processors == size


@pytest.mark.parametrize(
    ("state", "status"), [("CD", 1), ("completed", 1), ("CANCELLED+", 5), ("OUT_OF_ME+", 0), ("TO", 0), ("CA by 3", 5)]
)
def test_forms_of_states(tmp_path: Path, state: str, status: int) -> None:
    """Short, cut off, in any case."""
    (record,) = read(tmp_path, row(state=state)).records
    assert record.status == status


CLUSTERS = f"{FIELDS}|Cluster"
LATER = {"Submit": "2024-09-01T08:00:00", "Start": "2024-09-01T08:01:00", "End": "2024-09-01T08:02:40"}


def test_one_number_in_two_clusters(tmp_path: Path) -> None:
    """Both are jobs, the second under a name with its cluster."""
    log = read(tmp_path, row("7") + "|alpha", row("8") + "|alpha", row("7") + "|beta", header=CLUSTERS)
    assert list(log.names.values()) == ["7", "8", "7@beta"]
    assert log.dropped == {"kept_apart": 1}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (row("7"), row("7", **LATER)),
        (row("7", "TIMEOUT"), row("7", "FAILED", **LATER)),
        (row("7", "NODE_FAIL"), row("7", User="bob", **LATER)),
        (row("7", "NODE_FAIL"), row("7", **LATER)),
    ],
)
def test_a_number_that_is_used_again(tmp_path: Path, first: str, second: str) -> None:
    """After an end of its own, for another user or months later it is another job."""
    for rows in ((first, second), (second, first)):
        log = read(tmp_path, *rows)
        assert sorted(log.names.values()) == ["7", "7.2"]
        assert log.dropped == {"kept_apart": 1}


def test_the_last_attempt_is_the_last_in_time(tmp_path: Path) -> None:
    """The order of the rows does not matter."""
    again = row("1", Submit=f"{DAY}09:00:00", Start=f"{DAY}09:00:00", End=f"{DAY}09:01:00", ElapsedRaw="60")
    for rows in ((row("1", "NODE_FAIL"), again), (again, row("1", "NODE_FAIL"))):
        log = read(tmp_path, *rows)
        assert [record.run for record in log.records] == [60]
        assert log.dropped == {"dropped_attempt": 1}


def test_rows_of_dumps_that_overlap(tmp_path: Path) -> None:
    """The same row twice is one job, and a row that was written while it ran is followed by that of its end."""
    log = read(tmp_path, row("1"), row("2", "RUNNING", End="Unknown", ElapsedRaw="9"), row("1"), row("2"))
    assert [(log.names[record.number], record.run) for record in log.records] == [("1", 100), ("2", 100)]
    assert log.dropped == {"dropped_duplicate": 1, "dropped_attempt": 1}


def test_columns_that_are_not_obeyed(tmp_path: Path) -> None:
    """They are told if they hold something; so are unknown ones, but not those that only describe."""
    header = f"{FIELDS}|Reservation|AllocTRES|Suspended|Eligible|JobName|Zzz"
    tail = f"|||cpu=4,mem=1G|00:00:00|{DAY}08:00:00|x|red"
    log = read(tmp_path, row("1") + tail[1:], header=header)
    assert notes(log)[:-1] == ["field zzz of sacct is unknown and has no effect (line 1)"]
    tail = f"|maint|cpu=4,gres/gpu=2|00:00:10|{DAY}08:00:30|x|red"
    log = read(tmp_path, row("1") + tail, row("2") + tail, header=header, keep=["Zzz"])
    assert notes(log)[-1].startswith(
        "2 of 2 jobs used more processors than requested, 2.0 times the requested host time"
    )
    assert notes(log)[:-1] == [
        "field reservation of sacct is not obeyed: hosts are not reserved: jobs of a reservation are like others"
        " (2 times, first in line 2)",
        "field alloctres of sacct is not obeyed: jobs request GPUs with --demands only (2 times, first in line 2)",
        "field suspended of sacct is not obeyed: a job runs in one piece, without its suspensions"
        " (2 times, first in line 2)",
        "field eligible of sacct is not obeyed: jobs may start from their submission on, also those that waited for a"
        " date or another job (2 times, first in line 2)",
    ]


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

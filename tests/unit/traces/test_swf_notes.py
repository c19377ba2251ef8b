"""Notes on content of a log that is not obeyed, and its clock."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import NothingKeptError
from batsched_py.reporting.api import read_schedule
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.swf import read_swf
from batsched_py.traces.swf_log import SwfLog

LINE = "1 10 0 97 4 -1 -1 4 120 -1 1 7 3 -1 -1 -1 -1 -1"


def read(tmp_path: Path, text: str) -> SwfLog:
    """The log of this text."""
    (tmp_path / "log.swf").write_text(text)
    return read_swf(tmp_path / "log.swf")


def notes(tmp_path: Path, text: str) -> list[str]:
    """The lines on a log, without the name of its file."""
    return [line.partition("log.swf: ")[2] for line in read(tmp_path, text).notes]


def lines(*changed: dict[int, object]) -> str:
    """Lines of jobs, with these fields changed, from 1."""
    rows = []
    for number, changes in enumerate(changed, 1):
        fields: list[object] = [number, *LINE.split()[1:]]
        for field, value in changes.items():
            fields[field - 1 : field] = [value]
        rows.append(" ".join(map(str, fields)))
    return "\n".join(rows) + "\n"


def test_headers_that_describe_are_silent(tmp_path: Path) -> None:
    """So are those that are obeyed, in any case, and prose."""
    head = (
        "; Version: 2.2\n; Note: a\n;Acknowledge: b\n; maxprocs: 8\n; MaxRuntime: 9\n; Preemption: No\n; just words\n"
    )
    log = read(tmp_path, head + LINE)
    assert (log.notes, log.machine_size) == ((), 8)


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (
            "; MaxProcs: 8\n; MaxProcs: 16 since 1998",
            "header MaxProcs is there 2 times: the largest of '8', '16 since 1998' is the size of the machine (line 1)",
        ),
        ("; MaxProc: 8", "header MaxProc of a log is unknown and has no effect; did you mean MaxProcs? (line 1)"),
        ("; Zzz: 8", "header Zzz of a log is unknown and has no effect (line 1)"),
        (
            "; TimeZone: UTC+1",
            "header TimeZone is not obeyed: it must be a number of seconds below a day, not 'UTC+1'; dates are those of"
            " UTC (line 1)",
        ),
        (
            "; TimeZoneString: Mars/Olympus",
            "header TimeZoneString is not obeyed: 'Mars/Olympus' is no time zone known here, like Europe/Paris"
            " (line 1)",
        ),
        (
            "; UnixStartTime: 829999800\n; TimeZone: -28800\n; TimeZoneString: US/Pacific",
            "header TimeZone is not obeyed: TimeZoneString has an offset of -25200 s on the day of UnixStartTime, not"
            " -28800 s (line 2)",
        ),
        (
            "; UnixStartTime: 1\n; UnixStartTime: 2",
            "header UnixStartTime is there 2 times: the first counts (line 1)",
        ),
        (
            "; UnixStartTime: monday",
            "header UnixStartTime is not obeyed: it must be a number of seconds since 1970, not 'monday'; the date of"
            " the log is unknown (line 1)",
        ),
        (
            "; StartTime: Mon Apr 1 1996",
            "header StartTime is not obeyed: the date of a log is read from UnixStartTime, which is not there (line 1)",
        ),
        ("; Preemption: Yes", "header Preemption is not obeyed: jobs run in one piece, not 'Yes'"),
        (
            "; AllowOveruse: Yes",
            "header AllowOveruse is not obeyed: the run time of a job is cut to its request, although it says 'Yes'",
        ),
    ],
)
def test_headers_that_are_told(tmp_path: Path, head: str, line: str) -> None:
    """Each with what happens instead."""
    assert notes(tmp_path, f"{head}\n{LINE}\n") == [line]


def test_a_machine_that_was_extended(tmp_path: Path) -> None:
    """The largest size counts, so that no job of the larger machine is dropped."""
    assert read(tmp_path, f"; MaxProcs: 8\n; MaxProcs: 16\n; MaxProcs: 12\n{LINE}").machine_size == 16


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("; TimeZoneString: US/Pacific\n", "1996-04-20T04:33:20-07:00"),
        ("; TimeZoneString: US/Pacific\n; TimeZone: 3600\n", "1996-04-20T04:33:20-07:00"),
        ("; TimeZoneString: Europe/Paris\n", "1996-04-20T13:33:20+02:00"),
        ("; TimeZoneString: nowhere\n; TimeZone: 3600\n", "1996-04-20T12:33:20+01:00"),
        ("; TimeZoneString: ../../etc/passwd\n", "1996-04-20T11:33:20+00:00"),
    ],
)
def test_the_zone_of_a_log(tmp_path: Path, zone: str, start: str) -> None:
    """TimeZoneString, with its offset on that day, else TimeZone."""
    found = read(tmp_path, f"; UnixStartTime: 830000000\n{zone}{LINE}").start
    assert found is not None
    assert found.isoformat() == start


def test_jobs_that_follow_others(tmp_path: Path) -> None:
    """They are submitted where field 2 says, and counted."""
    assert notes(tmp_path, lines({}, {17: 1, 18: 600}, {17: 2}, {18: 5})) == [
        "preceding job and think time (fields 17 and 18) are not obeyed: jobs are submitted at field 2 (3 times)"
    ]
    (tmp_path / "log.swf").write_text("; MaxProcs: 8\n" + lines({}, {17: 1, 18: 600}, {17: 2}, {18: 5}))
    [note] = read_swf(tmp_path / "log.swf", dependencies=True).notes
    assert "think times (field 18) without a preceding job are not obeyed" in note


def test_descriptions_by_the_site(tmp_path: Path) -> None:
    """Nodes and cores that stand in a further field are not taken for the size."""
    text = "\n".join([f"{LINE} 0 7200 frontier:excl:2500x112", f"{LINE} 8 100 frontier:excl:1x112", f"{LINE} 8"])
    log = read(tmp_path, text)
    assert log.long_lines == 3
    assert [line.partition("log.swf: ")[2] for line in log.notes] == [
        "descriptions of jobs by their site, like 'frontier:excl:2500x112', are not obeyed: sizes are those of fields 5"
        " and 8 (2 times, first in line 1)"
    ]


def test_sizes_that_count_nodes_and_processors(tmp_path: Path) -> None:
    """The number that the jobs have used and that they have requested differ by one factor."""
    (line,) = notes(tmp_path, lines({5: 32}, {5: 32}, {5: 64, 8: 8}))
    assert line == (
        "3 of 3 jobs used more processors than requested, 8.0 times the requested host time in all; most requests seem"
        " to count nodes: convert takes the requested number, with --processors used the other"
    )
    (line,) = notes(tmp_path, lines({5: 64}, {}, {}))
    assert line.startswith("1 of 3 jobs used more processors than requested, 6.0 times")
    assert "nodes" not in line
    assert notes(tmp_path, lines({5: 5}, {5: 6}, {})) == []


@pytest.mark.parametrize(
    ("head", "first", "start"),
    [
        ("", 1_700_000_000, "2023-11-14T22:13:20+00:00"),
        ("; UnixStartTime: 0\n; TimeZone: 3600\n", 1_700_000_000, "2023-11-14T23:13:20+01:00"),
        ("; UnixStartTime: 1690000000\n", 1_700_000_000, "2023-11-14T22:13:20+00:00"),
        ("; UnixStartTime: 830000000\n", 400_000_000, "2008-12-23T02:40:00+00:00"),
    ],
)
def test_submissions_in_seconds_since_1970(tmp_path: Path, head: str, first: int, start: str) -> None:
    """Time starts with the first of them; a line tells it, and the date is kept."""
    log = read(tmp_path, head + lines({2: first + 60}, {2: first}, {2: -1}))
    assert [record.submit for record in log.records] == [60, 0, -1]
    assert (log.zero, log.first, log.start and log.start.isoformat()) == (first, 0, start)
    (line,) = log.notes
    assert f"time starts with the first submission, at {start}, " in line
    workload, _ = clean(log, CleaningRules())
    assert (workload.log_start and workload.log_start.isoformat(), workload.notes) == (start, log.notes)
    schedule = read_schedule(tmp_path / "log.swf")
    assert [record.job.submit_time for record in schedule.ran] == [60, 0]
    assert (schedule.log_start and schedule.log_start.isoformat(), schedule.zero) == (start, first)


def test_a_clock_that_leaps(tmp_path: Path) -> None:
    """One job at 0 among others that count from 1970: nothing can be moved."""
    (line,) = notes(tmp_path, lines({2: 0}, {2: 1_700_000_000}))
    assert line.startswith("the last job was submitted more than ten years after the first")


def test_all_jobs_dropped(tmp_path: Path) -> None:
    """The error has the true number, and what became of each."""
    log = read(tmp_path, lines({8: 99}, {4: -1}))
    with pytest.raises(NothingKeptError, match="has no job that the rules keep, of 2") as caught:
        clean(log, CleaningRules(hosts=8))
    assert caught.value.lines == (
        "2 jobs in the log",
        "1 dropped: run time unknown or 0",
        "1 dropped: larger than the machine",
    )

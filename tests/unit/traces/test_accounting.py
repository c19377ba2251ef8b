"""Accounting of batch systems: samples of each format with what is read of them, and no record that disappears."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import NothingKeptError, WorkloadError
from batsched_py.model.workload import Workload
from batsched_py.reading.limits import Limits
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import ReadOptions, find_format
from batsched_py.traces.row_rules import RULES
from batsched_py.traces.swf_log import SwfLog
from tests.clone import ROOT
from tests.thoroughness import thorough

SAMPLES: Final = ROOT / "tests" / "data" / "accounting"
ZONE: Final = "Europe/Paris"


def log_of(*paths: Path, **options: Any) -> SwfLog:
    """Read files of one log, in the format of the first."""
    form = find_format(paths[0])
    log = form.read(paths[0], ReadOptions(further=paths[1:], **{"unit": form.default_unit, **options}))
    assert isinstance(log, SwfLog)
    return log


def converted(*names: str, **options: Any) -> tuple[Workload, list[str]]:
    """Convert samples with their cancelled jobs, which are moved; return the workload and the other lines."""
    rules = CleaningRules(hosts=64, cancelled=True, dependencies=options.get("dependencies", False))
    workload, report = clean(log_of(*(SAMPLES / name for name in names), **options), rules)
    return workload, [line for line in report.lines() if "moved" not in line]


def jobs(workload: Workload) -> list[tuple[str, float, int, float | None, str]]:
    """The id, submission, size, walltime and profile of each job."""
    return [(job.id, job.submit_time, job.size, job.walltime, job.profile) for job in workload.jobs]


def test_sacct_json() -> None:
    """Tasks, components, attempts, flags of states, and sizes from TRES."""
    workload, lines = converted("sacct-v0.0.41.json")
    assert jobs(workload) == [
        ("100", 0, 16, 7200, "delay_3600"),
        ("101_1", 600, 4, 1800, "delay_1800"),
        ("104", 700, 8, 3600, "delay_3600"),
        ("106+0", 1200, 4, 600, "delay_600"),
        ("106+1", 1200, 8, 600, "delay_600"),
        ("105", 1600, 8, 3600, "delay_2000"),
    ]
    assert lines[:2] == ["10 jobs in the log", "6 jobs kept"]
    assert {
        "2 dropped: requeued or resized, followed by another row",
        "2 dropped: not ended, or end unknown",
        "1 corrected: run time cut to the request",
        "2 corrected: no request, walltime = run time",
        "2 rows of job steps: passed over",
        "1 job cancelled while waiting",
    } <= set(lines)
    assert workload.log_start is not None
    assert workload.log_start.isoformat() == "2024-05-31T08:00:00+00:00"


def test_sacct_json_of_an_earlier_version() -> None:
    """States are texts, and members are fewer; the jobs are those of the later version."""
    workload, _ = converted("sacct-v0.0.39.json")
    assert [job.id for job in workload.jobs] == ["100", "101_1", "104"]


def test_sacct_json_by_node_with_demands() -> None:
    """Amounts are those of TRES, and the limit of the array is that of its pending tasks."""
    log = log_of(SAMPLES / "sacct-v0.0.41.json", unit="nodes", demands=True, slurm=True)
    workload, _ = clean(log, CleaningRules(hosts=64, demands=True, slurm_members=True))
    extra = {job.id: job.members for job in workload.jobs}
    assert extra["106+1"]["demand"] == {"cores": 4, "memory": 4096, "gpus": 1, "spread": True}
    assert (extra["106+1"]["res"], extra["101_1"]["array"]) == (2, {"id": "101", "limit": 2})


@pytest.mark.parametrize("name", ["comment", "name", "flags"])
def test_members_of_sacct_json_have_the_names_of_columns(name: str) -> None:
    """`--keep` takes the names that sacct has for them."""
    column = {"name": "jobname"}.get(name, name)
    log = log_of(SAMPLES / "sacct-v0.0.41.json", keep=(column,))
    assert column in log.kept
    with pytest.raises(WorkloadError, match="has no field colour: unknown"):
        log_of(SAMPLES / "sacct-v0.0.41.json", keep=("colour",))


def changed(tmp_path: Path, **members: Any) -> Path:
    """Write the sample with the first job changed, and a second one unchanged."""
    document = json.loads((SAMPLES / "sacct-v0.0.41.json").read_bytes())
    first, second = document["jobs"][:2]
    for name, value in members.items():
        *outer, last = name.split("__")
        place = first
        for part in outer:
            place = place[part]
        place[last] = value
    document["jobs"] = [first, second]
    path = tmp_path / "s.json"
    path.write_text(json.dumps(document))
    return path


@pytest.mark.parametrize(
    ("members", "rule"),
    [
        ({"time": 5}, "time must be an object, not 5"),
        ({"time__submission": "soon"}, "time.submission must be a whole number, not 'soon'"),
        ({"time__start": 1.5}, "time.start must be a whole number, not 1.5"),
        ({"state__current": 4}, "state.current must be a text or a list of texts, not 4"),
        ({"state__current": []}, "state.current is missing"),
        ({"tres__allocated": "cpu=4"}, "tres.allocated must be a list, not 'cpu=4'"),
        ({"name": ["a"]}, "name must be a text, not ['a']"),
        ({"job_id": True}, "job_id must be a whole number, not True"),
    ],
)
def test_a_wrong_member_drops_its_job(tmp_path: Path, members: dict[str, Any], rule: str) -> None:
    """It is counted and named, and an error if the rules are strict."""
    path = changed(tmp_path, **members)
    log = log_of(path)
    assert (len(log.records), log.dropped["dropped_row"]) == (1, 1)
    assert log.notes == (f"{path}: row dropped: {rule} (jobs[0])",)
    with pytest.raises(WorkloadError, match=r"jobs\[0\]"):
        log_of(path, strict=True)


@pytest.mark.parametrize(
    "value", [None, {"set": False, "infinite": False, "number": 0}, {"infinite": True}, "Infinity"]
)
def test_an_unset_limit_is_no_request(tmp_path: Path, value: Any) -> None:
    """Versions write it in several forms."""
    (first, *_) = log_of(changed(tmp_path, time__limit=value)).records
    assert first.requested_time == -1


def test_an_unknown_member_of_a_job_is_named(tmp_path: Path) -> None:
    """Versions add members: what they say is not read."""
    path = changed(tmp_path, colour="red")
    assert log_of(path).notes == (f"{path}: member colour of a job is unknown and has no effect (jobs[0])",)


def test_json_of_another_command(tmp_path: Path) -> None:
    """squeue has no times at which jobs ended; a document without jobs, and one with two lists, are errors."""
    path = tmp_path / "s.json"
    meta = '"meta": {"plugin": {"data_parser": "data_parser/v0.0.41"}}'
    for jobs_member, rule in (
        ('"jobs": [{"job_id": 1, "job_state": ["RUNNING"]}]', "is of squeue or scontrol"),
        ('"jobs": {}', "must be a list, not {}: the output of sacct --json has it"),
        ('"errors": []', "is missing"),
        ('"jobs": [], "jobs": []', "has the member 'jobs' twice"),
        ('"jobs": [{]', "is not JSON"),
    ):
        path.write_text(f"{{{meta}, {jobs_member}}}")
        with pytest.raises(WorkloadError, match=rule):
            log_of(path)


def test_errors_that_sacct_reported_are_warnings(tmp_path: Path) -> None:
    """Its output may be incomplete then."""
    path = tmp_path / "s.json"
    path.write_text(
        '{"meta": {"plugin": {"data_parser": "x"}}, "errors": [{"description": "no connection"}], "jobs": []}'
    )
    assert log_of(path).notes == (f"{path}: sacct reported an error: 'no connection' (errors)",)


def test_completions_of_slurm() -> None:
    """Names with blanks, local dates, tasks and attempts; sizes that were requested are those of Tres."""
    workload, lines = converted("slurm_jobcomp.log", zone=ZONE)
    assert jobs(workload) == [
        ("100", 0, 16, 7200, "delay_3600"),
        ("101_1", 600, 4, 1800, "delay_1800"),
        ("106+0", 1200, 4, 3600, "delay_600"),
        ("105", 1600, 8, 3600, "delay_2000"),
    ]
    assert lines[:3] == ["6 jobs in the log", "4 jobs kept", "1 dropped: requeued or resized, followed by another row"]
    assert workload.log_start is not None
    assert workload.log_start.isoformat() == "2024-05-31T08:00:00+00:00"
    log = log_of(SAMPLES / "slurm_jobcomp.log", keep=("JobName", "WorkDir"))
    assert (log.members[1]["jobname"], log.members[1]["workdir"]) == ("my long run", "/home/ada/my runs")


@pytest.mark.parametrize(
    ("line", "note"),
    [
        (
            "JobId=1 UserId=a(1) Name=x JobState=y JobState=COMPLETED",
            "has JobState twice, as a name with blanks may cause",
        ),
        ("UserId=a(1) JobState=COMPLETED", "must begin with JobId="),
        ("JobId=1 UserId=a(1) JobState=COMPLETED StartTime=noon", "must be a time like 2024-05-31T08:00:00"),
        ("1 0 0 100 4 -1 -1 4 200 -1 1 3 1 -1 1 -1 -1 -1", "the file looks like a log in the Standard Workload Format"),
    ],
)
def test_a_line_of_completions_that_cannot_be_read(tmp_path: Path, line: str, note: str) -> None:
    """It is counted and named."""
    path = tmp_path / "c.log"
    sound = (SAMPLES / "slurm_jobcomp.log").read_text().splitlines()[0]
    path.write_text(f"{sound}\n{line}\n")
    log = log_of(path)
    assert (len(log.records), log.dropped["dropped_row"]) == (1, 1)
    assert note in log.notes[0]


def test_a_key_that_later_versions_add_is_named(tmp_path: Path) -> None:
    """It is not part of the value before it."""
    path = tmp_path / "c.log"
    path.write_text((SAMPLES / "slurm_jobcomp.log").read_text().splitlines()[0] + " Colour=red\n")
    log = log_of(path, keep=("ExitCode",))
    assert log.notes == (f"{path}: Colour is unknown and has no effect (line 1)",)
    assert log.members[1]["exitcode"] == "0:0"


def test_two_days_of_pbs() -> None:
    """A job that was queued on one day ended on the next one; without it, it has not ended."""
    workload, lines = converted("pbs-20240531", "pbs-20240601", zone=ZONE, dependencies=True)
    assert jobs(workload) == [
        ("100", 0, 16, 7200, "delay_3598"),
        ("101[1]", 600, 4, 1800, "delay_1800"),
        ("102", 4200, 4, 3600, "delay_3600"),
        ("103", 4800, 8, 3600, "delay_1200"),
        ("104", 49800, 8, 3600, "delay_2400"),
    ]
    assert lines == [
        "7 jobs in the log",
        "5 jobs kept",
        "1 dropped: requeued or resized, followed by another row",
        "1 dropped: not ended, or end unknown",
        "1 corrected: run time cut to the request",
        "8 rows of other events than the end of a job: passed over",
        "1 job cancelled while waiting",
    ]
    extra = {job.id: job.members for job in workload.jobs}
    assert extra["103"]["depends_on"] == [{"job": "100", "when": "success"}]
    assert extra["102"]["cancelled_after"] == 300
    assert (extra["100"]["account"], "project" in extra["100"], extra["102"]["project"]) == ("math", False, "bio")
    assert "3 dropped: not ended, or end unknown" not in converted("pbs-20240531")[1]
    assert "2 dropped: not ended, or end unknown" in converted("pbs-20240531")[1]


@pytest.mark.parametrize(("unit", "sizes"), [("cpus", [(8, 8), (6, 6)]), ("nodes", [(2, 2), (2, 2)])])
def test_sizes_of_torque(unit: str, sizes: list[tuple[int, int]]) -> None:
    """Nodes and processors of each one, in all spellings of hosts."""
    log = log_of(SAMPLES / "torque-20240531", unit=unit)
    assert [(record.requested_processors, record.used_processors) for record in log.records] == sizes
    assert [record.status for record in log.records] == [1, 0]
    assert "keys that are not read: jobname, owner, session" in " ".join(log.notes)


def pbs_line(**changes: str | None) -> str:
    """The record of a job's end, with these values; None leaves a key out."""
    values: dict[str, str | None] = {
        "user": "ada",
        "queue": "q",
        "ctime": "1717142400",
        "start": "1717142410",
        "end": "1717142510",
        "Resource_List.ncpus": "4",
        "Resource_List.walltime": "00:05:00",
        "resources_used.walltime": "00:01:40",
        **changes,
    }
    text = " ".join(f"{key}={value}" for key, value in values.items() if value is not None)
    return f"05/31/2024 10:00:00;E;7.s;{text}\n"


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"ctime": None}, "has no ctime"),
        ({"end": "0"}, "has no end"),
        ({"ctime": "noon"}, "ctime must be seconds since 1970, not 'noon'"),
        (
            {"Resource_List.walltime": "long"},
            "Resource_List.walltime must be seconds or hours:minutes:seconds, not 'long'",
        ),
        ({"Resource_List.ncpus": "many"}, "Resource_List.ncpus must be a whole number up to 1000000000, not 'many'"),
        ({"Resource_List.mem": "much"}, "Resource_List.mem must be an amount like 4gb, not 'much'"),
        ({"Resource_List.ncpus": None, "Resource_List.select": "2:ncpus=x"}, "ncpus must be a whole number, not 'x'"),
        ({"queue": "a,b"}, "queue must have no comma"),
    ],
)
def test_a_record_of_pbs_that_cannot_be_read(tmp_path: Path, changes: dict[str, str | None], rule: str) -> None:
    """It is counted and named with the rule, and an error if the rules are strict."""
    path = tmp_path / "20240531"
    path.write_text(pbs_line(**changes) + pbs_line().replace(";7.s;", ";8.s;"))
    log = log_of(path)
    assert (len(log.records), log.dropped["dropped_row"]) == (1, 1)
    assert log.notes[0].startswith(f"{path}: row dropped: {rule}")
    with pytest.raises(WorkloadError, match="line 1"):
        log_of(path, strict=True)


@pytest.mark.parametrize(
    ("changes", "requested", "used"),
    [
        ({}, 4, -1),
        ({"Resource_List.ncpus": None, "Resource_List.select": "2:ncpus=4+ncpus=3+1"}, 12, -1),
        ({"Resource_List.ncpus": None, "Resource_List.nodes": "2:ppn=4+n7:ppn=2:gpus=1#shared"}, 10, -1),
        ({"Resource_List.ncpus": "1", "Resource_List.nodes": "1", "Resource_List.procs": "9"}, 9, -1),
        ({"exec_host": "n1/0-3+n2/0,2+n3/1*5"}, 4, 11),
        ({"exec_vnode": "(n1:ncpus=2:mem=1gb+n1b:ncpus=1)+(n2:ncpus=3)", "exec_host": "n1/0"}, 4, 6),
    ],
)
def test_cpus_of_pbs(tmp_path: Path, changes: dict[str, str | None], requested: int, used: int) -> None:
    """Chunks, nodes with processors, named hosts and slots."""
    path = tmp_path / "20240531"
    path.write_text(pbs_line(**changes))
    (record,) = log_of(path).records
    assert (record.requested_processors, record.used_processors) == (requested, used)


def test_memory_and_times_of_pbs(tmp_path: Path) -> None:
    """Memory is that of a processor; the time from start to end counts if the used one is unknown or 0."""
    path = tmp_path / "20240531"
    path.write_text(pbs_line(**{"Resource_List.mem": "8gb", "resources_used.walltime": "0"}))
    (record,) = log_of(path).records
    assert (record.requested_memory, record.run, record.wait, record.requested_time) == (2 * 1024 * 1024, 100, 10, 300)


def test_numbers_that_are_used_again(tmp_path: Path) -> None:
    """By another server, after another submission, after another run, and twice the same record."""
    path = tmp_path / "20240531"
    again = pbs_line(ctime="1717152400", start="1717152410", end="1717152510")
    rerun = pbs_line(start="1717142600", end="1717142700")
    path.write_text(pbs_line() * 2 + rerun + again + pbs_line().replace(";7.s;", ";7.t;"))
    log = log_of(path)
    assert sorted(log.names.values()) == ["7", "7.2", "7@t"]
    assert dict(log.dropped) == {"dropped_duplicate": 1, "dropped_attempt": 1, "kept_apart": 2}


def test_lsf() -> None:
    """Limits of runs are behind lists of any length; versions before 9.1 have none."""
    workload, lines = converted("lsb.acct", dependencies=True)
    assert jobs(workload) == [
        ("100", 0, 16, 7200, "delay_3600"),
        ("101[1]", 600, 4, 1800, "delay_1800"),
        ("102", 700, 4, 600, "delay_600"),
        ("103", 3600, 1, 600, "delay_600"),
    ]
    assert lines == [
        "4 jobs in the log",
        "4 jobs kept",
        "1 corrected: no request, walltime = run time",
        "1 row of other events than the end of a job: passed over",
        "1 job cancelled while waiting",
    ]
    extra = {job.id: job.members for job in workload.jobs}
    assert extra["101[1]"]["depends_on"] == [{"job": "100", "when": "success"}]
    assert (extra["100"]["account"], extra["102"]["cancelled_after"]) == ("math", 200)
    by_host = log_of(SAMPLES / "lsb.acct", unit="nodes")
    assert [record.used_processors for record in by_host.records] == [2, 1, 1]


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ('"run" "#BSUB', '"run "#BSUB', "is not closed by a quote and a blank"),
        (" 16 1717142400 ", " many 1717142400 ", "field numProcessors must be a whole number from 0, not 'many'"),
        (" 0 2 ", " 0 900 ", "field numExHosts is 900, and the record ends before so many fields"),
        (" 16 1717142400 ", " 16 0 ", "field submitTime is 0"),
        ('"ada"', '"a,b"', "user must have no comma"),
    ],
)
def test_a_record_of_lsf_that_cannot_be_read(tmp_path: Path, old: str, new: str, rule: str) -> None:
    """It is counted and named with the field."""
    path = tmp_path / "lsb.acct"
    first, second, *_ = (SAMPLES / "lsb.acct").read_text().splitlines()
    assert old in first
    path.write_text(f"{first.replace(old, new, 1)}\n{second}\n")
    log = log_of(path)
    assert (len(log.records), log.dropped["dropped_row"]) == (1, 1)
    assert rule in log.notes[0]


def test_fields_of_lsf_in_an_unknown_order(tmp_path: Path) -> None:
    """A limit is not guessed."""
    path = tmp_path / "lsb.acct"
    first = (SAMPLES / "lsb.acct").read_text().splitlines()[0]
    path.write_text(first.replace(' 7200 0 524288 "select', ' "x" 7200 0 524288 "select') + "\n")
    log = log_of(path)
    assert log.records[0].requested_time == -1
    assert log.notes == (f"{path}: limits of run times are not read: fields of version 10.108 (line 1)",)


def test_dependencies_that_are_not_asked_for_are_noted() -> None:
    """In the words of each format."""
    assert "depend is not obeyed: jobs wait" in " ".join(
        log_of(SAMPLES / "pbs-20240531", SAMPLES / "pbs-20240601").notes
    )
    assert "dependCond is not obeyed: jobs wait" in " ".join(log_of(SAMPLES / "lsb.acct").notes)


def test_places_in_further_files_have_their_names(tmp_path: Path) -> None:
    """In errors and in notes."""
    first, second = tmp_path / "1", tmp_path / "2"
    first.write_text(pbs_line())
    second.write_text("nonsense\n")
    assert log_of(first, second).notes[0] == f"{first}: row dropped: must be date;type;id;text (2, line 1)"
    with pytest.raises(WorkloadError, match=f"{second}: line 1: must be"):
        log_of(first, second, strict=True)
    header = "JobID|State|Submit|Start|End|ReqCPUS|AllocCPUS\n"
    row = "{}|COMPLETED|2024-05-31T08:00:00|2024-05-31T08:05:00|{}|16|16\n"
    first.write_text(header + row.format(7, "2024-05-31T09:05:00"))
    second.write_text(header + row.format(7, "2024-05-31T09:05:00") + row.format(8, "noon"))
    log = log_of(first, second)
    assert dict(log.dropped) == {"dropped_duplicate": 1, "dropped_row": 1}
    assert f"{first}: row dropped: field end must be a time" in log.notes[0]
    assert log.notes[0].endswith("(2, line 3)")
    with pytest.raises(WorkloadError, match=f"{second}: line 3, field end"):
        log_of(first, second, strict=True)


def test_a_log_has_a_limit_of_jobs(tmp_path: Path) -> None:
    """That of all files together."""
    first, second = tmp_path / "1", tmp_path / "2"
    for path in (first, second):
        path.write_text(pbs_line())
    with pytest.raises(WorkloadError, match="must be at most 1 jobs"):
        log_of(first, second, limits=Limits(jobs=1))


#: Kinds of records of PBS, and how a job with a number that is often the same may end.
RECORDS: Final = st.lists(
    st.one_of(
        st.tuples(st.sampled_from("QSEDARTCMLBa"), st.integers(1, 4), st.integers(0, 3)),
        st.just(("?", 0, 0)),
    ),
    max_size=12,
)


def record_of(kind: str, number: int, time: int) -> str:
    """A record that may break a rule."""
    if kind == "?":
        return "no record of a job\n"
    end = pbs_line(ctime=str(1717142400 + time), end=str(1717142600 + time), start=str(1717142410 * (time < 3)))
    name = f"{number}[].s" if number == 4 else f"{number}.s"
    return end.replace(";E;7.s;", f";{kind};{name};")


@settings(max_examples=thorough(60))
@given(RECORDS)
def test_no_record_of_pbs_disappears(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, int, int]]
) -> None:
    """Each line becomes a job, or is counted under one rule that drops a row or passes it over."""
    path = tmp_path_factory.mktemp("pbs") / "20240531"
    path.write_text(pbs_line() + "".join(record_of(*record) for record in records))
    log = log_of(path)
    counted = sum(count for rule, count in log.dropped.items() if RULES[rule].takes)
    assert len(log.records) + len(log.cancelled) + counted == len(records) + 1


SLURM_JOBS: Final = st.lists(
    st.tuples(
        st.sampled_from(["COMPLETED", "CANCELLED", "RUNNING", "NODE_FAIL", "PREEMPTED", "RESIZING", "ODD", 5]),
        st.integers(1, 3),
        st.integers(0, 2),
    ),
    max_size=8,
)


@settings(max_examples=thorough(40))
@given(SLURM_JOBS)
def test_no_job_of_sacct_json_disappears(
    tmp_path_factory: pytest.TempPathFactory, drawn: Sequence[tuple[Any, int, int]]
) -> None:
    """Each one is kept, or counted under one rule."""
    document = json.loads((SAMPLES / "sacct-v0.0.39.json").read_bytes())
    first = document["jobs"][0]
    document["jobs"] = [
        {**first, "job_id": number, "state": {"current": state}, "time": {**first["time"], "start": 1717142700 * wait}}
        for state, number, wait in drawn
    ]
    path = tmp_path_factory.mktemp("sacct") / "s.json"
    path.write_text(json.dumps(document))
    try:
        report = clean(log_of(path), CleaningRules(hosts=64))[1].lines()
    except NothingKeptError as error:
        report = error.lines
    counts = {line.partition(" ")[2]: int(line.partition(" ")[0]) for line in report}
    taken = sum(count for line, count in counts.items() if line.startswith("dropped"))
    kept = counts.get("jobs kept", counts.get("job kept", 0))
    assert kept + taken == len(drawn)

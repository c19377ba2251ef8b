"""Tables of jobs: what columns mean, forms of cells, and that no row and no column disappears without a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import InputError, WorkloadError
from batsched_py.reading.limits import Limits
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import CSV, ReadOptions, find_format
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_columns import QUANTITIES, TableColumn, read_columns
from batsched_py.traces.table_presets import PRESETS, chosen_columns
from tests.thoroughness import thorough

ALCF = (
    '"JOB_NAME","COBALT_JOBID","QUEUED_TIMESTAMP","START_TIMESTAMP","END_TIMESTAMP","USERNAME_GENID",'
    '"PROJECT_NAME_GENID","QUEUE_NAME","WALLTIME_SECONDS","RUNTIME_SECONDS","NODES_USED","NODES_REQUESTED"\n'
    '"7.theta","7","2019-01-01 00:00:08.0","2019-01-01 00:10:11.5","2019-01-01 01:10:12.5","12","34","default",'
    '"7200.0","3601.0","256.0","128.0"\n'
)
EAGLE = (
    "job_id,user,account,name,state,partition,qos,submit_time,start_time,end_time,run_time,wallclock_req,nodes_req\n"
    "5,u1,a1,x.sh,COMPLETED,short,normal,2018-11-01 08:00:00,2018-11-01 08:01:00,2018-11-01 09:01:00,3600,7200,2\n"
    "6,u2,a1,y.sh,CANCELLED,short,normal,2018-11-01 08:00:10,,2018-11-01 09:01:00,,7200,2\n"
    "8,u2,a1,y.sh,RUNNING,short,normal,2018-11-01 08:00:20,2018-11-01 09:01:00,,,7200,2\n"
    "9,u2,a1,y.sh,PURPLE,short,normal,2018-11-01 08:00:30,2018-11-01 09:01:00,,,7200,2\n"
)
ALIBABA = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
    "pod-1,88000,327680,8,1000,,Burstable,Succeeded,9437497,9438497,9437500\n"
    "pod-2,4000,15258,1,220,,BE,Running,9437500,9437600,9437500\n"
    "pod-3,4000,15258,0,0,,LS,Running,9437500,9437600,9437500\n"
    "pod-4,4000,15258,1,1000,V100M16|V100M32,LS,Pending,9437500,9437700,\n"
)


def read(folder: Path, text: str, *columns: str, **options: Any) -> SwfLog:
    """The log of a table."""
    path = folder / "t.csv"
    path.write_text(text)
    log = CSV.read(path, ReadOptions(columns=chosen_columns(columns), **options))
    assert isinstance(log, SwfLog)
    return log


def lines(log: SwfLog) -> list[str]:
    """The lines on a log, without the name of its file."""
    return [line.partition("t.csv: ")[2] for line in log.notes]


def test_the_columns_of_public_data_are_known(tmp_path: Path) -> None:
    """The fields of the row, by hand: 603.5 s after the submission, two nodes for each requested one."""
    log = read(tmp_path, ALCF)
    assert find_format(tmp_path / "t.csv") is CSV
    (record,) = log.records
    assert (record.submit, record.wait, record.run, record.requested_time) == (0, 603.5, 3601, 7200)
    assert (record.requested_processors, record.used_processors) == (128, 256)
    assert log.names == {1: "7"}
    assert log.members == {1: {"user": 12, "account": 34, "queue": "default"}}
    assert log.start is not None
    assert log.start.isoformat() == "2019-01-01T00:00:08+00:00"
    assert "columns that are not read: JOB_NAME" in lines(log)


def test_rows_without_a_run_are_counted_by_their_reason(tmp_path: Path) -> None:
    """One row each that never started, still runs, and has an unknown state."""
    log = read(tmp_path, EAGLE)
    assert [log.names[record.number] for record in log.records] == ["5"]
    assert log.dropped == {"dropped_going_on": 1, "dropped_state": 1}
    assert len(log.cancelled) == 1
    assert lines(log)[1] == "rows of a state that is unknown are left out (line 5, 'PURPLE')"


CANCELLED = """id,s,b,e,n,r,state
a,100,,160,2,60,CANCELLED
b,100,110,150,1,60,COMPLETED
b,100,,120,1,60,CANCELLED
c,130,,140,1,60,FAILED
d,120,,120,1,60,cancelled by 7
"""


def test_jobs_cancelled_while_they_waited_may_be_kept(tmp_path: Path) -> None:
    """With the time from their submission, by hand; another end without a start is no cancellation."""
    columns = "id=id,submit=s,start=b,end=e,size=n,request=r,state=state"
    log = read(tmp_path, CANCELLED, columns)
    kept, report = clean(log, CleaningRules(cancelled=True))
    assert [(job.id, job.extra.get("cancelled_after")) for job in kept.jobs] == [
        ("a", 60),
        ("b", None),
        ("d", 0),
    ]
    assert [report.count(rule) for rule in ("cancelled", "dropped_never_ran", "dropped_duplicate")] == [2, 1, 1]
    _, report = clean(log, CleaningRules())
    assert (report.kept, report.count("dropped_never_ran"), report.count("dropped_duplicate")) == (1, 3, 1)
    with pytest.raises(WorkloadError, match="line 4: job b is there twice"):
        read(tmp_path, CANCELLED, columns, strict=True)


def test_pods_of_alibaba_are_sized_in_gpus(tmp_path: Path) -> None:
    """One without a GPU, and one that was never scheduled, are counted under their rules."""
    log = read(tmp_path, ALIBABA)
    assert [(one.wait, one.run, one.requested_processors) for one in log.records] == [
        (3, 997, 8),
        (0, 100, 1),
        (0, 100, 0),
    ]
    workload, report = clean(log, CleaningRules())
    assert [job.id for job in workload.jobs] == ["pod-1", "pod-2"]
    assert {rule.name: count for rule, count in report.applied() if rule.takes} == {
        "dropped_never_ran": 1,
        "dropped_no_processors": 1,
    }


@pytest.mark.parametrize("name", PRESETS)
def test_presets_say_when_jobs_ran_and_on_how_much(name: str) -> None:
    """Otherwise no table of theirs could be read."""
    assert PRESETS[name].columns.lacking() == ""


@pytest.mark.parametrize(
    ("form", "cell", "seconds"),
    [
        ("", "2024-05-31T08:00:00", 1717142400), ("", "2024-05-31 08:00:00.25", 1717142400.25),
        ("", "2024-05-31 08:00:00+02:00", 1717135200), ("", "2024-05-31 08:00:00 UTC", 1717142400),
        ("", "2024-05-31", 1717113600), ("", "1717142400", 1717142400), ("ms", "1717142400250", 1717142400.25),
        ("us", "1717142400250000", 1717142400.25), (r"%d.%m.%Y %H:%M", "31.05.2024 08:00", 1717142400),
        (r"%b %d, %Y", "May 31, 2024", 1717113600),
    ],
)  # fmt: skip
def test_instants(form: str, cell: str, seconds: float, tmp_path: Path) -> None:
    """Dates with and without an offset, numbers with a unit, and patterns; all are brought to the first submission."""
    log = read(tmp_path, f's;r;n\n"{cell}";60;1\n', f"submit=s{form and ':'}{form}", "run=r", "size=n")
    assert log.zero == 0
    assert log.start is not None
    assert log.start.timestamp() + log.records[0].submit == seconds


@pytest.mark.parametrize(
    ("form", "cell", "seconds"),
    [
        ("", "90", 90), ("", "90.5", 90.5), ("min", "2", 120), ("h", "1.5", 5400), ("d", "1", 86400),
        ("ms", "250", 0.25), ("", "01:02:03", 3723), ("", "2-01:00:00", 176400), ("", "1 day, 0:00:05", 86405),
        ("", "0:30", 1800),
    ],
)  # fmt: skip
def test_durations(form: str, cell: str, seconds: float, tmp_path: Path) -> None:
    """Numbers of a unit, and clock times."""
    log = read(tmp_path, f's;r;n\n0;"{cell}";1\n', "submit=s", f"run=r{form and ':'}{form}", "size=n")
    assert log.records[0].run == seconds


def test_dates_are_in_the_zone_of_the_machine(tmp_path: Path) -> None:
    """Summer time is observed: two hours before UTC in May, one in January."""
    text = "s,r,n\n2024-01-31 08:00:00,60,1\n2024-05-31 08:00:00,60,1\n"
    log = read(tmp_path, text, "submit=s,run=r,size=n", zone="Europe/Paris")
    first, second = (record.submit for record in log.records)
    assert log.start is not None
    assert log.start.isoformat() == "2024-01-31T07:00:00+00:00"
    assert second - first == 121 * 86400 - 3600


def test_what_is_not_in_a_column_follows_from_others(tmp_path: Path) -> None:
    """The submission from start and wait, the run from start and end."""
    log = read(tmp_path, "a,b,c,n\n100,40,250,1\n", "start=a,wait=b,end=c,used=n")
    (record,) = log.records
    assert (record.submit, record.wait, record.run) == (60, 40, 150)


def test_other_columns_become_members_by_choice(tmp_path: Path) -> None:
    """As for sacct, in lower case; numbers are numbers, and unknown values are left out."""
    log = read(
        tmp_path, "s,r,n,Project,GPUs\n0,5,1,x,4\n1,5,1,NULL,\n", "submit=s,run=r,size=n", keep=("Project", "GPUs")
    )
    assert log.members == {1: {"project": "x", "gpus": 4}, 2: {}}


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        (["sumit=a"], "did you mean submit"),
        (["submit=a", "submit=b"], "submit has two columns"),
        (["submit="], "submit has no column"),
        (["size=n:s"], "size has no unit"),
        (["run=r:%H"], "run is no date"),
    ],
)
def test_assignments_are_checked(texts: Sequence[str], rule: str) -> None:
    """Each error names the quantity."""
    with pytest.raises(ValueError, match=rule):
        read_columns(texts)


def test_names_may_have_colons_and_patterns_commas() -> None:
    """Only a unit or a pattern is a form."""
    assert read_columns(["submit=Job: queued:%b %d, %Y,run=a:b,size=n"]) == {
        "submit": TableColumn("Job: queued", "%b %d, %Y"),
        "run": TableColumn("a:b"),
        "size": TableColumn("n"),
    }


@pytest.mark.parametrize(
    ("text", "columns", "rule"),
    [
        ("", "submit=s,run=r,size=n", "is empty"),
        ("s\rr,n\n", "submit=s,run=r,size=n", "line 1: has no column"),
        ("s\rr,n\n", "", "line 1: has columns of unknown meaning"),
        ("s,r\n", "submit=s,run=r,size=n", "line 1: has no column 'n': unknown; there are: s, r"),
        ("s,s,r,n\n", "submit=s,run=r,size=n", "line 1: has the column 's' twice"),
        ("s,r,n\n", "submit=s,size=n", "--columns: lacks run, or start and end"),
        ("s,r,n\n", "run=r,size=n", "--columns: lacks submit, or start and wait"),
        ("s,r,n\n", "run=r,submit=s", "--columns: lacks size or used"),
        ("s,r,n\n", "", "--columns"),
        ('s,r,n\n1,"' + "x\n" * 101, "submit=s,run=r,size=n", "line 2: begins a row of over 100 lines: a quote is not"),
    ],
)
def test_tables_are_checked(text: str, columns: str, rule: str, tmp_path: Path) -> None:
    """One line with file, place and rule."""
    with pytest.raises(WorkloadError) as error:
        read(tmp_path, text, *filter(None, [columns]))
    assert rule in str(error.value)


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("x,5,1,a", "column s must be a date like 2024-05-31 08:00:00, or a number of seconds, not 'x'"),
        ("-5,5,1,a", "column s must not be negative, not '-5'"),
        ("0,5,1.5,a", "column n must be a whole number up to 1e9, not '1.5'"),
        ("0,1e99,1,a", "column r must be at most 60000000000 s"),
        ("0,5,1", "must have 4 cells as the first line, not 3"),
        ('0,5,1,"a,b"', "column i must have no comma"),
    ],
)
def test_wrong_rows_are_dropped_and_counted_or_refused(row: str, rule: str, tmp_path: Path) -> None:
    """With --strict they are errors, with the line."""
    text, columns = f"s,r,n,i\n{row}\n0,5,1,good\n", "submit=s,run=r,size=n,id=i"
    log = read(tmp_path, text, columns)
    assert log.dropped == {"dropped_row": 1}
    assert [line for line in lines(log) if rule in line and "(line 2" in line]
    with pytest.raises(WorkloadError) as error:
        read(tmp_path, text, columns, strict=True)
    assert "line 2: " in str(error.value)
    assert rule in str(error.value)


def test_ids_are_unique(tmp_path: Path) -> None:
    """The first row of an id is kept."""
    text, columns = "s,r,n,i\n0,5,1,a\n1,6,1,a\n", "submit=s,run=r,size=n,id=i"
    assert read(tmp_path, text, columns).dropped == {"dropped_duplicate": 1}
    with pytest.raises(WorkloadError, match="line 3: job a is there twice"):
        read(tmp_path, text, columns, strict=True)


def test_jobs_are_limited(tmp_path: Path) -> None:
    """The rule names the limit."""
    with pytest.raises(WorkloadError, match="jobs"):
        read(tmp_path, "s,r,n\n0,5,1\n0,5,1\n", "submit=s,run=r,size=n", limits=Limits(jobs=1))


CELLS = st.one_of(
    st.sampled_from(["", "0", "5", "-1", "x", "NULL", "2024-05-31 08:00", "1:00", "COMPLETED", "RUNNING", "é", '"']),
    st.integers(0, 10**6).map(str),
    st.text(max_size=3),
)


@settings(max_examples=thorough(100), deadline=None)
@given(
    st.lists(st.sampled_from(QUANTITIES), unique=True, max_size=8),
    st.lists(st.lists(CELLS, max_size=9), max_size=6),
    st.integers(0, 3),
)
def test_no_row_and_no_column_disappears(
    tmp_path_factory: pytest.TempPathFactory, quantities: list[str], rows: list[list[str]], others: int
) -> None:
    """Rows are kept or counted, and the columns that are not read are named."""
    wanted = [*dict.fromkeys([*quantities, "submit", "run", "size"])]
    names = [*(f"c{place}" for place in range(len(wanted))), *(f"other{place}" for place in range(others))]
    quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows if any(row)]
    columns = ",".join(f"{quantity}={name}" for quantity, name in zip(wanted, names, strict=False))
    text = "\n".join([",".join(names), *quoted]) + "\n"
    log = read(tmp_path_factory.mktemp("t"), text, columns)
    try:
        _, report = clean(log, CleaningRules(hosts=4))
    except InputError:  # no job is kept
        assert len(log.records) + sum(log.dropped.values()) == len(quoted)
    else:
        assert report.jobs == len(quoted)
        assert report.kept + sum(count for rule, count in report.applied() if rule.takes) == report.rows
    said = " ".join(lines(log))
    assert all(f"other{place}" in said for place in range(others))

"""Tables of jobs in Parquet: types of cells, groups of rows, damaged files, and that nothing disappears unsaid."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import ExtraError, InputError, WorkloadError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.traces.cleaning import CleaningRules, clean
from batsched_py.traces.formats import PARQUET, ReadOptions, find_format
from batsched_py.traces.parquet_cells import TypeRuleError, texts_of
from batsched_py.traces.parquet_pages import PageHeader, PageRuleError
from batsched_py.traces.swf_log import SwfLog
from batsched_py.traces.table_presets import chosen_columns
from tests.public_samples import SAMPLES, eagle, in_parquet
from tests.thoroughness import thorough

PLAIN_NAMES = ("s", "r", "n")
PLAIN = "submit=s,run=r,size=n"
NOON = datetime(2024, 5, 31, 12)


def read(folder: Path, content: bytes, *columns: str, **options: Any) -> SwfLog:
    """The log of a table."""
    path = folder / "t.parquet"
    path.write_bytes(content)
    log = PARQUET.read(path, ReadOptions(columns=chosen_columns(columns), **options))
    assert isinstance(log, SwfLog)
    return log


def lines(log: SwfLog) -> list[str]:
    """The lines on a log, without the name of its file."""
    return [line.partition("t.parquet: ")[2] for line in log.notes]


def test_jobs_of_marconi100_have_limits_in_minutes(tmp_path: Path) -> None:
    """Dates have an offset, a job that waits is counted, and a column of lists is named."""
    log = read(tmp_path, SAMPLES["pm100"], demands=True)
    assert find_format(tmp_path / "t.parquet") is PARQUET
    assert [(one.submit, one.wait, one.run, one.requested_time, one.status) for one in log.records] == [
        (0, 600, 3000, 3600, 1),
        (600, 0, 3600, 3600, 0),
    ]
    assert log.start is not None
    assert log.start.isoformat() == "2021-04-01T00:00:00+00:00"
    assert log.dropped == {"dropped_going_on": 1}
    assert log.places == {"dropped_going_on": ("row 3",)}
    assert log.members[1] == {"user": 5, "group": 7, "partition": 1, "qos": 0}
    assert log.columns is not None
    assert (log.columns.preset, log.columns.unread) == ("pm100", ("power_consumption",))
    workload, _ = clean(log, CleaningRules(demands=True))
    assert [job.extra["demand"] for job in workload.jobs] == [{"gpus": 4, "spread": True}, {"gpus": 1, "spread": True}]


def test_jobs_of_fugaku(tmp_path: Path) -> None:
    """Requested times have no documented unit, which is said."""
    log = read(tmp_path, SAMPLES["f-data"], zone="Asia/Tokyo")
    assert [(one.submit, one.wait, one.run, one.requested_processors, one.status) for one in log.records] == [
        (0, 600, 3600, 384, 1),
        (60, 0, 60.5, 1, 0),
        (120, 60, 60, 2, 1),
    ]
    assert log.start is not None
    assert log.start.isoformat() == "2021-03-31T15:00:00+00:00"
    assert "requested times (elpl) are not read: their unit is not documented" in lines(log)


def test_jobs_of_kestrel_have_durations(tmp_path: Path) -> None:
    """A time zone of the file is that of its dates, whatever the option says."""
    log = read(tmp_path, SAMPLES["kestrel"], zone="Europe/Paris")
    (record,) = log.records
    assert (record.wait, record.run, record.requested_time, record.requested_processors) == (60, 3600, 3600, 2)
    assert log.start is not None
    assert log.start.isoformat() == "2021-04-01T00:00:00+00:00"
    assert (log.dropped, len(log.cancelled)) == ({}, 1)


def test_jobs_of_eagle(tmp_path: Path) -> None:
    """One ended; the others never started, or still run."""
    log = read(tmp_path, eagle())
    assert [(log.names[one.number], one.run, one.requested_time) for one in log.records] == [("1", 600, 600)]
    assert (log.dropped, len(log.cancelled)) == ({"dropped_going_on": 1}, 1)


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        ([1, None], ["1", ""]),
        ([2.0, float("nan"), None], ["2", "", ""]),
        ([2.0, 0.5], ["2", "0.5"]),
        ([Decimal("3.00"), None], ["3", ""]),
        ([Decimal("3.50")], ["3.50"]),
        (["x", None], ["x", ""]),
        ([b"x"], ["x"]),
        ([True, False], ["true", "false"]),
        ([None], [""]),
        ([date(2024, 5, 31)], ["2024-05-31"]),
        ([time(1, 2, 3)], ["01:02:03.000000"]),
        ([timedelta(seconds=90), timedelta(microseconds=250_000), None], ["90", "0.250000", ""]),
        ([NOON, None], ["2024-05-31 12:00:00", ""]),
        ([NOON.replace(microsecond=5)], ["2024-05-31 12:00:00.000005"]),
        (pyarrow.array([NOON], pyarrow.timestamp("ns", "Europe/Paris")), ["2024-05-31 12:00:00Z"]),
        (pyarrow.array(["x", None, "x"]).dictionary_encode(), ["x", "", "x"]),
    ],
)
def test_cells_of_all_types_become_texts(cells: Any, texts: Sequence[str]) -> None:
    """In the forms of tables in CSV; missing cells are empty."""
    assert texts_of(cells if isinstance(cells, pyarrow.Array) else pyarrow.array(cells), LIMITS) == texts


def test_lists_are_no_cells(tmp_path: Path) -> None:
    """The error names the column and its type."""
    with pytest.raises(TypeRuleError, match="list"):
        texts_of(pyarrow.array([[1]]), LIMITS)
    with pytest.raises(WorkloadError, match="column n: must have numbers, texts, dates or durations, not list"):
        read(tmp_path, in_parquet({"s": [0], "r": [5], "n": [[1]]}), PLAIN)


def test_wrong_rows_are_named_across_groups_of_rows(tmp_path: Path) -> None:
    """Rows count from 1 in the whole file."""
    content = in_parquet({"s": [0, 1, 2, 3], "r": [5] * 4, "n": [1.0, 2.0, 3.0, 1.5]}, rows=1)
    log = read(tmp_path, content, PLAIN)
    assert len(log.records) == 3
    assert log.places["dropped_row"][0].startswith("row 4: column n must be a whole number")
    with pytest.raises(WorkloadError, match="row 4: column n"):
        read(tmp_path, content, PLAIN, strict=True)


def test_files_of_several_months_are_one_log(tmp_path: Path) -> None:
    """A job that is in both counts once; places name the second file."""
    second = tmp_path / "second"
    second.write_bytes(in_parquet({"s": [1, 9], "r": [5, 5], "n": [1, 1], "i": ["a", "b"]}))
    content = in_parquet({"i": ["a"], "s": [0], "r": [5], "n": [2]})
    log = read(tmp_path, content, f"{PLAIN},id=i", further=(second,))
    assert [(log.names[one.number], one.submit) for one in log.records] == [("a", 0), ("b", 9)]
    assert log.places == {"dropped_duplicate": ("second, row 1",)}


@pytest.mark.parametrize(
    ("content", "columns", "rule"),
    [
        (b"x", PLAIN, "is not in Parquet; if it is compressed as a whole, decompress it first"),
        (b"PAR1", PLAIN, "cannot be read as Parquet: "),
        (b"PAR1" * 9, PLAIN, "cannot be read as Parquet: "),
        (in_parquet({"a": [1]}), "", "columns: has columns of unknown meaning"),
        (in_parquet({"a": [1]}), PLAIN, "columns: has no column 'n'"),
        (SAMPLES["pm100"][:-200] + SAMPLES["pm100"][-100:], "", "cannot be read as Parquet: "),
    ],
)
def test_other_files_are_refused(content: bytes, columns: str, rule: str, tmp_path: Path) -> None:
    """In one line with the file."""
    with pytest.raises(WorkloadError) as error:
        read(tmp_path, content, *filter(None, [columns]))
    assert rule in str(error.value)
    assert str(error.value).startswith(str(tmp_path))
    assert "\n" not in str(error.value)


def test_repeated_values_count_for_the_limit(tmp_path: Path) -> None:
    """A million equal cells take a few bytes."""
    content = in_parquet({"s": [0] * 1000, "r": [5] * 1000, "n": [1] * 1000}, rows=1000)
    with pytest.raises(WorkloadError, match="bytes"):
        read(tmp_path, content, PLAIN, limits=Limits(file_size=63_999))
    with pytest.raises(WorkloadError, match="jobs"):
        read(tmp_path, content, PLAIN, limits=Limits(jobs=999))


#: A pool that knows the most bytes that pyarrow used in it. It is kept, as pyarrow's objects may outlive a test.
POOL = pyarrow.proxy_memory_pool(pyarrow.default_memory_pool())


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """Bytes that pyarrow used at most while its pool was this one."""
    usual = pyarrow.default_memory_pool()
    yield POOL.max_memory
    pyarrow.set_memory_pool(usual)


LONG = "x" * 1_000_000
FEW = {"s": [0] * 50, "r": [5] * 50, "n": [1] * 50}


@pytest.mark.parametrize(
    ("cells", "options", "rule"),
    [
        ([LONG] * 50, {}, "must be at most 40000000 bytes (--limit file-size=N allows more)"),
        ([b"x" + LONG.encode()] * 50, {}, "column i: must be at most 1000000 bytes in a line"),
        ([LONG] * 50, {"use_dictionary": False}, "must be at most 40000000 bytes (--limit file-size=N allows more)"),
        (
            [f"{LONG}{at}" for at in range(50)],
            {"use_dictionary": False},
            "column i: must be at most 1000000 bytes in a",
        ),
        (
            [f"{'x' * 3_000_000}{at}" for at in range(50)],
            {"use_dictionary": False, "data_page_size": 1 << 30},
            "column i: must have pages of at most 128000000 bytes, not 150000296",
        ),
        (
            [f"{LONG}{at}" for at in range(50)],
            {"use_dictionary": False, "column_encoding": {"i": "DELTA_BYTE_ARRAY"}},
            "column i: must not have the encoding DELTA_BYTE_ARRAY, whose texts may be of any length",
        ),
        (pyarrow.array([b"x" * 65] * 50, pyarrow.binary(65)), {}, "column i: must have numbers, texts, dates or dur"),
    ],
)
def test_a_small_file_takes_little_memory(
    cells: Any, options: dict[str, Any], rule: str, peak: Callable[[], int], tmp_path: Path
) -> None:
    """A value that repeats, a page that grows and an encoding by differences would take 50 times their size or more."""
    target = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({**FEW, "i": cells}), target, compression="zstd", **options)
    content = target.getvalue()
    assert len(content) < 100_000
    pyarrow.set_memory_pool(POOL)
    with pytest.raises(WorkloadError) as error:
        read(tmp_path, content, f"{PLAIN},id=i", limits=Limits(file_size=40_000_000, line_size=1_000_000))
    assert rule in str(error.value)
    assert peak() < 60_000_000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("kind", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view(), pyarrow.binary()])
def test_texts_are_the_same_from_any_pages(kind: pyarrow.DataType, version: str, tmp_path: Path) -> None:
    """In dictionaries or plain, over groups of rows, with missing ones."""
    users = [None if at % 7 == 3 else f"user {at % 5}é" for at in range(60)]
    texts = {"i": [f"job {at}" for at in range(60)], "u": users}
    table = pyarrow.table({name: pyarrow.array(cells, kind) for name, cells in texts.items()})
    for name in PLAIN_NAMES:
        table = table.append_column(name, pyarrow.array([1] * 60))
    for use_dictionary in (True, False):
        target = io.BytesIO()
        pyarrow.parquet.write_table(
            table,
            target,
            row_group_size=25,
            use_dictionary=use_dictionary,
            data_page_version=version,
            data_page_size=50,
        )
        log = read(tmp_path, target.getvalue(), f"{PLAIN},id=i,user=u")
        assert [log.names[one.number] for one in log.records] == texts["i"]
        assert [log.members.get(one.number, {}).get("user") for one in log.records] == users


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"", "the file ends within the header of a page"),
        (b"\0", "the header of a page has no size"),
        (b"\x25" + b"\xff" * 20, "a number of the header of a page has more than 64 bits"),
        (b"\x1c" * 20, "the header of a page is nested more than 8 levels deep"),
        (b"\x1b\x00", "the header of a page has a member of the unknown type 11"),
        (b"\x18\xff\xff\xff\x7f", "the header of a page has more than 4000000 bytes"),
    ],
)
def test_damaged_headers_of_pages_are_refused(content: bytes, rule: str) -> None:
    """Each in one line; a length that a header claims is not read."""
    with pytest.raises(PageRuleError, match=rule):
        PageHeader(io.BytesIO(content)).whole(2)


def test_pyarrow_is_an_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it one line says what to install."""
    monkeypatch.setattr("batsched_py.loading.find_spec", lambda name: None)
    assert importlib.util.find_spec("pyarrow") is not None
    with pytest.raises(ExtraError, match=r'files in Parquet: needs pyarrow: pip install "\.\[parquet\]"'):
        read(tmp_path, SAMPLES["pm100"])


COLUMNS = st.one_of(
    st.lists(st.none() | st.integers(-1, 10**6), min_size=5, max_size=5),
    st.lists(st.none() | st.floats(), min_size=5, max_size=5),
    st.lists(st.none() | st.datetimes(datetime(1970, 1, 2), datetime(2500, 1, 1)), min_size=5, max_size=5),
    st.lists(st.none() | st.timedeltas(timedelta(0), timedelta(10_000)), min_size=5, max_size=5),
    st.lists(st.none() | st.text(max_size=3), min_size=5, max_size=5),
)


@settings(max_examples=thorough(50), deadline=None)
@given(st.lists(COLUMNS, min_size=3, max_size=6), st.integers(1, 5))
def test_no_row_and_no_column_disappears(
    tmp_path_factory: pytest.TempPathFactory, columns: list[list[Any]], group: int
) -> None:
    """Rows are kept or counted, and the columns that are not read are named."""
    named = dict(zip(["s", "r", "n", "other0", "other1", "other2"], columns, strict=False))
    log = read(tmp_path_factory.mktemp("t"), in_parquet(named, group), PLAIN)
    try:
        _, report = clean(log, CleaningRules(hosts=4))
    except InputError:  # no job is kept
        assert len(log.records) + sum(log.dropped.values()) == 5
    else:
        assert report.jobs == 5
        assert report.kept + sum(count for rule, count in report.applied() if rule.takes) == report.rows
    said = " ".join(lines(log))
    assert all(name in said for name in list(named)[3:])

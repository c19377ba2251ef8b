"""Logs in the Standard Workload Format."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batsched_py.errors import WorkloadError
from batsched_py.traces.swf import read_swf
from batsched_py.traces.swf_log import SwfLog, SwfRecord
from tests.thoroughness import thorough

LINE = "1 10 -1 97 4 -1 -1 8 120 -1 1 7 3 -1 -1 -1 -1 -1"


def read(tmp_path: Path, text: str | bytes) -> SwfLog:
    """The log of this text."""
    path = tmp_path / "log.swf"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_swf(path)


def test_record(tmp_path: Path) -> None:
    """A line is a job, whose fields have names."""
    (record,) = read(tmp_path, LINE).records
    assert (record.number, record.submit, record.run, record.used_processors) == (1, 10, 97, 4)
    assert (record.requested_processors, record.requested_time, record.status, record.user) == (8, 120, 1, 7)


def test_headers(tmp_path: Path) -> None:
    """Comments of the form "Key: value" are headers; a key that comes again adds a line; other comments are nothing."""
    log = read(tmp_path, f"; Version: 2.2\n;MaxProcs: 100\n; Note: a\n; Note: b\n;\n; just words\n{LINE}\n")
    assert log.headers == {"Version": "2.2", "MaxProcs": "100", "Note": "a\nb"}


@pytest.mark.parametrize(
    ("headers", "size"),
    [
        ("; MaxProcs: 100\n; MaxNodes: 50\n", 100),
        ("; MaxNodes: 50\n", 50),
        ("; MaxProcs: -1\n; MaxNodes: 50\n", 50),
        ("; MaxProcs: 128 (of which 8 interactive)\n", 128),
        ("; MaxProcs: 100\n; MaxNodes: unknown\n", 100),
        ("; MaxProcs:\n; MaxNodes: 0\n", 0),
        ("", 0),
    ],
)
def test_machine_size(tmp_path: Path, headers: str, size: int) -> None:
    """The machine has MaxProcs processors, else MaxNodes."""
    assert read(tmp_path, headers + LINE).machine_size == size


def test_compressed_log(tmp_path: Path) -> None:
    """A log compressed by gzip is known by its first bytes, whatever its name."""
    assert read(tmp_path, gzip.compress(LINE.encode(), mtime=0)).records == read(tmp_path, LINE).records


def test_fractions(tmp_path: Path) -> None:
    """Times may be fractions; a whole number that is written as one stays whole."""
    (record,) = read(tmp_path, LINE.replace("97", "97.5").replace(" 8 ", " 8.0 ")).records
    assert record.run == 97.5
    assert record.requested_processors == 8
    assert isinstance(record.requested_processors, int)


def test_blank_lines_and_endings(tmp_path: Path) -> None:
    """Blank lines, tabs and the line ends of other systems do not matter."""
    assert len(read(tmp_path, f"\r\n{LINE}\r\n\n  {LINE.replace(' ', chr(9))}  \r\n").records) == 2


def test_headers_in_any_encoding(tmp_path: Path) -> None:
    """A header that is not UTF-8 does not stop the reading."""
    assert len(read(tmp_path, b"; Installation: Universit\xe9\n" + LINE.encode()).records) == 1


def test_more_fields_than_the_format_has(tmp_path: Path) -> None:
    """Archives append fields of their own, of any kind: the first 18 are read, and the lines are counted."""
    log = read(tmp_path, f"{LINE}\n{LINE} 7\n{LINE} -1 gpu\n")
    assert [record == log.records[0] for record in log.records] == [True, True, True]
    assert log.long_lines == 2


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("MaxProcs: abc", "header MaxProcs: must begin with a whole number of processors, not 'abc'; --hosts says"),
        ("MaxProcs: 1,152", "header MaxProcs: must begin with a whole number of processors, not '1,152'"),
        ("MaxNodes: 1.5", "header MaxNodes: must begin with a whole number of processors, not '1.5'"),
        ("MaxProcs: 12345678901", "header MaxProcs: must begin with a whole number of processors"),
    ],
)
def test_a_machine_size_that_is_none(tmp_path: Path, header: str, message: str) -> None:
    """It is refused when it is asked for: silently, no job would be too large."""
    log = read(tmp_path, f"; Version: 2.2\n; {header}\n{LINE}")
    with pytest.raises(WorkloadError, match=rf"log\.swf: line 2, {message}"):
        _ = log.machine_size


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 2 3", r"must have 18 fields, not 3"),
        (LINE.replace("97", "x"), r"field 4 \(run\) must be a number, not 'x'"),
        (LINE.replace("97", "nan"), r"field 4 \(run\) must be finite, not 'nan'"),
        (LINE.replace(" 8 ", " 8.5 "), r"field 8 \(requested_processors\) must be a whole number, not '8\.5'"),
        (LINE.replace("97", "1e300"), r"field 4 \(run\) must be at most 60000000000 s, .* not 1e300"),
        (LINE.replace("120", "60000000001"), r"field 9 \(requested_time\) must be at most 60000000000 s"),
        ("-" + LINE, r"field 1 \(number\) must not be negative, as -1 is"),
    ],
)
def test_malformed_line(tmp_path: Path, line: str, message: str) -> None:
    """A line that breaks the format is named by its number."""
    with pytest.raises(WorkloadError, match=rf"log\.swf: line 3: {message}"):
        read(tmp_path, f"; Version: 2.2\n{LINE}\n{line}\n")


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is named."""
    with pytest.raises(WorkloadError, match=r"none\.swf: cannot be read: No such file"):
        read_swf(tmp_path / "none.swf")


@pytest.mark.parametrize("content", [gzip.compress(LINE.encode(), mtime=0)[:-9], b"\x1f\x8bnot gzip"])
def test_broken_compression(tmp_path: Path, content: bytes) -> None:
    """A compressed log that is cut or corrupt is refused."""
    with pytest.raises(WorkloadError, match=r"log\.swf: cannot be decompressed"):
        read(tmp_path, content)


def _outcome(tmp_path: Path, text: str) -> object:
    """The log of a text, or the error."""
    try:
        log = read(tmp_path, text)
        return log, list(map(repr, log.records))  # 1 and 1.0 are equal
    except WorkloadError as error:
        return str(error)


#: Fields that are numbers, nearly numbers, or numbers at a limit; and what stands between fields and ends lines.
FIELD = st.one_of(
    st.integers(-2, 300).map(str),
    st.sampled_from(
        ["-0", "007", "-", "1.0", "1e3", "2.5", "1_000", "+4", "x", "\u0663", "-1-1", "", "5,5", "6;", "nan"]
    ),
    st.integers(2**53 - 2, 2**53 + 2).map(str),
    st.sampled_from([str(2**63), str(2**64 - 1), str(2**64), "9" * 30, str(10**16)]),
)
GAP = st.sampled_from([" ", " ", " ", "  ", "\t", "\r", "\x0b", "\u00a0", ",", "],["])
END = st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n", "\n ", "\x0c\n", "\n; Note: a\n", ""])
PLAIN = LINE.split()


@st.composite
def hostile_lines(draw: st.DrawFn) -> str:
    """Lines of which a few fields, gaps and ends are unusual."""
    text = ""
    for _ in range(draw(st.integers(1, 4))):
        fields = list(PLAIN)
        for place in draw(st.lists(st.integers(0, len(fields) - 1), max_size=2)):
            fields[place] = draw(FIELD)
        if draw(st.integers(0, 5)) == 5:
            fields = fields[: draw(st.integers(1, len(fields)))] + draw(st.lists(FIELD, max_size=2))
        gaps = [" "] * len(fields)
        if draw(st.booleans()):
            gaps[draw(st.integers(0, len(gaps) - 1))] = draw(GAP)
        text += "".join(field + gap for field, gap in zip(fields, gaps, strict=True)).removesuffix(" ") + draw(END)
    return text


@settings(max_examples=thorough(100))
@given(hostile_lines())
def test_lines_read_together_are_as_lines_read_alone(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """A field with a sign lets all lines be read one by one, with the same records, notes and errors."""
    tmp_path, first = tmp_path_factory.getbasetemp(), f"{LINE}\n"
    assert _outcome(tmp_path, first + text) == _outcome(tmp_path, f"+{first}" + text)


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-1, 10**8), *[st.integers(-1, 10**9)] * 16), max_size=5))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, ...]]) -> None:
    """Jobs that are written as 18 numbers a line are read again."""
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    assert read(tmp_path_factory.mktemp("swf"), text).records == tuple(SwfRecord._make(row) for row in rows)


@pytest.mark.parametrize(
    ("headers", "start"),
    [
        ({"UnixStartTime": "843472800"}, "1996-09-23T10:00:00+00:00"),
        ({"UnixStartTime": "843472800", "TimeZone": "7200"}, "1996-09-23T12:00:00+02:00"),
        ({"UnixStartTime": "843472800 (a Monday)", "TimeZone": "-99999999"}, "1996-09-23T10:00:00+00:00"),
        ({"UnixStartTime": "0"}, None),
        ({"UnixStartTime": "-1"}, None),
        ({"UnixStartTime": "99999999999"}, None),
        ({"UnixStartTime": "unknown", "TimeZone": "7200"}, None),
        ({}, None),
    ],
)
def test_the_date_of_a_log(headers: dict[str, str], start: str | None) -> None:
    """By UnixStartTime, with the offset of TimeZone; whatever else stands there is an unknown one."""
    found = SwfLog("a test", headers, ()).start
    assert (found and found.isoformat()) == start

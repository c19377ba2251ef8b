"""Recordings survive what happens to them: any bytes, a killed process, another program's format."""

from __future__ import annotations

from pathlib import Path

import pytest

from batsched_py.errors import TranscriptError
from batsched_py.transcripts.header import Header
from batsched_py.transcripts.recorder import Recorder
from batsched_py.transcripts.transcript import Exchange, Transcript

HEADER = Header("easy", {"reserve": "hosts", "depth": 2}, "fixed:0.5")
BATSIM_0 = '{"seq": 0, "from": "batsim", "bytes": "a"}\n'
SCHEDULER_0 = '{"seq": 0, "from": "scheduler", "bytes": "b"}\n'


def read(path: Path, told: list[str] | None = None) -> list[Exchange]:
    return list(Transcript(path, ([] if told is None else told).append))


def test_what_was_recorded_is_read_back(tmp_path: Path) -> None:
    """Header and bytes, in order; the folder is made if it is not there."""
    path = tmp_path / "new" / "run.jsonl"
    with Recorder(path, HEADER) as recorder:
        recorder.record(b'{"now": 0.000000}', b"{}")
        recorder.record('"é\\u0000'.encode(), b"")
    assert Transcript(path, pytest.fail).header == HEADER
    assert read(path) == [Exchange(0, b'{"now": 0.000000}', b"{}"), Exchange(1, '"é\\u0000'.encode(), b"")]


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    """A broken peer may send anything, and that is when one wants to see it."""
    everything = bytes(range(256))
    with Recorder(tmp_path / "run.jsonl", HEADER) as recorder:
        recorder.record(everything, b"\xed\xa0\x80")
    assert read(tmp_path / "run.jsonl") == [Exchange(0, everything, b"\xed\xa0\x80")]


def test_each_exchange_is_in_the_file_when_it_is_recorded(tmp_path: Path) -> None:
    """A process that is killed leaves all it had recorded."""
    path = tmp_path / "run.jsonl"
    with Recorder(path, HEADER) as recorder:
        assert read(path) == []
        recorder.record(b"a", b"b")
        assert read(path) == [Exchange(0, b"a", b"b")]


def test_a_torn_last_line_is_told_and_the_rest_is_usable(tmp_path: Path) -> None:
    """At whatever byte the file breaks off, the exchanges before it are read, and what is lost is told."""
    path = tmp_path / "run.jsonl"
    exchange = (BATSIM_0 + SCHEDULER_0).encode()
    following = exchange.replace(b"0", b"1")
    for length in range(1, len(exchange) + 1):
        path.write_bytes(HEADER.to_line() + exchange + following[:length])
        told: list[str] = []
        exchanges = read(path, told)
        complete = length >= len(exchange) - 1  # the end of the line may be missing
        assert exchanges == [Exchange(number, b"a", b"b") for number in range(2 if complete else 1)]
        assert bool(told) is not complete
        assert all(str(path) in line for line in told)


def test_a_recording_of_another_program_has_no_header(tmp_path: Path) -> None:
    """Messages only, under the same keys."""
    path = tmp_path / "foreign.jsonl"
    path.write_text(BATSIM_0 + SCHEDULER_0)
    assert Transcript(path, pytest.fail).header is None
    assert read(path) == [Exchange(0, b"a", b"b")]


def test_members_that_a_later_version_adds_are_passed_over(tmp_path: Path) -> None:
    """As long as its version number says that older programs can read it."""
    path = tmp_path / "later.jsonl"
    path.write_text('{"format": "batsched-py transcript", "version": 1, "algorithm": "fcfs", "mood": "good"}\n')
    header = Transcript(path, pytest.fail).header
    assert header is not None
    assert header.algorithm == "fcfs"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: holds no complete line"),
        ('{"format": "batsched-py transcript", "ver', "line 1: holds no complete line"),
        ('{"format": "poem"}\n', "line 1: format: must be 'batsched-py transcript', not 'poem'"),
        ('{"format": "batsched-py transcript", "version": 2}\n', "line 1: version: must be at most 1"),
        ('{"format": "batsched-py transcript", "version": 1, "options": []}\n', "line 1: options: must be an object"),
        ('{"format": "batsched-py transcript", "version": 1, "clock": 5}\n', "line 1: clock: must be a string"),
        ("nonsense\n", "line 1: must be JSON"),
        ("[]\n", "line 1: must be an object"),
        (BATSIM_0 + "{torn\n" + SCHEDULER_0, "line 2: must be JSON"),
        (BATSIM_0 + BATSIM_0, "line 2: from: must be scheduler, whose turn it is, not batsim"),
        (SCHEDULER_0, "line 1: from: must be batsim"),
        (BATSIM_0 + SCHEDULER_0.replace("0", "7"), "line 2: seq: must be 0, its request's, not 7"),
        (BATSIM_0.replace("0", "1"), "line 1: seq: must be 0, it counts the exchanges from 0 without a gap, not 1"),
        (BATSIM_0 + SCHEDULER_0 + BATSIM_0.replace("0", "2"), "line 3: seq: must be 1, it counts the exchanges"),
        (BATSIM_0 + SCHEDULER_0 + BATSIM_0, "line 3: seq: must be 1, it counts the exchanges"),
        (BATSIM_0.replace("0", '"0"'), "line 1: seq: must be the number of the exchange, not '0'"),
        (BATSIM_0.replace("batsim", "simgrid"), "line 1: from: must be batsim or scheduler, not 'simgrid'"),
        (BATSIM_0.replace("bytes", "text"), "line 1: bytes: must be the message as a string"),
        (BATSIM_0.replace("bytes", "base64"), "line 1: base64: "),
        (BATSIM_0 + SCHEDULER_0 + '{"format": "batsched-py transcript", "version": 1}\n', "line 3: the header must be"),
    ],
)
def test_a_wrong_transcript_is_refused(tmp_path: Path, content: str, message: str) -> None:
    """The error names the file, the line and the rule."""
    path = tmp_path / "wrong.jsonl"
    path.write_text(content)
    with pytest.raises(TranscriptError) as caught:
        read(path)
    assert f"{path}: {message}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    """A folder is no transcript, and a file is no folder."""
    with pytest.raises(TranscriptError, match=r"cannot be read: Is a directory"):
        read(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(TranscriptError, match="cannot be written"):
        Recorder(tmp_path / "file" / "run.jsonl", HEADER)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_told() -> None:
    """At the first exchange that does not fit."""
    with pytest.raises(TranscriptError, match="/dev/full: cannot be written: No space left on device"):
        Recorder(Path("/dev/full"), HEADER)

"""Recordings survive what happens to them: any bytes, a killed process, another program's format."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from batsched_py.errors import TranscriptError
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import GATHERED, Recorder
from batsched_py.transcripts.transcript import Exchange, Transcript

HEADER = Header("easy", {"reserve": "hosts", "depth": 2}, "fixed:0.5")
BATSIM_0 = '{"seq": 0, "from": "batsim", "bytes": "a"}\n'
SCHEDULER_0 = '{"seq": 0, "from": "scheduler", "bytes": "b"}\n'


#: What zlib writes when all that it was given can be read: here first after the header.
SYNC = b"\x00\x00\xff\xff"


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


def test_messages_that_are_json_stand_as_they_are(tmp_path: Path) -> None:
    """Byte for byte, blanks and digits too; on more than one line they are wrapped like any other text."""
    exchanges = [(b'{ "now": 1.50, "message":"\\u00e9}" }', b"{}"), (b'{"now":\n1}', b'[{"message":[]}]')]
    path = tmp_path / "run.jsonl"
    with Recorder(path, HEADER) as recorder:
        for request, reply in exchanges:
            recorder.record(request, reply, is_json=True)
    assert [(exchange.request, exchange.reply) for exchange in read(path)] == exchanges
    lines = path.read_bytes().splitlines()
    assert lines[1] == b'{"seq":0,"from":"batsim","message":' + exchanges[0][0] + b"}"
    assert len(lines) == 5


def test_a_message_that_is_not_last_is_refused(tmp_path: Path) -> None:
    """It could not be had byte for byte."""
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"seq": 0, "message": {}, "from": "batsim"}\n' + SCHEDULER_0.encode())
    with pytest.raises(TranscriptError, match="message: must be the last member"):
        read(path)


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


def test_members_that_a_later_version_adds_are_told_once(tmp_path: Path) -> None:
    """As long as its version number says that older programs can read it."""
    path, warnings = tmp_path / "later.jsonl", list[str]()
    message = '{"seq": %d, "from": "%s", "host": "n1", "bytes": "x"}\n'
    path.write_text(
        '{"format": "batsched-py transcript", "version": 1, "algorithm": "fcfs", "mood": "good"}\n'
        + "".join(message % (number, speaker) for number in range(2) for speaker in ("batsim", "scheduler"))
    )
    transcript = Transcript(path, warnings.append)
    assert transcript.header is not None
    assert transcript.header.algorithm == "fcfs"
    assert len(list(transcript)) == 2
    assert warnings == [
        f"{path}: member mood of a line is unknown and not read",
        f"{path}: member host of a line is unknown and not read",
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: holds no complete line"),
        ('{"format": "batsched-py transcript", "ver', "line 1: holds no complete line"),
        ('{"format": "poem"}\n', "line 1: format: must be 'batsched-py transcript', not 'poem'"),
        ('{"format": "batsched-py transcript", "version": 2}\n', "line 1: version: must be at most 1"),
        ('{"format": "batsched-py transcript", "version": 1, "options": []}\n', "line 1: options: must be an object"),
        ('{"format": "batsched-py transcript", "version": 1, "clock": 5}\n', "line 1: clock: must be a text"),
        ("nonsense\n", "line 1: is not a recording, which has a JSON object on each line"),
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
        (BATSIM_0.replace("bytes", "text"), "line 1: message: is missing; it, or bytes, must hold the message"),
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


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
@pytest.mark.parametrize("exchanges", [0, 1, GATHERED - 1, GATHERED, GATHERED + 1])
def test_gathered_exchanges_are_in_the_file_at_the_end(tmp_path: Path, name: str, exchanges: int) -> None:
    """Also those that no more came after, and when an error ended the run, whose refusal is written by itself."""
    said = [(b"%d" % number, b"{\n}" if number % 100 == 7 else b"{}") for number in range(exchanges)]
    recorder = Recorder(tmp_path / name, HEADER)
    for request, reply in said:
        recorder.gather(request, reply)
    said.append((b"\xff", b"no"))
    recorder.record(*said[-1])
    recorder.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert read(tmp_path / name) == [Exchange(number, *both) for number, both in enumerate(said)]


class Interrupted:
    """A file that takes one byte of what it is given, and is interrupted when it is given the rest."""

    def __init__(self, file: Any) -> None:
        self.file, self.writes = file, 0

    def write(self, content: bytes) -> int:
        self.writes += 1
        if self.writes == 2:
            raise KeyboardInterrupt
        return int(self.file.write(content[:1]))

    def close(self) -> None:
        self.file.close()


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_nothing_is_written_after_an_interruption_in_the_middle(tmp_path: Path, name: str) -> None:
    """It would stand in the middle of a line; what was recorded before stays readable."""
    path = tmp_path / name
    recorder = Recorder(path, HEADER)
    recorder.record(b"a", b"b")
    recorder._file = Interrupted(recorder._file)  # type: ignore[assignment]
    with pytest.raises(KeyboardInterrupt):
        recorder.record(b"c", b"d")
    with pytest.raises(TranscriptError, match=r"cannot be written: an earlier exchange was written in part"):
        recorder.record(b"e", b"f")
    recorder.close()
    assert read(path) == [Exchange(0, b"a", b"b")]


def test_what_is_gathered_is_bounded(tmp_path: Path) -> None:
    """A killed process loses fewer exchanges than that."""
    path = tmp_path / "run.jsonl"
    with Recorder(path, HEADER) as recorder:
        for number in range(3 * GATHERED - 1):
            recorder.gather(b"{}", b"{}")
            assert number + 1 - len(read(path)) < GATHERED


def test_a_compressed_recording_holds_the_same(tmp_path: Path) -> None:
    """Under a name that ends with .gz; it is read under any name, and is a gzip file for others."""
    for name in ("run.jsonl", "run.jsonl.gz"):
        with Recorder(tmp_path / name, HEADER) as recorder:
            for number in range(100):
                recorder.record(b'{"now": %d.000000}' % number, bytes(range(256)))
    plain, compressed = ((tmp_path / name).read_bytes() for name in ("run.jsonl", "run.jsonl.gz"))
    assert gzip.decompress(compressed) == plain
    assert len(compressed) < len(plain) / 5
    (tmp_path / "renamed").write_bytes(compressed)
    assert Transcript(tmp_path / "renamed", pytest.fail).header == HEADER
    assert read(tmp_path / "renamed") == read(tmp_path / "run.jsonl")


def test_a_compressed_recording_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    """It tells neither when nor under which name it was written."""
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        with Recorder(tmp_path / name, HEADER) as recorder:
            recorder.record(b"a", b"b")
    content = (tmp_path / "a.jsonl.gz").read_bytes()
    assert content == (tmp_path / "b.jsonl.gz").read_bytes()
    assert content[4:8] == bytes(4), "the time in the header of a gzip file"


def test_each_exchange_can_be_read_from_a_compressed_file_when_it_is_recorded(tmp_path: Path) -> None:
    """A process that is killed leaves all it had recorded; nothing is torn."""
    path = tmp_path / "run.jsonl.gz"
    with Recorder(path, HEADER) as recorder:
        assert list(Transcript(path, pytest.fail)) == []
        for number in range(5):
            recorder.record(b"a" * 1000, b"b")
            assert len(list(Transcript(path, pytest.fail))) == number + 1


def test_a_compressed_file_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    """At whatever byte: a prefix of the exchanges, and never fewer than with fewer bytes."""
    path = tmp_path / "run.jsonl.gz"
    with Recorder(path, HEADER) as recorder:
        for number in range(9):
            recorder.record(b"request %d" % number, b"reply %d" % number)
    whole, content = read(path), path.read_bytes()
    found = []
    for length in range(content.index(SYNC) + len(SYNC), len(content)):
        path.write_bytes(content[:length])
        exchanges = read(path)
        assert exchanges == whole[: len(exchanges)]
        found.append(len(exchanges))
    assert found == sorted(found)
    assert found[-1] == 9


def test_compressed_parts_may_follow_each_other(tmp_path: Path) -> None:
    """As `cat a.gz b.gz` makes them."""
    path = tmp_path / "run.jsonl.gz"
    parts = (HEADER.to_line() + BATSIM_0.encode(), SCHEDULER_0.encode())
    path.write_bytes(b"".join(gzip.compress(part) for part in parts))
    assert read(path) == [Exchange(0, b"a", b"b")]


def test_a_damaged_compressed_file_is_told(tmp_path: Path) -> None:
    """In one line, as anything else that cannot be read."""
    path = tmp_path / "run.jsonl.gz"
    content = bytearray(gzip.compress((BATSIM_0 + SCHEDULER_0).encode()))
    content[-5] ^= 1
    path.write_bytes(content)
    with pytest.raises(TranscriptError, match=r"run\.jsonl\.gz: is a damaged gzip file: "):
        read(path)


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_a_long_recording_is_never_in_memory_as_a_whole(tmp_path: Path, name: str) -> None:
    """Only some pieces of it."""
    path = tmp_path / name
    with Recorder(path, HEADER) as recorder:
        for _ in range(200):
            recorder.record(b"a" * 100_000, b"b")
    tracemalloc.start()
    try:
        assert sum(len(exchange.request) for exchange in Transcript(path, pytest.fail)) == 20_000_000
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a disk that is always full")
def test_a_full_disk_is_told() -> None:
    """At the first exchange that does not fit."""
    with pytest.raises(TranscriptError, match="/dev/full: cannot be written: No space left on device"):
        Recorder(Path("/dev/full"), HEADER)


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_is_closed_may_be_closed_again(tmp_path: Path, name: str) -> None:
    """`serve` closes it before the last reply leaves, and its context at the end."""
    with Recorder(tmp_path / name, Header(algorithm="fcfs")) as recorder:
        recorder.record(b"{}", b"{}")
        recorder.close()
    assert len(list(Transcript(tmp_path / name))) == 1

"""Files that are compressed, or in another encoding than UTF-8: told by their content, and read within bounds."""

from __future__ import annotations

import bz2
import codecs
import gzip
import lzma
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

from batsched_py.errors import ExtraError, InputError
from batsched_py.files.bounded_file import read_file, read_lines, read_messages, read_raw
from batsched_py.files.compression import DamageError, form_of
from batsched_py.haizea.ini import read_sections
from batsched_py.reading.limits import LIMITS, LimitError, Limits
from batsched_py.reporting.schedules.jobs_file import read_jobs
from batsched_py.text.encoding import EncodingError
from batsched_py.traces.batsim_json import read_workload
from batsched_py.traces.event_file import read_events
from batsched_py.traces.image_file import read_images
from batsched_py.traces.lwf import read_lwf
from batsched_py.traces.sacct import read_sacct
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.traces.swf import read_swf
from batsched_py.transcripts.transcript import Transcript
from tests.clone import ROOT
from tests.fuzz import targets
from tests.memory import measured

#: The module that compresses by zstd; None if there is none.
ZSTD: Any = None
with suppress(ImportError):
    ZSTD = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
needs_zstd = pytest.mark.skipif(ZSTD is None, reason="needs Python 3.14 or the extra zstd")

#: Form -> what compresses.
COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "xz": lzma.compress,
    "lzma": lambda content: lzma.compress(content, lzma.FORMAT_ALONE),
    "bzip2": bz2.compress,
}
if ZSTD is not None:
    COMPRESSORS["zstd"] = ZSTD.compress
#: Encoding -> what a text in it is, with its byte order mark.
ENCODED: dict[str, Callable[[bytes], bytes]] = {
    "utf-8": lambda content: codecs.BOM_UTF8 + content,
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "utf-16-be": lambda content: codecs.BOM_UTF16_BE + content.decode().encode("utf-16-be"),
    "utf-16 twice": lambda content: codecs.BOM_UTF16_LE * 2 + content.decode().encode("utf-16-le"),
    "utf-32": lambda content: content.decode().encode("utf-32"),
}
TEXT = "; Site: Universit\u00e9\n1 2\r\n\n3".encode()
GOLDEN = next((ROOT / "tests" / "data" / "batsim").glob("*/transcript.jsonl"))


def jobs_table() -> bytes:
    """The jobs of a recorded run."""
    return next((ROOT / "tests" / "data" / "batsim").glob("*/*_jobs.csv")).read_bytes()


#: Reader -> a content that it reads.
READERS: dict[str, tuple[Callable[[Path], object], Callable[[], bytes]]] = {
    "swf": (read_swf, lambda: targets.SWF),
    "sacct": (read_sacct, lambda: targets.SACCT),
    "events": (read_events, lambda: targets.EVENTS),
    "images": (read_images, lambda: targets.IMAGES),
    "table": (lambda path: read_jobs(path).jobs, jobs_table),
    "json": (read_workload, (ROOT / "workloads" / "first.json").read_bytes),
    "recording": (lambda path: list(Transcript(path)), GOLDEN.read_bytes),
    "ini": (lambda path: read_sections(path, LIMITS), lambda: b"[general]\nmode: simulated\n"),
    "lwf": (read_lwf, lambda: b'<?xml version="1.0"?>\n<lease-workload name="w"><lease-requests/></lease-workload>\n'),
    "platform": (read_platform, (ROOT / "platforms" / "cluster32.xml").read_bytes),
}


@pytest.mark.parametrize("form", COMPRESSORS)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_reads_what_is_compressed(tmp_path: Path, reader: str, form: str) -> None:
    """The form is told by the content, whatever the name of the file."""
    read, content = READERS[reader]
    path = tmp_path / "file"
    path.write_bytes(content())
    expected = repr(read(path))
    path.write_bytes(COMPRESSORS[form](content()))
    assert repr(read(path)) == expected


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("reader", [name for name in READERS if name not in ("lwf", "platform")])
def test_every_reader_of_text_obeys_a_byte_order_mark(tmp_path: Path, reader: str, encoding: str) -> None:
    """As editors of other systems write it."""
    read, content = READERS[reader]
    path = tmp_path / "file"
    path.write_bytes(content())
    expected = repr(read(path))
    path.write_bytes(ENCODED[encoding](content()))
    assert repr(read(path)) == expected


@pytest.mark.parametrize("reader", ["lwf", "platform"])
def test_xml_in_utf_16_declares_itself(tmp_path: Path, reader: str) -> None:
    """Its parser finds the encoding; a content that was encoded anew would contradict its declaration."""
    read, content = READERS[reader]
    path = tmp_path / "file"
    path.write_bytes(content())
    expected = repr(read(path))
    text = content().decode().replace('<?xml version="1.0"?>', "<?xml version='1.0' encoding='UTF-16'?>")
    for write in (bytes, gzip.compress):
        path.write_bytes(write(text.encode("utf-16")))
        assert repr(read(path)) == expected


@pytest.mark.parametrize("form", COMPRESSORS)
@pytest.mark.parametrize("encoding", ["", *ENCODED])
def test_compressed_and_encoded(tmp_path: Path, form: str, encoding: str) -> None:
    """Both at once; several compressed parts, and zeros at the end, are one content."""
    path, encoded = tmp_path / "file", ENCODED.get(encoding, bytes)(TEXT)
    half = len(encoded) // 2 + 1
    compress = COMPRESSORS[form]
    path.write_bytes(compress(encoded[:half]) + compress(encoded[half:]) + bytes(512))
    if form == "lzma":
        path.write_bytes(compress(encoded))
    assert read_file(path, LIMITS) == TEXT
    assert list(read_lines(path, LIMITS)) == list(read_messages(path, LIMITS)) == TEXT.splitlines(keepends=True)
    assert read_file(path, LIMITS, encoded=True) == encoded
    assert read_raw(path, LIMITS) == path.read_bytes()


@pytest.mark.parametrize("form", COMPRESSORS)
def test_what_breaks_off_or_is_damaged(tmp_path: Path, form: str) -> None:
    """A damaged file is refused; only a recording is read as far as it goes."""
    path, lines = tmp_path / "file", b"".join(b"%d\n" % (number * 7919) for number in range(40_000))
    whole = COMPRESSORS[form](lines)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DamageError, match=f"is a damaged {form} file: it breaks off"):
        read_file(path, LIMITS)
    read = b"".join(read_messages(path, LIMITS))
    assert lines.startswith(read)
    path.write_bytes(whole[:20] + bytes(60) + whole[80:])
    with pytest.raises(DamageError, match=f"is a damaged {form} file: "):
        read_file(path, LIMITS)
    path.write_bytes(whole[:12])
    with pytest.raises(DamageError, match=f"is a damaged {form} file: it breaks off"):
        read_file(path, LIMITS)


@pytest.mark.parametrize("form", COMPRESSORS)
def test_no_more_than_the_limit_is_decompressed(tmp_path: Path, form: str) -> None:
    """Ten megabytes in some kilobytes take neither memory nor time."""
    path, block = tmp_path / "file", b"\n" * 10_000_000
    path.write_bytes(COMPRESSORS[form](block))
    limits = Limits(file_size=1_000_000)
    for read in (lambda: read_file(path, limits), lambda: list(read_lines(path, limits))):
        with measured() as memory, pytest.raises(LimitError, match="must be at most 1000000 bytes"):
            read()
        assert memory.peak < 12_000_000  # of which xz keeps 9


def test_memory_of_decompressors_is_limited(tmp_path: Path) -> None:
    """A file may ask for gigabytes before its first byte."""
    path = tmp_path / "file"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1_000_000_000}]
    compressor = lzma.LZMACompressor(filters=filters)
    path.write_bytes(b"\xfd7zXZ\x00" + compressor.compress(b"1 2\n")[6:] + compressor.flush())
    with measured() as memory, pytest.raises(DamageError, match="is a xz file that takes too much memory"):
        read_file(path, LIMITS)
    assert memory.peak < 30_000_000


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"PK\x03\x04...", "cannot be decompressed: is a zip archive: extract it first, with unzip -p"),
        (b"7z\xbc\xaf'\x1c...", "cannot be decompressed: is a 7z archive"),
        (b"\x04\x22\x4d\x18", "cannot be decompressed: is compressed by lz4: extract it first, with lz4 -d"),
        (gzip.compress(gzip.compress(b"1 2", mtime=0), mtime=0), "cannot be decompressed: is compressed twice: "),
        (gzip.compress(bytes(257) + b"ustar\0", mtime=0), "cannot be decompressed: is a tar archive"),
        ("; a log".encode("utf-16-le"), "is text in UTF-16LE without a byte order mark: iconv -f UTF-16LE -t UTF-8"),
        ("; a log".encode("utf-32-be"), "is text in UTF-32BE without a byte order mark"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8;", "must be text in UTF-16-LE, as its byte order mark says: "),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, content: bytes, rule: str) -> None:
    """In one line, with the command that makes a file that is read."""
    path = tmp_path / "log.swf"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"log\.swf: .*{rule}"):
        read_swf(path)
    with pytest.raises((DamageError, EncodingError)):
        read_file(path, LIMITS)


def test_zstd_needs_its_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The line names the program that decompresses it, too."""
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    path = tmp_path / "log.swf"
    path.write_bytes(b"\x28\xb5\x2f\xfd...")
    with pytest.raises(
        ExtraError, match=r"files compressed by zstd \(zstd -d decompresses them\): needs backports.zstd"
    ):
        read_swf(path)


@needs_zstd
def test_frames_that_zstd_skips(tmp_path: Path) -> None:
    """Parallel compressors write one first."""
    path = tmp_path / "log.swf"
    path.write_bytes(b"\x52\x2a\x4d\x18\x04\0\0\0abcd" + COMPRESSORS["zstd"](targets.SWF))
    assert len(read_swf(path).records) == 4


@pytest.mark.parametrize("text", [b"", b"BZh9 is no header", b"1 2 3", b"{}", b"\n", orjson.dumps([1])])
def test_text_is_none_of_them(text: bytes) -> None:
    """However it begins."""
    assert form_of(text) is None

"""Bounded reading of files, whole or line by line: decompressed, and converted to UTF-8."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader, BytesIO
from itertools import chain
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError, WorkloadError
from batsched_py.files.compression import HEAD, DamageError, form_of
from batsched_py.reading.limits import LIMITS, LimitError, Limits
from batsched_py.text.encoding import EncodingError, marked_encoding

#: Bytes that are read at a time.
_PIECE: Final = 64 * 1024
#: The smallest size with which a line counts, in bytes.
_LEAST: Final = 64
#: Bytes of a line of a recording in addition to its message, which may be a quoted string.
_FRAME: Final = 1_000


@contextmanager
def reported(path: Path, kind: type[InputError], place: Callable[[], str] = str) -> Iterator[None]:
    """Convert errors of reading to errors of this kind; `place` names the line that exceeds a limit."""
    try:
        yield
    except OSError as error:
        raise kind(str(path), "", f"cannot be read: {error.strerror or error}") from error
    except DamageError as error:
        raise kind(str(path), "", f"cannot be decompressed: {error}") from error
    except (EncodingError, LimitError) as error:
        raise kind(str(path), place(), str(error)) from error


def read_raw(path: Path, limits: Limits) -> bytes:
    """Read the whole content without decompression or conversion. OSError, LimitError."""
    with path.open("rb") as file:
        return _whole(file, limits)


def read_file(path: Path, limits: Limits, *, encoded: bool = False) -> bytes:
    """Read the whole content: decompressed, and in UTF-8 without a byte order mark.

    OSError; DamageError for a damaged compressed file; EncodingError for another encoding without a byte order mark;
    LimitError for a file that is too large, before more is read. With `encoded` the text keeps its encoding, for
    readers that detect it themselves, as for XML.
    """
    with path.open("rb") as file:
        pieces = _special(file, torn=False, encoded=encoded)
        if pieces is None:
            return _whole(file, limits)
        made, size = [], 0
        for piece in pieces:
            size += len(piece)
            limits.check("file_size", size)
            made.append(piece)
    return b"".join(made)


def read_content(path: Path, limits: Limits = LIMITS) -> bytes:
    """Read the file's bytes, without a byte order mark; WorkloadError names the file."""
    with reported(path, WorkloadError):
        return read_file(path, limits)


def read_lines(path: Path, limits: Limits, *, encoded: bool = False) -> Iterator[bytes]:
    """Yield each line with its line end, which the last may lack. Errors and `encoded` are those of `read_file`.

    A line and the whole file are limited in size, and memory is bounded by the limit of a line. Each line counts as at
    least _LEAST bytes, because it takes time even if it is empty.
    """
    return chain.from_iterable(read_batches(path, limits, encoded=encoded))


def read_batches(path: Path, limits: Limits, *, encoded: bool = False) -> Iterator[list[bytes]]:
    """Yield the lines of `read_lines` in batches of about _PIECE bytes, for readers of many lines."""
    left, longest = limits.file_size, limits.line_size
    for lines in _batches(path, longest, torn=False, encoded=encoded):
        sizes = list(map(len, lines))
        needed = sum(sizes) + sum(_LEAST - size for size in sizes if size < _LEAST)
        if needed > left or max(sizes) > longest:
            yield from ([line] for line in _within(lines, left, limits))
        left -= needed
        yield lines


def _within(lines: list[bytes], left: int, limits: Limits) -> Iterator[bytes]:
    """Yield the lines that the limits allow, of which `left` bytes are left; LimitError at the first that they do not.

    At least one of the lines is not allowed.
    """
    for line in lines:
        if len(line) > limits.line_size:
            raise LimitError(limits.rule("line_size"))
        left -= max(len(line), _LEAST)
        if left < 0:
            raise LimitError(limits.rule("file_size"))
        yield line


def read_messages(path: Path, limits: Limits) -> Iterator[bytes]:
    """Yield each line of a recording with its line end. OSError, LimitError; DamageError for a compressed file.

    The length of a line is limited to that of a message; the number of lines is not limited, since readers do not keep
    them. A truncated compressed file is read up to its end, like a plain one.
    """
    longest = limits.message_size + _FRAME
    for line in chain.from_iterable(_batches(path, longest, torn=True, encoded=False)):
        if len(line) > longest:
            raise LimitError(limits.rule("message_size"))
        yield line


def _whole(file: BufferedReader, limits: Limits) -> bytes:
    size = os.fstat(file.fileno()).st_size  # 0 for a pipe or a device
    limits.check("file_size", size)
    pieces = [file.read(size)]
    size = len(pieces[0])
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        limits.check("file_size", size)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _batches(path: Path, longest: int, *, torn: bool, encoded: bool) -> Iterator[list[bytes]]:
    """Yield lists of lines; a line longer than `longest` bytes is cut above this length, and is the last one."""
    with path.open("rb") as file:
        pieces = _special(file, torn=torn, encoded=encoded)
        yield from _split(iter(partial(file.read1, _PIECE), b"") if pieces is None else pieces, longest)


def _special(file: BufferedReader, *, torn: bool, encoded: bool) -> Iterator[bytes] | None:
    """Return the pieces of a file that is compressed or not in UTF-8; otherwise skip a byte order mark, return None."""
    head = file.peek(HEAD)
    form = form_of(head)
    pieces: Iterator[bytes] = iter(partial(file.read, _PIECE), b"")
    if form is not None:
        pieces = form.decompressed(pieces, torn=torn)
        head = _head(pieces)
        if form_of(head) is not None:
            raise DamageError("is compressed twice: decompress it first")
    encoding, mark = ("utf-8", 0) if encoded else marked_encoding(head)
    if form is None:
        file.read(mark)
    else:
        pieces = _joined(head[mark:], pieces)
    if encoding != "utf-8":
        return _decoded(pieces, encoding)
    return None if form is None else pieces


def _head(pieces: Iterator[bytes]) -> bytes:
    """Take as many pieces as are needed to detect the type of the content, and return them joined."""
    head = b""
    while len(head) < HEAD and (piece := next(pieces, None)) is not None:
        head += piece
    return head


def _joined(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    del head
    yield from pieces


def _decoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Convert pieces in another encoding to UTF-8."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise EncodingError(f"must be text in {encoding.upper()}, as its byte order mark says: {error}") from None


def _split(pieces: Iterator[bytes], longest: int) -> Iterator[list[bytes]]:
    """Yield the lines that each piece completes, in which an unfinished line longer than `longest` ends all."""
    #: The pieces of the unfinished line, and their length.
    begun: list[bytes] = []
    length = 0
    for piece in pieces:
        lines = BytesIO(piece).readlines()
        rest = lines.pop() if lines and not lines[-1].endswith(b"\n") else b""
        if lines:
            lines[0] = b"".join((*begun, lines[0]))
            yield lines
            begun, length = [], 0
        begun.append(rest)
        length += len(rest)
        if length > longest:
            break
    if any(begun):
        yield [b"".join(begun)]

"""Files read within bounds, whole or line by line: decompressed, and in UTF-8, whatever is in them."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.files.compression import HEAD, DamageError, form_of
from batsched_py.model.limits import LimitError, Limits
from batsched_py.text.encoding import EncodingError, marked_encoding

#: Bytes that are read at a time.
_PIECE: Final = 64 * 1024
#: Bytes that a line counts as, if it has fewer.
_LEAST: Final = 64
#: Bytes of a line of a recording beside its message, which may have been written as text in a text.
_FRAME: Final = 1_000


@contextmanager
def reported(path: Path, kind: type[InputError], place: Callable[[], str] = str) -> Iterator[None]:
    """Raise failures of reading as an error of this kind; `place` names the line that breaks a limit."""
    try:
        yield
    except OSError as error:
        raise kind(str(path), "", f"cannot be read: {error.strerror or error}") from error
    except DamageError as error:
        raise kind(str(path), "", f"cannot be decompressed: {error}") from error
    except (EncodingError, LimitError) as error:
        raise kind(str(path), place(), str(error)) from error


def read_raw(path: Path, limits: Limits) -> bytes:
    """Read the whole content as it is, for others who read it. OSError; LimitError as `read_file`."""
    with path.open("rb") as file:
        return _whole(file, limits)


def read_file(path: Path, limits: Limits, *, encoded: bool = False) -> bytes:
    """Read the whole content: decompressed, and in UTF-8 without a byte order mark.

    OSError; DamageError for a compressed file, EncodingError for a text; LimitError for one that is too large, before
    more than that is read. With `encoded` it stays in its encoding, for readers that know how to find it, as XML has.
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


def read_lines(path: Path, limits: Limits, *, encoded: bool = False) -> Iterator[bytes]:
    """Yield each line with its end; the last may have none. Errors and `encoded` as of `read_file`.

    Neither a line nor all of them together are larger than their limits; nothing longer is ever in memory. Each line
    counts as _LEAST bytes at least, because it takes time even if it is empty.
    """
    left, longest = limits.file_size, limits.line_size
    for line in _lines(path, longest, torn=False, encoded=encoded):
        if len(line) > longest:
            raise LimitError(limits.rule("line_size"))
        left -= max(len(line), _LEAST)
        if left < 0:
            raise LimitError(limits.rule("file_size"))
        yield line


def read_messages(path: Path, limits: Limits) -> Iterator[bytes]:
    """Yield each line of a recording with its end. OSError, LimitError; DamageError for a compressed file.

    A line is at most a message long, and there may be any number of them: no reader keeps them. A compressed file that
    breaks off is read as far as it goes, like one that is not compressed.
    """
    longest = limits.message_size + _FRAME
    for line in _lines(path, longest, torn=True, encoded=False):
        if len(line) > longest:
            raise LimitError(limits.rule("message_size"))
        yield line


def _whole(file: BufferedReader, limits: Limits) -> bytes:
    size = os.fstat(file.fileno()).st_size  # 0 for what is no file: a pipe, a device
    limits.check("file_size", size)
    pieces = [file.read(size)]
    size = len(pieces[0])
    while piece := file.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        limits.check("file_size", size)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def _lines(path: Path, longest: int, *, torn: bool, encoded: bool) -> Iterator[bytes]:
    """Yield the lines; of one that is longer than `longest` bytes, as much as shows that, at the end."""
    with path.open("rb") as file:
        pieces = _special(file, torn=torn, encoded=encoded)
        if pieces is not None:
            yield from _split(pieces, longest)
        else:
            while line := file.readline(longest + 1):
                yield line


def _special(file: BufferedReader, *, torn: bool, encoded: bool) -> Iterator[bytes] | None:
    """Return the pieces of a file that is compressed, or not in UTF-8; None for another, whose mark is passed over."""
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
    """Take the first pieces, as many as it takes to tell what they are."""
    head = b""
    while len(head) < HEAD and (piece := next(pieces, None)) is not None:
        head += piece
    return head


def _joined(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    del head
    yield from pieces


def _decoded(pieces: Iterator[bytes], encoding: str) -> Iterator[bytes]:
    """Yield in UTF-8 what is in another encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in pieces:
            yield decoder.decode(piece).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeError as error:
        raise EncodingError(f"must be text in {encoding.upper()}, as its byte order mark says: {error}") from None


def _split(pieces: Iterator[bytes], longest: int) -> Iterator[bytes]:
    #: Pieces of a line whose end has not come, and their length.
    begun: list[bytes] = []
    length = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        begun.append(first)
        length += len(first)
        for other in others:
            yield b"".join(begun) + b"\n"
            begun, length = [other], len(other)
        if length > longest:
            break
    if any(begun):
        yield b"".join(begun)

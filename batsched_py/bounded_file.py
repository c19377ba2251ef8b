"""Files read within bounds: whole, or line by line, compressed by gzip or not."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.model.limits import LimitError, Limits

#: The first bytes of a gzip file, whatever its name.
_MAGIC: Final = b"\x1f\x8b"
#: zlib's word for a gzip header. The one it writes has no name and no time in it: the same run, the same bytes.
GZIP: Final = 31
#: Bytes that are read, or made of what was read, at a time.
_PIECE: Final = 64 * 1024
#: Bytes that a line counts as, if it has fewer.
_LEAST: Final = 64
#: Bytes of a line of a recording beside its message, which may have been written as text in a text.
_FRAME: Final = 1_000


class DamageError(ValueError):
    """A compressed file is damaged."""


@contextmanager
def reported(path: Path, kind: type[InputError], place: Callable[[], str] = str) -> Iterator[None]:
    """Raise failures of reading as an error of this kind; `place` names the line that breaks a limit."""
    try:
        yield
    except OSError as error:
        raise kind(str(path), "", f"cannot be read: {error.strerror or error}") from error
    except DamageError as error:
        raise kind(str(path), "", f"cannot be decompressed: {error}") from error
    except LimitError as error:
        raise kind(str(path), place(), str(error)) from error


def read_file(path: Path, limits: Limits) -> bytes:
    """Read the whole content. OSError; LimitError for one that is too large, before more than that is read."""
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # 0 for what is no file: a pipe, a device
        limits.check("file_size", size)
        pieces = [file.read(size)]
        while piece := file.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            limits.check("file_size", size)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def read_lines(path: Path, limits: Limits) -> Iterator[bytes]:
    """Yield each line with its end; the last may have none. OSError, LimitError; DamageError for a compressed file.

    Neither a line nor all of them together are larger than their limits; nothing longer is ever in memory. Each line
    counts as _LEAST bytes at least, because it takes time even if it is empty.
    """
    left, longest = limits.file_size, limits.line_size
    for line in _lines(path, longest, torn=False):
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
    for line in _lines(path, longest, torn=True):
        if len(line) > longest:
            raise LimitError(limits.rule("message_size"))
        yield line


def _lines(path: Path, longest: int, *, torn: bool) -> Iterator[bytes]:
    """Yield the lines; of one that is longer than `longest` bytes, as much as shows that, at the end."""
    with path.open("rb") as file:
        if file.peek(len(_MAGIC)).startswith(_MAGIC):
            yield from _split(_inflated(file, torn=torn), longest)
        else:
            while line := file.readline(longest + 1):
                yield line


def _inflated(file: BufferedReader, *, torn: bool) -> Iterator[bytes]:
    """Yield the content piece by piece; several compressed parts in a row are one, zeros at the end are none.

    With `torn` the last part may break off.
    """
    stream = zlib.decompressobj(GZIP)
    try:
        while piece := file.read(_PIECE):
            while piece:
                if stream.eof:
                    piece = piece.lstrip(b"\0")
                    if not piece:
                        break
                    stream = zlib.decompressobj(GZIP)
                yield stream.decompress(piece, _PIECE)
                piece = stream.unconsumed_tail or stream.unused_data
        yield stream.flush()
    except zlib.error as error:
        raise DamageError(f"is a damaged gzip file: {error}") from None
    if not (torn or stream.eof):
        raise DamageError("is a damaged gzip file: it breaks off")


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

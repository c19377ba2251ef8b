"""The lines of a recording, compressed or not, read a piece at a time."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

#: What a gzip file begins with, whatever its name.
_MAGIC: Final = b"\x1f\x8b"
#: zlib's word for a gzip header. The one it writes has no name and no time in it: the same run, the same bytes.
GZIP: Final = 31
#: Bytes that are read, or made of what was read, at a time.
_PIECE: Final = 64 * 1024


class DamageError(Exception):
    """A compressed file is not what it says it is."""


def read_lines(path: Path) -> Iterator[bytes]:
    """Each line with its end; the last may have none. OSError; DamageError for a compressed file.

    A compressed file that breaks off is read as far as it goes, like one that is not compressed.
    """
    with path.open("rb") as file:
        if file.peek(len(_MAGIC)).startswith(_MAGIC):
            yield from _split(_inflated(file))
        else:
            yield from file


def _inflated(file: BufferedReader) -> Iterator[bytes]:
    """The content piece by piece; several compressed parts, one after the other, are one."""
    stream = zlib.decompressobj(GZIP)
    try:
        while piece := file.read(_PIECE):
            while piece:
                if stream.eof:
                    stream = zlib.decompressobj(GZIP)
                yield stream.decompress(piece, _PIECE)
                piece = stream.unconsumed_tail or stream.unused_data
        yield stream.flush()
    except zlib.error as error:
        raise DamageError(f"is a damaged gzip file: {error}") from None


def _split(pieces: Iterator[bytes]) -> Iterator[bytes]:
    #: Pieces of a line whose end has not come.
    begun: list[bytes] = []
    for piece in pieces:
        first, *others = piece.split(b"\n")
        begun.append(first)
        for other in others:
            yield b"".join(begun) + b"\n"
            begun = [other]
    if any(begun):
        yield b"".join(begun)

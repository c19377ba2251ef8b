"""Compressed content: detection of the format by its first bytes, and decompression piece by piece."""

from __future__ import annotations

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, Protocol

from batsched_py.errors import ExtraError

#: zlib's code for a gzip header. The header that it writes has no name and no time: the same run gives the same bytes.
GZIP: Final = 31
#: Bytes that are needed to detect the format; the magic number of a tar archive is at their end.
HEAD: Final = 262
#: The largest decompressed piece, in bytes.
_PIECE: Final = 64 * 1024
#: The memory limit of an xz decompressor in bytes: five times the need of a file made by `xz -9`.
_MEMORY: Final = 320 * 1024 * 1024


class DamageError(ValueError):
    """A compressed file is damaged, or in an unsupported format; the text says which."""


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    @property
    def needs_input(self) -> bool: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """zlib's decompressor, with the members of the others."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(GZIP)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


class CompressionFormat(NamedTuple):
    """A compression format: its name in messages, and a maker of decompressors for one stream."""

    name: str
    make: Callable[[], Any]

    def decompressed(self, pieces: Iterator[bytes], *, torn: bool) -> Iterator[bytes]:
        """Yield the decompressed content in pieces of 64 KiB at most. DamageError.

        Concatenated streams are joined, and zeros at the end ignored. With `torn` the last stream may be truncated.
        """
        stream: _Decompressor = self.make()
        for piece in pieces:
            left = piece
            while left or not (stream.eof or stream.needs_input):
                if stream.eof:
                    left = left.lstrip(b"\0")
                    if not left:
                        break
                    stream = self.make()
                yield self._taken(stream, left)
                left = stream.unused_data if stream.eof else b""
        while not stream.eof and (rest := self._taken(stream, b"")):
            yield rest
        if not (torn or stream.eof):
            raise DamageError(f"is a damaged {self.name} file: it breaks off")

    def _taken(self, stream: _Decompressor, data: bytes) -> bytes:
        try:
            return stream.decompress(data, _PIECE)
        except (zlib.error, lzma.LZMAError, OSError, EOFError) as error:
            raise DamageError(self._rule(error)) from None
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # its class is in a module that may not be installed
                raise
            raise DamageError(self._rule(error)) from None

    def _rule(self, error: Exception) -> str:
        if "emory" in str(error):  # "Memory usage limit exceeded", "Frame requires too much memory for decoding"
            return f"is a {self.name} file that takes too much memory: {error}"
        return f"is a damaged {self.name} file: {error}"


def _xz() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=_MEMORY)


def _zstd() -> Any:
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdDecompressor  # noqa: PLC0415  # an extra; only what needs it loads it
        else:
            from backports.zstd import ZstdDecompressor  # noqa: PLC0415  # an extra; only what needs it loads it
    except ImportError:
        raise ExtraError("files compressed by zstd (zstd -d decompresses them)", "backports.zstd", "zstd") from None
    return ZstdDecompressor()


_GZIP_FORM: Final = CompressionFormat("gzip", _Gzip)
_BZIP2: Final = CompressionFormat("bzip2", bz2.BZ2Decompressor)
_ZSTANDARD: Final = CompressionFormat("zstd", _zstd)
#: First bytes -> supported format.
_FORMS: Final = {
    b"\x1f\x8b": _GZIP_FORM,
    b"\xfd7zXZ\x00": CompressionFormat("xz", _xz),
    b"]\x00\x00": CompressionFormat("lzma", _xz),
    b"\x28\xb5\x2f\xfd": _ZSTANDARD,
}
#: Bytes after "BZh" and a digit: the magic number of a block, or of the end.
_BLOCKS: Final = (b"1AY&SY", b"\x17rE8P\x90")
#: First bytes -> unsupported format, and the command that extracts it.
_REFUSED: Final = {
    b"PK\x03\x04": ("a zip archive", "unzip -p"),
    b"7z\xbc\xaf'\x1c": ("a 7z archive", "7z x"),
    b"Rar!\x1a\x07": ("a rar archive", "unrar x"),
    b"\x04\x22\x4d\x18": ("compressed by lz4", "lz4 -d"),
    b"\x1f\x9d": ("compressed by compress", "gzip -d"),
    b"\x1f\xa0": ("compressed by compress", "gzip -d"),
    b"LZIP": ("compressed by lzip", "lzip -d"),
}


def form_of(head: bytes) -> CompressionFormat | None:
    """Return the compression format of a content from its first bytes; None if uncompressed.

    DamageError if the format is not supported. Making a decompressor raises ExtraError if its extra is not installed.
    """
    for magic, (name, command) in _REFUSED.items():
        if head.startswith(magic):
            raise DamageError(f"is {name}: extract it first, with {command}")
    if head[257:262] == b"ustar":
        raise DamageError("is a tar archive: extract it first, with tar -xf")
    if head[:3] == b"BZh" and head[4:10] in _BLOCKS:
        return _BZIP2
    if head[1:4] == b"\x2a\x4d\x18" and head[0] & 0xF0 == 0x50:  # a skippable frame of zstd, before others
        return _ZSTANDARD
    return next((form for magic, form in _FORMS.items() if head.startswith(magic)), None)

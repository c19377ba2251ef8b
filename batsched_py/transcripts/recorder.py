"""The writer of transcripts during the run: a killed process loses at most its last exchange."""

from __future__ import annotations

import zlib
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from batsched_py.errors import TranscriptError
from batsched_py.files.compression import GZIP
from batsched_py.transcripts.lines import BATSIM, SCHEDULER, Header, MessageLine

#: Ending of the names of compressed recordings.
SUFFIX: Final = ".gz"
#: Number of exchanges that are collected if replies stay in the process: no other program can act on exchanges that a
#: kill would lose. Writing many at a time costs half as much as writing each one.
GATHERED: Final = 128

#: An exchange of two messages of one line of JSON, which are embedded in the file unchanged.
_EXCHANGE: Final = b'{"seq":%d,"from":"batsim","message":%b}\n{"seq":%d,"from":"scheduler","message":%b}\n'
#: The last level of zlib before time grows faster than size shrinks; see the benchmark.
_LEVEL: Final = 2


class Recorder:
    """Writer of a new file, or of one that replaces an old one; a context manager. All methods raise TranscriptError.

    After an error, or an interruption while writing, nothing more is written: the content of the file remains readable.
    """

    __slots__ = ("_file", "_held", "_path", "_sound", "_stream", "_written")

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        self._stream = zlib.compressobj(_LEVEL, zlib.DEFLATED, GZIP) if path.suffix == SUFFIX else None
        #: Collected exchanges that are not written yet.
        self._held: list[tuple[bytes, bytes]] = []
        #: Number of exchanges in the file.
        self._written = 0
        #: False while writing, and permanently after an incomplete write.
        self._sound = True
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._failure(error) from error
        try:
            self._write(header.to_line(), 0)
        except TranscriptError:
            self._abandon()
            raise

    def record(self, request: bytes, reply: bytes, *, is_json: bool = False) -> None:
        """Append an exchange, and pass it to the operating system, which keeps it if this process is killed.

        With `is_json`, both messages are known to be JSON, which needs no encoding as a string.
        """
        self._check_sound()
        self._write_held()
        number = self._written
        lines = exchange_lines(number, request, reply) if is_json else _wrapped(number, request, reply)
        self._write(lines, 1)

    def gather(self, request: bytes, reply: bytes) -> None:
        """Append an exchange of JSON messages whose reply stays in the process; many are written at a time.

        Fewer than GATHERED exchanges wait to be written.
        """
        held = self._held
        held.append((request, reply))
        if len(held) >= GATHERED:
            self._check_sound()
            self._write_held()

    def close(self) -> None:
        """Write the collected exchanges, and close the file; further calls have no effect."""
        try:
            if self._sound and not self._file.closed:
                self._write_held()
                if self._stream is not None:
                    self._put(self._stream.flush())
            self._file.close()
        except OSError as error:
            raise self._failure(error) from error
        finally:
            self._abandon()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close; an error of the run takes precedence over an error of writing its last exchanges."""
        if error is None:
            self.close()
            return
        with suppress(TranscriptError):
            self.close()

    def _write_held(self) -> None:
        held, first = self._held, self._written
        if not held:
            return
        lines = [_EXCHANGE % (number, request, number, reply) for number, (request, reply) in enumerate(held, first)]
        block = b"".join(lines)
        if block.count(b"\n") != 2 * len(held) or b"\0" in block:  # a message on several lines, or of Batsim 5
            block = b"".join(_wrapped(number, *exchange) for number, exchange in enumerate(held, first))
        self._write(block, len(held))

    def _check_sound(self) -> None:
        if not self._sound:
            raise TranscriptError(str(self._path), "", "cannot be written: an earlier exchange was written in part")

    def _write(self, lines: bytes, exchanges: int) -> None:
        """Write lines. An interruption makes the recorder unusable: the amount of written data is unknown.

        Python checks for signals after a call; none can occur between the assignments at the end.
        """
        self._sound = False
        stream = self._stream
        content = lines if stream is None else stream.compress(lines) + stream.flush(zlib.Z_SYNC_FLUSH)
        try:
            self._put(content)
        except OSError as error:
            raise self._failure(error) from error
        self._written += exchanges
        self._held = []
        self._sound = True

    def _put(self, content: bytes) -> None:
        """Write all bytes, usually in one call: the file has no buffer."""
        while (written := self._file.write(content)) < len(content):
            content = content[written:]

    def _abandon(self) -> None:
        with suppress(OSError):
            self._file.close()

    def _failure(self, error: OSError) -> TranscriptError:
        return TranscriptError(str(self._path), "", f"cannot be written: {error.strerror or error}")


def exchange_lines(number: int, request: bytes, reply: bytes) -> bytes:
    """Return the lines of an exchange of JSON messages."""
    if b"\n" in request or b"\n" in reply or b"\0" in request or b"\0" in reply:
        return _wrapped(number, request, reply)
    return _EXCHANGE % (number, request, number, reply)


def _wrapped(number: int, request: bytes, reply: bytes) -> bytes:
    """Return the lines of an exchange of arbitrary bytes."""
    return MessageLine(number, BATSIM, request).to_line() + MessageLine(number, SCHEDULER, reply).to_line()


def recording(path: Path | None, header: Header) -> AbstractContextManager[Recorder | None]:
    """Open a recorder of exchanges; None without a file. TranscriptError."""
    return nullcontext() if path is None else Recorder(path, header)

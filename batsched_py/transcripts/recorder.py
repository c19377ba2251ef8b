"""Writing a transcript while the run lasts, so that a killed process leaves it whole up to the last exchange."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from batsched_py.errors import TranscriptError
from batsched_py.transcripts.header import Header
from batsched_py.transcripts.lines import BATSIM, SCHEDULER, Line


class Recorder:
    """Writes to a new file, or over an old one; a context manager. Everything raises TranscriptError."""

    __slots__ = ("_file", "_path", "exchanges")

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        #: Exchanges recorded so far.
        self.exchanges = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise self._failure(error) from error
        try:
            self._write(header.to_line())
        except TranscriptError:
            self.close()
            raise

    def record(self, request: bytes, reply: bytes) -> None:
        """Append an exchange and hand it to the operating system, which keeps it whatever becomes of us."""
        number = self.exchanges
        self._write(Line(number, BATSIM, request).to_line() + Line(number, SCHEDULER, reply).to_line())
        self.exchanges = number + 1

    def close(self) -> None:
        """Close the file."""
        try:
            self._file.close()
        except OSError as error:
            raise self._failure(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, lines: bytes) -> None:
        """Without a buffer of our own: a whole exchange usually goes in one call, and nothing is left for later."""
        try:
            while lines:
                lines = lines[self._file.write(lines) :]
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> TranscriptError:
        return TranscriptError(str(self._path), "", f"cannot be written: {error.strerror or error}")

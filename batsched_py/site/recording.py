"""The transcript of a site, which goes on where it was left when the site begins again.

What is decided again must be what was decided the first time: each exchange is compared with the one in the file, until
that ends. A last line that was written in part is written again.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from batsched_py.errors import SiteError
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import exchange_lines


class SiteRecorder:
    """Writes to a file that may be there already; a context manager. Everything raises SiteError.

    Args:
        path: the file.
        header: of a new file; that of an older one stays.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self._path = path
        #: Exchanges so far.
        self._number = 0
        try:
            self._file = path.open("r+b" if path.exists() else "w+b", buffering=0)
            first = self._file.readline()
            self._end = len(first)
            if not first.endswith(b"\n"):
                self._file.seek(0)
                self._file.truncate()
                self._file.write(header.to_line())
                self._end = self._file.tell()
            self._size = self._file.seek(0, 2)
        except OSError as error:
            raise self._failure(error) from error

    def record(self, request: bytes, reply: bytes) -> None:
        """Append an exchange, or compare it with the one that is there."""
        lines = exchange_lines(self._number, request, reply)
        try:
            if self._size > self._end:
                lines = self._missing(lines)
            while lines:
                lines = lines[self._file.write(lines) :]
        except OSError as error:
            raise self._failure(error) from error
        self._number += 1

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _missing(self, lines: bytes) -> bytes:
        """Return what the file lacks of these lines: nothing, but of the last ones in it."""
        self._file.seek(self._end)
        there = self._file.read(len(lines))
        if not lines.startswith(there):
            raise SiteError(
                f"{self._path}: exchange {self._number} differs from the decision made now: the algorithm or"
                " batsched-py has changed; continue with the former version, or use another folder"
            )
        self._end += len(there)
        return lines[len(there) :]

    def _failure(self, error: OSError) -> SiteError:
        return SiteError(f"{self._path}: cannot be written: {error.strerror or error}")

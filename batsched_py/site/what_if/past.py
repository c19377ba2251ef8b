"""The past of a site, as its transcript has it: a repetition must agree with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final, Self

from batsched_py.errors import SiteError
from batsched_py.transcripts.recorder import exchange_lines

_DIFFERS: Final = "the past of the site cannot be repeated: the algorithm, or a file that it reads, has changed"


class RecordedPast:
    """The exchanges of a transcript that another process may be writing; a context manager. SiteError.

    Args:
        path: the transcript.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("rb")
            self._file.readline()  # the header
        except OSError as error:
            raise SiteError(f"{path}: {error.strerror or error}") from error
        self._path, self._number = path, 0
        #: False after the last complete exchange: what follows is not written yet.
        self._more = True

    def check(self, request: bytes, reply: bytes) -> None:
        """Compare the next exchange with the transcript, if it has one."""
        if not self._more:
            return
        lines = exchange_lines(self._number, request, reply)
        self._number += 1
        try:
            there = self._file.read(len(lines))
        except OSError as error:
            raise SiteError(f"{self._path}: {error.strerror or error}") from error
        if not lines.startswith(there):
            raise SiteError(_DIFFERS)
        self._more = len(there) == len(lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self._file.close()

"""The audit log of a site: who did what, when, and with which result, as JSON lines in its folder.

A line is written before the answer is sent, so that a killed site has the lines of all answers. It is not synchronous:
after a crash of the machine the last lines may be missing, whose accepted requests are in the journal. A log that was
removed or replaced is as one that cannot be written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from batsched_py.errors import SiteError
from batsched_py.site.same_file import check_same_file

#: The largest number of characters of a path, a body or a reason in an entry.
LONGEST: Final = 200
#: Every so many lines, the offset of a line is kept.
_STEP: Final = 256
#: The largest size of a line, in bytes: each character may take six as an escape.
_LARGEST: Final = 1 << 14
_encode: Final = msgspec.json.Encoder().encode


class AuditEntry(Struct, frozen=True, omit_defaults=True):
    """A call that changed something, or was refused.

    Attributes:
        date: when it was answered, in ISO 8601, UTC.
        time: the simulated time, in seconds.
        user, group: the caller; group "" for none.
        role: user or operator.
        method, path: the call; of a long path, the beginning.
        status: the status of the answer.
        body: the beginning of the body of the request.
        made: the address of what was created; "" if nothing was.
        problem: why it was refused; "" if it was accepted.
        number: the number of its line in the log, from 1; 0 in the log itself.
    """

    date: str
    time: float
    user: str
    role: str
    method: str
    path: str
    status: int
    group: str = ""
    body: str = ""
    made: str = ""
    problem: str = ""
    number: int = 0


class AuditLog:
    """An open audit log; a line that a killed site has not completed is removed. All methods raise SiteError.

    Args:
        path: the file, created if it is missing, with access for its owner only.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        #: The number of lines, and the offset of each _STEP-th one, from the first on.
        self._count, self._offsets = 0, [0]
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            os.fchmod(self._file, 0o600)
            self._inode = os.fstat(self._file).st_ino
            self._size = 0
            for line in _lines(path):
                self._note(len(line))
            os.ftruncate(self._file, self._size)
        except OSError as error:
            raise self._failure(error) from error

    def append(self, entry: AuditEntry) -> None:
        """Write an entry; without effect after `close`."""
        if self._file == -1:
            return
        self.check()
        line = _encode(entry) + b"\n"
        left = line
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise self._failure(error) from error
        self._note(len(line))

    def read(self, after: int, limit: int) -> list[AuditEntry]:
        """Return at most `limit` entries with numbers greater than `after`, in their order."""
        if self._file == -1:
            return []
        self.check()
        if after >= self._count:
            return []
        first = after // _STEP
        found, number = list[AuditEntry](), first * _STEP
        try:
            for line in _lines(self._path, self._offsets[first]):
                number += 1
                if number > after:
                    found.append(_numbered(line, number))
                    if len(found) == limit:
                        break
        except (OSError, msgspec.MsgspecError) as error:
            raise SiteError(f"{self._path}: cannot be read: {error}") from error
        return found

    def close(self) -> None:
        """Close the file."""
        if self._file != -1:
            os.close(self._file)
            self._file = -1

    def _note(self, size: int) -> None:
        self._count += 1
        self._size += size
        if self._count % _STEP == 0:
            self._offsets.append(self._size)

    def check(self) -> None:
        """Raise SiteError if the file was removed or replaced: lines would go into the removed file."""
        if self._file == -1:
            return
        check_same_file(self._path, self._inode)

    def _failure(self, error: OSError) -> SiteError:
        return SiteError(f"{self._path}: cannot be written: {error.strerror or error}")


def read_audit(path: Path) -> Iterator[AuditEntry]:
    """Iterate over the entries of a log, whose site may be running. SiteError."""
    number = 0
    try:
        for number, line in enumerate(_lines(path), 1):
            yield _numbered(line, number)
    except OSError as error:
        raise SiteError(f"{path}: cannot be read: {error.strerror or error}") from error
    except msgspec.MsgspecError as error:
        raise SiteError(f"{path}: line {number}: {error}") from error


def whole_lines(path: Path) -> int:
    """Return the size of the complete lines of a log, in bytes. OSError, also for a line that is too long."""
    return sum(map(len, _lines(path)))


def _numbered(line: bytes, number: int) -> AuditEntry:
    return replace(msgspec.json.decode(line, type=AuditEntry), number=number)


def _lines(path: Path, offset: int = 0) -> Iterator[bytes]:
    """Iterate over the complete lines from an offset on. OSError, also for a line that is too long."""
    with path.open("rb") as file:
        file.seek(offset)
        while (line := file.readline(_LARGEST)).endswith(b"\n"):
            yield line
        if len(line) == _LARGEST:
            raise OSError(0, "a line is too long")

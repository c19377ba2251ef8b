"""The transcript of a site, which goes on where it was left when the site begins again.

What is decided again must be what was decided the first time: each exchange is compared with the one in the file, until
that ends. A last exchange that was written in part is written again. An exchange in the file that nothing in the
journal explains means that the journal has lost requests.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import orjson

from batsched_py.errors import SiteError
from batsched_py.text.wording import counted
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import exchange_lines

#: Bytes at the end of a file that are looked at first; an exchange may have more.
_TAIL: Final = 1 << 16
#: The beginning of the second line of an exchange.
_REPLY: Final = re.compile(rb'^\{"seq":\d+,"from":"scheduler",', re.MULTILINE)
#: A request in a message, as it stands in one of Batsim 4, and as a text in one of Batsim 5.
_REQUEST: Final = re.compile(
    rb'\\?"type\\?":\\?"(?:submit_job|cancel_job|submit_experiment|delete_experiment|delete_reservation|resume|add_entry)\\?"'
)
_WAY_OUT: Final = (
    "restore both files of one backup (batsched-py restore), or move transcript.jsonl away to go on with the"
    " journal alone"
)


class SiteRecorder:
    """Writes to a file that may be there already; a context manager. Everything raises SiteError.

    Args:
        path: the file.
        header: of a new file; that of an older one stays.
        requests: how many the journal has.

    Attributes:
        last: the time of the last whole exchange in the file; 0 if it has none.
    """

    def __init__(self, path: Path, header: Header, requests: int = 0) -> None:
        self._path, self._requests = path, requests
        #: Exchanges so far.
        self._number = 0
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.fchmod(descriptor, 0o600)
            self._file = open(descriptor, "r+b", buffering=0)  # noqa: SIM115  (closed by `close`)
            first = self._file.readline()
            self._end = len(first)
            if not first.endswith(b"\n"):
                self._file.seek(0)
                self._file.truncate()
                self._file.write(header.to_line())
                self._end = self._file.tell()
            self._size = self._file.seek(0, 2)
            self._whole, self.last = _last_exchange(self._file, self._end, self._size)
            self._file.seek(self._end)  # from here on what is read, or written, follows what was before
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

    def check_end(self) -> None:
        """Check that the file has no whole exchange more, now that all of the journal has happened again."""
        if self._whole > self._end:
            raise self._lost(b"")
        if self._size > self._end:  # a part of one, which never had a successor
            try:
                self._file.truncate(self._end)
                self._size = self._file.seek(0, 2)
            except OSError as error:
                raise self._failure(error) from error

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
        there = self._file.read(len(lines))
        if not lines.startswith(there):
            raise self._lost(lines)
        self._end += len(there)
        return lines[len(there) :]

    def _lost(self, lines: bytes) -> SiteError:
        """Return the error for an exchange in the file that is not the one made now; `lines` are empty if none is."""
        self._file.seek(0)
        recorded = sum(len(_REQUEST.findall(line)) for line in self._file if b'"from":"batsim"' in line[:50])
        if recorded > self._requests:
            few = counted(self._requests, "request")
            return SiteError(
                f"{self._path}: has {counted(recorded, 'request')}, but site.sqlite {few}: the journal was restored"
                f" from an older backup, or has lost its last requests; {_WAY_OUT}"
            )
        self._file.seek(self._end)
        if lines and self._file.readline() == lines.partition(b"\n")[0] + b"\n":
            return SiteError(
                f"{self._path}: exchange {self._number} differs from the decision made now: the algorithm or"
                " batsched-py has changed; continue with the former version, or use another folder"
            )
        return SiteError(
            f"{self._path}: exchange {self._number} does not follow from the requests in site.sqlite: the files are not"
            f" of one site, or batsched-py has changed; {_WAY_OUT}"
        )

    def _failure(self, error: OSError) -> SiteError:
        return SiteError(f"{self._path}: cannot be written: {error.strerror or error}")


def _last_exchange(file: Any, begin: int, size: int) -> tuple[int, float]:
    """Return where the last whole exchange of a file ends, and its time; `begin` and 0 if there is none."""
    tail = _TAIL
    while begin < size:
        place = max(begin, size - tail)
        file.seek(place)
        content = file.read(size - place)
        content = content[: content.rfind(b"\n") + 1]
        replies = [one.start() for one in _REPLY.finditer(content) if b"\n" in content[one.start() :]]
        if replies:
            end = content.index(b"\n", replies[-1]) + 1
            return place + end, _time(content[replies[-1] : end])
        if place == begin:
            break
        tail *= 8
    return begin, 0.0


def _time(line: bytes) -> float:
    """Return the time of a message; 0 if it is damaged, which will be noticed when it is compared."""
    try:
        return float(orjson.loads(line)["message"]["now"])
    except (ValueError, TypeError, LookupError):
        return 0.0


def whole_size(path: Path) -> int:
    """Return how many bytes of a transcript are whole exchanges. OSError."""
    with path.open("rb", buffering=0) as file:
        begin = len(file.readline())
        return _last_exchange(file, begin, file.seek(0, 2))[0]

"""The transcript of a site, continued when the site restarts.

During the replay each exchange is compared with the one in the file, because the same decisions must be made again. A
partly written exchange at the end is completed. Exchanges in the file that do not follow from the journal mean that the
journal has lost requests.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path
from typing import Any, Final, Self

import orjson

from batsched_py.errors import SiteError
from batsched_py.model.external_event import MACHINE_EVENTS
from batsched_py.protocol import events
from batsched_py.site.request_kinds import EVENT_KINDS
from batsched_py.text.wording import counted
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import exchange_lines

# The journal determines the transcript: the same requests at the same instants, the same algorithm, the same decisions.
# So the transcript is a check and not a source. While the journal is replayed, each exchange is compared byte by byte
# with the file instead of being written, and the first difference shows that the program, the algorithm or one of the
# files has changed, before anything new happens (ADR 30).
#
# It is not synchronized to disk, so after a crash its end may be missing or half written: what follows from the journal
# is completed. If it has more than follows from the journal, the journal has lost requests, which its own hashes cannot
# show.
#
# Between two calls all before `_end` is as it must be, and what is in the file behind `_end` is still to be compared.
# The time of the last exchange is read from the end of the file, in pieces of growing size, as a transcript may have
# gigabytes.

#: Bytes at the end of a file that are searched first; an exchange may be longer.
_TAIL: Final = 1 << 16
#: Bytes that are read at once for a hash.
_PIECE: Final = 1 << 20
#: The beginning of the second line of an exchange.
_REPLY: Final = re.compile(rb'^\{"seq":\d+,"from":"scheduler",', re.MULTILINE)
#: Types of events of hosts in messages.
_OF_MACHINES: Final = frozenset({events.MACHINE_AVAILABLE, events.MACHINE_UNAVAILABLE})
_WAY_OUT: Final = (
    "restore both files of one backup (batsched-py restore), or move transcript.jsonl away to go on with the"
    " journal alone"
)


class SiteRecorder:
    """A writer of a new or existing transcript; a context manager. All methods raise SiteError.

    Args:
        path: the file, created if it is missing.
        header: the header of a new file; an existing file keeps its own.
        requests: the number of requests in the journal.
        fails_hosts: True if all failures and returns of hosts are requests.

    Attributes:
        last: the simulated time of the last complete exchange in the file; 0 if it has none.
    """

    def __init__(self, path: Path, header: Header, requests: int = 0, *, fails_hosts: bool = True) -> None:
        self._path, self._requests, self._request = path, requests, _request_pattern(fails_hosts)
        #: The number of exchanges so far, and the hash of the file up to the end of the last one.
        self._number, self._digest = 0, hashlib.sha256()
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
                first, self._end = header.to_line(), self._file.tell()
            self._begin, self._first = self._end, first
            self._digest.update(first)
            self._size = self._file.seek(0, 2)
            self._whole, self.last = _last_exchange(self._file, self._end, self._size)
            self._file.seek(self._end)  # all reads and writes from here on are sequential
        except OSError as error:
            raise self._failure(error) from error

    def record(self, request: bytes, reply: bytes) -> None:
        """Append an exchange, or compare it with the one at this place in the file."""
        lines = exchange_lines(self._number, request, reply)
        self._digest.update(lines)
        try:
            if self._size > self._end:
                lines = self._missing(lines)
            while lines:
                lines = lines[self._file.write(lines) :]
        except OSError as error:
            raise self._failure(error) from error
        self._number += 1

    @property
    def position(self) -> tuple[int, int, str]:
        """The number of exchanges so far, and the bytes and the SHA-256 of the file up to the end of the last one."""
        return self._number, self._file.tell(), self._digest.hexdigest()

    def begins_with(self, size: int, digest: str) -> bool:
        """Return whether the file begins with so many bytes that have this SHA-256."""
        return self._begin <= size <= self._whole and self._digest_of(size).hexdigest() == digest

    def resume(self, number: int, size: int) -> None:
        """Go on after so many exchanges and bytes of the file, which are as they must be."""
        self._number, self._end, self._digest = number, size, self._digest_of(size)
        self._seek(size)

    def rewind(self) -> None:
        """Go back to the beginning, before any exchange was written."""
        self._number, self._end, self._digest = 0, self._begin, hashlib.sha256(self._first)
        self._seek(self._begin)

    def _seek(self, place: int) -> None:
        try:
            self._size = self._file.seek(0, 2)
            self._file.seek(place)
        except OSError as error:
            raise self._failure(error) from error

    def _digest_of(self, size: int) -> hashlib._Hash:
        """Return the hash of the first bytes of the file; its position remains."""
        digest = hashlib.sha256()
        try:
            here = self._file.tell()
            self._file.seek(0)
            while size > 0 and (piece := self._file.read(min(size, _PIECE))):
                digest.update(piece)
                size -= len(piece)
            self._file.seek(here)
        except OSError as error:
            raise self._failure(error) from error
        return digest

    def check_end(self) -> None:
        """Check, after the replay, that the file has no further complete exchange; remove a partly written one."""
        if self._whole > self._end:
            raise self._lost(b"")
        if self._size > self._end:  # a partly written exchange
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

    def __exit__(self, *_: object) -> None:
        self.close()

    def _missing(self, lines: bytes) -> bytes:
        """Return the rest of these lines that the file does not have; empty except at the end of the file."""
        there = self._file.read(len(lines))
        if not lines.startswith(there):
            raise self._lost(lines)
        self._end += len(there)
        return lines[len(there) :]

    def _lost(self, lines: bytes) -> SiteError:
        """Return the error for an exchange in the file that differs from `lines`, which are empty if there is none."""
        self._file.seek(0)
        recorded = sum(len(self._request.findall(line)) for line in self._file if b'"from":"batsim"' in line[:50])
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


def _request_pattern(fails_hosts: bool) -> re.Pattern[bytes]:
    """Return the pattern of a request in a message.

    It is an object in the format of Batsim 4, an escaped string in the format of Batsim 5.
    """
    kinds = (EVENT_KINDS - MACHINE_EVENTS) | (_OF_MACHINES if fails_hosts else frozenset())
    return re.compile(rf'\\?"type\\?":\\?"(?:{"|".join(sorted(kinds))})\\?"'.encode())


def _last_exchange(file: Any, begin: int, size: int) -> tuple[int, float]:
    """Return the offset of the end of the last complete exchange, and its time; `begin` and 0 if there is none."""
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
    """Return the time of a message; 0 if it is damaged, which the comparison will detect."""
    try:
        return float(orjson.loads(line)["message"]["now"])
    except (ValueError, TypeError, LookupError):
        return 0.0


def whole_size(path: Path) -> int:
    """Return the size of the header and the complete exchanges of a transcript, in bytes. OSError."""
    with path.open("rb", buffering=0) as file:
        begin = len(file.readline())
        return _last_exchange(file, begin, file.seek(0, 2))[0]

"""The notices of a site: short texts of operators to all users, in a file of its folder.

They are not in the journal, because no decision depends on them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from batsched_py.errors import SiteError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.text.display import displayed_line, escaped

#: The largest number of characters of a notice, and the largest number of current notices.
LONGEST: Final = 500
MOST: Final = 20
#: The latest end of a notice, in the year 9999: the last year of dates.
LATEST: Final = 253_370_764_800.0
#: The largest size of the file, in bytes: each character may take six as an escape.
_LARGEST: Final = 1 << 20


class KeptNotice(Struct, frozen=True, forbid_unknown_fields=True):
    """A notice; its times are in seconds since 1970.

    Attributes:
        number: unique at the site.
        text: printable text on one line.
        by: the operator who published it.
        published: when it was published.
        until: when it ends; None if it is shown until it is removed.
    """

    number: int
    text: str
    by: str
    published: float
    until: float | None


class NoticesFile(Struct, frozen=True, forbid_unknown_fields=True):
    """The content of a file of notices: the number of the latest one ever, and those that were not removed."""

    last: int = 0
    notices: tuple[KeptNotice, ...] = ()


class Notices:
    """The notices in a file, which only this object writes. SiteError if the file cannot be used.

    Any thread may read; changes must not be concurrent.

    Args:
        path: the file; it is created with the first notice, with access for its owner only.
        wall: the clock on which notices end, in seconds since 1970.
    """

    def __init__(self, path: Path, wall: Callable[[], float] = time.time) -> None:
        self._path, self._wall = path, wall
        #: Replaced as a whole: readers in other threads see the notices before or after a change.
        self._content = _read(path)

    def current(self) -> Sequence[KeptNotice]:
        """Return the notices that have not ended, in the order in which they were published."""
        now = self._wall()
        return tuple(one for one in self._content.notices if one.until is None or one.until > now)

    def add(self, text: str, by: str, until: float | None) -> KeptNotice:
        """Publish a notice, and return it when it is on disk. SiteError if it cannot be written."""
        number = self._content.last + 1
        notice = KeptNotice(number, text, by, round(self._wall(), 3), until)
        self._write(NoticesFile(number, (*self.current(), notice)))
        return notice

    def remove(self, number: int) -> bool:
        """Remove a notice; return whether there was one that had not ended. SiteError if that cannot be written."""
        current = self.current()
        left = tuple(one for one in current if one.number != number)
        if len(left) == len(current):
            return False
        self._write(NoticesFile(self._content.last, left))
        return True

    def _write(self, content: NoticesFile) -> None:
        try:
            os.close(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))  # its mode is kept
            write_atomically(self._path, msgspec.json.encode(content) + b"\n", synced=True)
        except OSError as error:
            raise SiteError(f"{self._path}: cannot be written: {error.strerror or error}") from error
        self._content = content


def text_fault(text: str) -> str:
    """Return the rule that the text of a notice violates; "" for none."""
    if not text.strip() or len(text) > LONGEST:
        return f"must have at least 1 and at most {LONGEST} characters, not all blank"
    return "must be on one line, without control and format characters" if escaped(text) != text else ""


def _read(path: Path) -> NoticesFile:
    """Return the content of a file of notices; none if there is no file. SiteError."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return NoticesFile()
    except OSError as error:
        raise SiteError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not content:
        return NoticesFile()  # created, but not written yet
    try:
        found = msgspec.json.decode(content, type=NoticesFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _damaged(path, displayed_line(str(error))) from None
    for place, notice in enumerate(found.notices):
        if fault := text_fault(notice.text):
            raise _damaged(path, f"notices[{place}].text: {fault}")
        if not (found.notices[place - 1].number if place else 0) < notice.number <= found.last:
            raise _damaged(path, f"notices[{place}].number: must be greater than those before, and at most `last`")
        if not (0 <= notice.published <= LATEST and 0 <= (notice.until or 0) <= LATEST):
            raise _damaged(path, f"notices[{place}]: dates must be in seconds from 1970, before the year 9999")
    return found


def _damaged(path: Path, why: str) -> SiteError:
    return SiteError(f"{path}: {why}: correct the file, or remove it: no decision depends on it")

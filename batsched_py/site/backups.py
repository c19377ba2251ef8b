"""Backups of a site: consistent copies of its journal, transcript, notices and audit log, also while the site runs.

The complete exchanges of the transcript, and the complete lines of the audit log, are copied before the journal.
Because requests are in the journal before they take effect and before they are answered, the copied journal has all
requests of the copied transcript and of the copied log.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from batsched_py.errors import SiteError
from batsched_py.site.audit import whole_lines
from batsched_py.site.folder import AUDIT, JOURNAL, NOTICES, TRANSCRIPT, SiteFolder
from batsched_py.site.journal import check_journal
from batsched_py.site.recording import whole_size

#: Bytes that are copied at once.
_PIECE: Final = 1 << 20


class Copied(Struct, frozen=True):
    """The content of a copy.

    Attributes:
        requests: the number of requests in the journal.
        time: the simulated second from which a site continues with it.
        transcript: the size of the transcript in bytes; None if there is none.
    """

    requests: int
    time: float
    transcript: int | None


def back_up(folder: Path, target: Path) -> Copied:
    """Copy the files of a site, which may be running, into a new folder. SiteError if that fails."""
    if not (folder / JOURNAL).is_file():
        raise SiteError(f"{folder}: has no {JOURNAL}: it is not the folder of a site")
    with _new_folder(target) as made:
        return _copy(folder, made)


def restore(backup: Path, folder: Path) -> Copied:
    """Copy a backup into a folder without a site. SiteError if that fails."""
    if not (backup / JOURNAL).is_file():
        raise SiteError(f"{backup}: has no {JOURNAL}: it is not a backup of a site")
    with SiteFolder(folder) as locked:
        for path in (locked.journal, locked.transcript, locked.notices, locked.audit):
            if path.exists():
                raise SiteError(f"{path}: is there already: move the files of the site away first")
        with _new_folder(folder / "restored") as made:
            copied = _copy(backup, made)
        try:
            for name in (NOTICES, AUDIT, TRANSCRIPT, JOURNAL):  # the journal last: a folder without it is not a site
                if (folder / "restored" / name).exists():
                    os.rename(folder / "restored" / name, folder / name)
            (folder / "restored").rmdir()
        except OSError as error:
            raise SiteError(f"{folder}: {error.strerror or error}") from error
        return copied


@contextmanager
def _new_folder(target: Path) -> Iterator[Path]:
    """Yield a temporary folder that is renamed to `target` at the end, or removed after an error."""
    if target.exists():
        raise SiteError(f"{target}: is there already")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f"{target.name}.", dir=target.parent))
    except OSError as error:
        raise SiteError(f"{target}: {error.strerror or error}") from error
    try:
        yield made
        os.rename(made, target)
    except OSError as error:
        raise SiteError(f"{target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _copy(source: Path, target: Path) -> Copied:
    """Copy the notices, the audit log and the transcript, then the journal, and check the copied journal."""
    size = None
    if (source / NOTICES).exists():  # replaced as a whole, never half of it
        _copy_bytes(source / NOTICES, target / NOTICES, sys.maxsize)
    if (source / AUDIT).exists():
        _copy_bytes(source / AUDIT, target / AUDIT, whole_lines(source / AUDIT))
    if (source / TRANSCRIPT).exists():
        size = whole_size(source / TRANSCRIPT)
        _copy_bytes(source / TRANSCRIPT, target / TRANSCRIPT, size)
    try:
        os.close(os.open(target / JOURNAL, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with (
            closing(
                sqlite3.connect(f"{(source / JOURNAL).absolute().as_uri()}?mode=ro", uri=True, timeout=60.0)
            ) as old,
            closing(sqlite3.connect(target / JOURNAL)) as new,
        ):
            old.backup(new)
            new.execute("PRAGMA journal_mode = DELETE")
    except sqlite3.Error as error:
        raise SiteError(f"{source / JOURNAL}: {error}") from error
    requests, time = check_journal(target / JOURNAL, source / JOURNAL)
    return Copied(requests, time, size)


def _copy_bytes(source: Path, target: Path, size: int) -> None:
    """Copy the first bytes of a file, `size` at most, into a new one."""
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with source.open("rb") as old, open(descriptor, "wb") as new:
        while size > 0:
            piece = old.read(min(size, _PIECE))
            new.write(piece)
            size -= len(piece) or size
        new.flush()
        os.fsync(new.fileno())

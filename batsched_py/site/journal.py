"""The journal of a site: the accepted requests, in the order in which they take effect, in an SQLite file.

A site restarts from the journal alone: platform, algorithm and options must be those of its first start, and the
requests are replayed at their instants. Each batch of requests is one transaction, which is on disk when `append`
returns. Each record carries a hash of itself and all records before it, which reveals changed and missing records;
missing records at the end are detected with the transcript.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct

from batsched_py.errors import SiteError
from batsched_py.site.same_file import check_same_file

# A site keeps what it was asked for, not what it has become: its state is computed again by playing the requests.
# Keeping the state, as Haizea does, would need a format of each algorithm, could not be read by another version, and
# would show a mistake much later as a wrong decision (ADR 30). The price is a start that takes as long as all decisions
# so far, some ten seconds for 10 000 leases.
#
# The order is what makes it safe: a request gets its simulated instant, is written to disk, and only then is answered
# and happens. So a killed site has lost nothing that it confirmed. `append` is all or nothing, and its hash is taken
# over only after the commit. A batch is one transaction, so its requests wait for the disk once.
#
# The clock is different. It may be ahead of what happened but must not be behind, and is written often, so it is not
# synchronous (`keep_time`): after a crash of the machine the site continues from an earlier instant, but never before a
# request.
#
# SQLite gives transactions that survive `kill -9`, and backups while the site runs. It does not notice that a record
# was changed or removed on purpose, or that its file was replaced: hence the chained hashes and `_check_there`. The
# chain begins with the properties of the site, so that a journal cannot be moved to another one. It cannot show that
# the last records are missing; the transcript does.
#
# Cost: one synchronous write for each batch, and a hash for each record; reading is O(records), one at a time.

#: The version of the format, increased by changes that older programs would misread.
VERSION: Final = 2
#: The version without hashes; they are added when the file is opened.
_UNHASHED: Final = 1

_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), time REAL NOT NULL);
CREATE TABLE requests (
    number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, time REAL NOT NULL, accepted REAL NOT NULL,
    kind TEXT NOT NULL, target INTEGER, user TEXT NOT NULL, groupname TEXT NOT NULL, members BLOB NOT NULL,
    hash BLOB
);
"""
_INSERT: Final = "INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_COLUMNS: Final = "number, batch, time, accepted, kind, target, user, groupname, members"


#: The kind of the request that closes the site: no more requests are accepted after it. It becomes no event.
CLOSE: Final = "close_site"
#: The hash of no request.
_NO_REQUEST: Final = "0"
#: Seconds to wait for a lock of another process, which makes a backup.
_PATIENCE: Final = 5.0


class JournalEntry(Struct, frozen=True):
    """An accepted request.

    Attributes:
        number: from 1, in the order of acceptance.
        batch: the number of its batch, whose requests take effect together.
        time: the simulated instant at which it takes effect.
        accepted: the wall-clock time, in seconds since 1970.
        kind: the type of the external event that it becomes.
        target: the number of the request that it refers to; None if it refers to none.
        user, group: the caller.
        members: the members of the event.
    """

    number: int
    batch: int
    time: float
    accepted: float
    kind: str
    target: int | None
    user: str
    group: str
    members: Mapping[str, Any]


class Journal:
    """The open journal of a site; the folder must be locked. All methods raise SiteError.

    Args:
        path: the file, created if it is missing.
        about: properties of the site by name; SiteError if an existing file has other values.

    Attributes:
        begun: when the file was created, in seconds since 1970: the simulated second 0.
        bytes: user -> bytes of the members of all its requests.
    """

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        self._path = path
        try:
            # Created here with access for the owner only; SQLite gives its other files the same permissions.
            made = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            os.fchmod(made, 0o600)
            self._inode = os.fstat(made).st_ino
            os.close(made)
            self._database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        except OSError as error:
            raise SiteError(f"{path}: {error.strerror or error}") from error
        except sqlite3.Error as error:
            raise self._failure(error) from error
        #: The hash of the latest record, and that before the first one.
        self._hash = self._first = b""
        self.bytes: dict[str, int] = {}
        try:
            self._open(about)
        except sqlite3.Error as error:
            self._database.close()
            raise self._failure(error) from error
        except SiteError:
            self._database.close()
            raise

    def _open(self, about: Mapping[str, str]) -> None:
        run = self._database.execute
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = FULL")
        run("BEGIN EXCLUSIVE")
        if not run("SELECT 1 FROM sqlite_master WHERE name = 'about'").fetchone():
            for statement in filter(str.strip, _TABLES.split(";")):
                run(statement)
            rows = {"version": str(VERSION), "begun": f"{time.time():.3f}", **about}.items()
            self._database.executemany("INSERT INTO about VALUES (?, ?)", rows)
            run("INSERT INTO clock VALUES (1, 0.0)")
        run("COMMIT")
        known = dict(run("SELECT name, value FROM about").fetchall())
        version = known.pop("version")
        self._hash = self._first = _hash(b"", sorted(known.items()))
        if version == str(_UNHASHED):
            self._add_hashes()
        elif version != str(VERSION):
            raise SiteError(f"{self._path}: was written by another version of batsched-py, which this one cannot read")
        self.begun = float(known["begun"])
        for name, value in about.items():
            if known.get(name) != value:
                raise SiteError(
                    f"{self._path}: was started with another {name} ({known.get(name)}): continue with that, or use"
                    " another folder"
                )

    def _add_hashes(self) -> None:
        """Upgrade a file without hashes to this version."""
        run, found = self._database.execute, self._hash
        run("BEGIN")
        run("ALTER TABLE requests ADD COLUMN hash BLOB")
        for row in run(f"SELECT {_COLUMNS} FROM requests ORDER BY number").fetchall():  # noqa: S608
            found = _hash(found, row)
            run("UPDATE requests SET hash = ? WHERE number = ?", (found, row[0]))
        run("UPDATE about SET value = ? WHERE name = 'version'", (str(VERSION),))
        run("COMMIT")

    def read(self) -> Iterator[JournalEntry]:
        """Iterate over all requests in order; call it before any is added."""
        self._hash = self._first
        self.bytes.clear()
        try:
            with closing(self._database.execute(f"SELECT {_COLUMNS}, hash FROM requests ORDER BY number")) as rows:  # noqa: S608
                for *row, kept in rows:
                    self._hash = _hash(self._hash, row)
                    if self._hash != kept:
                        raise SiteError(
                            f"{self._path}: request {row[0]} is damaged, or one before it is missing: restore a backup"
                        )
                    number, batch, at, accepted, kind, target, user, group, members = row
                    self.bytes[user] = self.bytes.get(user, 0) + len(members)
                    yield JournalEntry(number, batch, at, accepted, kind, target, user, group, orjson.loads(members))
        except (sqlite3.Error, orjson.JSONDecodeError) as error:
            raise self._failure(error) from error

    def hash_of(self, number: int) -> str:
        """Return the hash of a request and all before it, in hexadecimal digits; "" if there is none."""
        if not number:
            return _NO_REQUEST
        try:
            row = self._database.execute("SELECT hash FROM requests WHERE number = ?", (number,)).fetchone()
        except sqlite3.Error as error:
            raise self._failure(error) from error
        return "" if row is None else bytes(row[0]).hex()

    @property
    def time(self) -> float:
        """The recorded simulated time, which the site may have reached before it ended."""
        try:
            return float(self._database.execute("SELECT time FROM clock").fetchone()[0])
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def append(self, entries: Sequence[JournalEntry]) -> None:
        """Write a batch to disk, as a whole or, with SiteError, not at all."""
        rows, found = list[tuple[Any, ...]](), self._hash
        for one in entries:
            members = orjson.dumps(one.members)
            row = (one.number, one.batch, one.time, one.accepted, one.kind, one.target, one.user, one.group, members)
            found = _hash(found, row)
            rows.append((*row, found))
        self._check_there()
        try:
            self._database.execute("BEGIN")
            try:
                self._database.executemany(_INSERT, rows)
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # unless a full disk has already ended it
                    self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._failure(error) from error
        self._hash = found
        for row in rows:
            self.bytes[row[6]] = self.bytes.get(row[6], 0) + len(row[8])

    def keep_time(self, time: float) -> None:
        """Record that the site may reach `time`, from which a killed site continues.

        The record survives a crash of the process, but not of the machine: the write is not synchronous.
        """
        self._check_there()
        try:
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute("UPDATE clock SET time = ?", (time,))
            self._database.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _check_there(self) -> None:
        """Raise SiteError if the file was removed or replaced: SQLite would go on writing to the removed file."""
        check_same_file(self._path, self._inode)

    def _failure(self, error: Exception) -> SiteError:
        if "locked" in str(error):
            return SiteError(f"{self._path}: another process has it open")
        return SiteError(f"{self._path}: {error}")


def _hash(before: bytes, row: Sequence[Any]) -> bytes:
    """Return the chained hash of a record: of the hash before it and its values."""
    return sha256(before + repr(tuple(row)).encode("utf-8", "surrogatepass")).digest()


def requests_until(path: Path, last: int) -> Iterator[JournalEntry]:
    """Iterate over the requests of a site, which may run, up to the number `last`. SiteError."""
    query = f"SELECT {_COLUMNS} FROM requests WHERE number <= ? ORDER BY number"  # noqa: S608
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=_PATIENCE)) as database:
            for number, batch, at, accepted, kind, target, user, group, members in database.execute(query, (last,)):
                yield JournalEntry(number, batch, at, accepted, kind, target, user, group, orjson.loads(members))
    except (sqlite3.Error, orjson.JSONDecodeError) as error:
        raise SiteError(f"{path}: {error}") from error


def check_journal(path: Path, named: Path) -> tuple[int, float]:
    """Check the records of a file that no site has open; return their number, and the time from which it continues.

    SiteError, which names the file `named` that it is a copy of.
    """
    try:
        with closing(sqlite3.connect(path)) as database:
            about = dict(database.execute("SELECT name, value FROM about").fetchall())
            version = about.pop("version", "")
            found, last, number = _hash(b"", sorted(about.items())), 0.0, 0
            hashed = ", hash" if version == str(VERSION) else ", NULL"
            for *row, kept in database.execute(f"SELECT {_COLUMNS}{hashed} FROM requests ORDER BY number"):  # noqa: S608
                found = _hash(found, row)
                if version == str(VERSION) and found != kept:
                    raise SiteError(f"{named}: request {row[0]} is damaged, or one before it is missing")
                number, last = row[0], row[2]
            return number, max(last, float(database.execute("SELECT time FROM clock").fetchone()[0]))
    except sqlite3.Error as error:
        raise SiteError(f"{named}: {error}") from error

"""The journal of a site: what was accepted, in the order in which it happens, in an SQLite file.

It is all that a site needs to begin again: platform, algorithm and options are those of its first start, and the
requests in it are played once more at their instants. Each batch of requests is one transaction, which has reached the
disk when `append` returns.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct

from batsched_py.errors import SiteError

#: Goes up when a program that reads the older version would misread the newer one.
VERSION: Final = 1

_TABLES: Final = """
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE clock (one INTEGER PRIMARY KEY CHECK (one = 1), time REAL NOT NULL);
CREATE TABLE requests (
    number INTEGER PRIMARY KEY, batch INTEGER NOT NULL, time REAL NOT NULL, accepted REAL NOT NULL,
    kind TEXT NOT NULL, target INTEGER, user TEXT NOT NULL, groupname TEXT NOT NULL, members BLOB NOT NULL
);
"""
_COLUMNS: Final = "number, batch, time, accepted, kind, target, user, groupname, members"


class Entry(Struct, frozen=True):
    """A request that was accepted.

    Attributes:
        number: from 1, in the order of acceptance.
        batch: requests of one batch happen together.
        time: the simulated instant at which it happens.
        accepted: the wall-clock time, in seconds since 1970.
        kind: the type of the external event that it becomes.
        target: the number of the request that it is about; None if it begins something of its own.
        user, group: who asked.
        members: those of the event.
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
    """The open file of a site; one process at a time may have it. Everything raises SiteError.

    Args:
        path: the file, which is made if it is not there.
        about: what the site is: of a file that exists, it must be the same.

    Attributes:
        begun: when the file was made, in seconds since 1970: the simulated second 0.
    """

    def __init__(self, path: Path, about: Mapping[str, str]) -> None:
        self._path = path
        try:
            self._database = sqlite3.connect(path, timeout=0.0, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            raise self._failure(error) from error
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
        # The file is locked for as long as it is open: two processes must not decide for one site.
        run("PRAGMA locking_mode = EXCLUSIVE")
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
        if known.pop("version") != str(VERSION):
            raise SiteError(f"{self._path}: was written by another version of batsched-py, which this one cannot read")
        self.begun = float(known["begun"])
        for name, value in about.items():
            if known.get(name) != value:
                raise SiteError(
                    f"{self._path}: was started with another {name} ({known.get(name)}): continue with that, or use"
                    " another folder"
                )

    def read(self) -> Iterator[Entry]:
        """Iterate over the requests, in their order."""
        try:
            with closing(self._database.execute(f"SELECT {_COLUMNS} FROM requests ORDER BY number")) as rows:  # noqa: S608
                for number, batch, at, accepted, kind, target, user, group, members in rows:
                    yield Entry(number, batch, at, accepted, kind, target, user, group, orjson.loads(members))
        except (sqlite3.Error, orjson.JSONDecodeError) as error:
            raise self._failure(error) from error

    @property
    def time(self) -> float:
        """The simulated time that the site may have reached when it was left."""
        try:
            return float(self._database.execute("SELECT time FROM clock").fetchone()[0])
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def append(self, entries: Sequence[Entry]) -> None:
        """Write a batch; it is on disk when this returns, or nothing of it is."""
        rows = [
            (one.number, one.batch, one.time, one.accepted, one.kind, one.target, one.user, one.group, _text(one))
            for one in entries
        ]
        try:
            self._database.execute("BEGIN")
            try:
                self._database.executemany("INSERT INTO requests VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
                self._database.execute("COMMIT")
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def keep_time(self, time: float) -> None:
        """Note that the site may reach `time`; a site that is killed goes on there.

        This survives the end of the process, not a failure of the machine: nobody waits for the disk.
        """
        try:
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.execute("UPDATE clock SET time = ?", (time,))
            self._database.execute("PRAGMA synchronous = FULL")
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def close(self) -> None:
        """Close the file; another process may open it then."""
        self._database.close()

    def _failure(self, error: Exception) -> SiteError:
        if "locked" in str(error):
            return SiteError(f"{self._path}: another process has it open")
        return SiteError(f"{self._path}: {error}")


def _text(entry: Entry) -> bytes:
    return orjson.dumps(entry.members)

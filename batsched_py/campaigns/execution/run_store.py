"""The store of a campaign: a file for each run that ended, under its key, written whole or not at all."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from batsched_py.campaigns.execution.stored_run import StoredRun, decode_run
from batsched_py.errors import InputError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.bounded_file import reported
from batsched_py.files.output_file import naming_errors

_RUNS: Final = "runs"
_JOBS: Final = "jobs"
#: Ending of the files of each folder.
_ENDINGS: Final = {_RUNS: ".json", _JOBS: ".parquet"}
#: Digits of a key that name a folder: some file systems are slow with thousands of files in one folder.
_FOLDER_DIGITS: Final = 2
_LOCK: Final = "lock"


class RunStore:
    """The stored runs of a folder. A program that is killed at any moment leaves complete files only."""

    def __init__(self, folder: Path) -> None:
        """Open a folder, which need not exist yet."""
        self.folder = folder
        self._made: set[Path] = set()

    def keys(self, *, with_jobs: bool = False) -> set[str]:
        """Return the keys of the stored runs; if `with_jobs`, only of those whose jobs are stored, too."""
        found = self._keys(_RUNS)
        return found & self._keys(_JOBS) if with_jobs else found

    def read(self, key: str, *, with_jobs: bool = False) -> StoredRun:
        """Return a stored run. InputError if its file, or the wanted file of its jobs, is damaged."""
        path = self._path(_RUNS, key)
        with reported(path, InputError):
            content = path.read_bytes()
        run = decode_run(path, content)
        if with_jobs and not run.outcome.failed:
            self._check_jobs(key, run)
        return run

    def _check_jobs(self, key: str, run: StoredRun) -> None:
        path = self.jobs_path(key)
        with reported(path, InputError), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != run.jobs_sha256:
            raise InputError(str(path), "", "does not have the jobs of its run: its checksum is wrong")

    def jobs_path(self, key: str) -> Path:
        """Return the file of the jobs of a run."""
        return self._path(_JOBS, key)

    def put(self, key: str, content: bytes, jobs: bytes | None = None) -> None:
        """Store a run, after its jobs if there are any, so that every stored run has its jobs. InputError."""
        if jobs is not None:
            self._write(self._path(_JOBS, key), jobs)
        self._write(self._path(_RUNS, key), content)

    def remove(self, key: str) -> None:
        """Remove a run. InputError."""
        for kind in _ENDINGS:
            path = self._path(kind, key)
            with naming_errors(path):
                path.unlink(missing_ok=True)

    def remove_remains(self) -> int:
        """Remove the incomplete files of killed programs, and return their number. InputError."""
        remains = [path for kind in _ENDINGS for path in self._files(kind) if path.name.startswith(".")]
        for path in remains:
            with naming_errors(path):
                path.unlink(missing_ok=True)
        return len(remains)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the campaign against other programs that run or clean it. InputError if one has locked it."""
        path = self.folder / _LOCK
        with naming_errors(path):
            self.folder.mkdir(parents=True, exist_ok=True)
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(file)
            raise InputError(str(self.folder), "", "another program runs this campaign now") from error
        try:
            yield
        finally:
            os.close(file)  # which unlocks it, as does the death of the program

    def _keys(self, kind: str) -> set[str]:
        ending = _ENDINGS[kind]
        return {
            path.parent.name + path.name.removesuffix(ending)
            for path in self._files(kind)
            if path.name.endswith(ending) and not path.name.startswith(".")
        }

    def _files(self, kind: str) -> list[Path]:
        folder = self.folder / kind
        return [Path(entry) for inner in sorted(folder.glob("??")) if inner.is_dir() for entry in os.scandir(inner)]

    def _path(self, kind: str, key: str) -> Path:
        return self.folder / kind / key[:_FOLDER_DIGITS] / (key[_FOLDER_DIGITS:] + _ENDINGS[kind])

    def _write(self, path: Path, content: bytes) -> None:
        with naming_errors(path):
            if path.parent not in self._made:
                path.parent.mkdir(parents=True, exist_ok=True)
                self._made.add(path.parent)
            write_atomically(path, content)

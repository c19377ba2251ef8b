"""The folder of a site: files with access for their owner only, locked by the process that decides."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final, Self

from batsched_py.errors import SiteError

JOURNAL: Final = "site.sqlite"
TRANSCRIPT: Final = "transcript.jsonl"
AUDIT: Final = "audit.jsonl"
NOTICES: Final = "notices.json"
IMAGE: Final = "state.json"


class SiteFolder:
    """A folder, created if missing and locked until it is closed. SiteError if it cannot be created or locked.

    Attributes:
        path: the folder.
        journal, transcript, audit, notices, image: the paths of its files.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.journal, self.transcript = path, path / JOURNAL, path / TRANSCRIPT
        self.audit, self.notices, self.image = path / AUDIT, path / NOTICES, path / IMAGE
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(mode=0o700, exist_ok=True)
            self._lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise SiteError(f"{path}: {error.strerror or error}") from error
        try:
            # Two processes must not decide for one site.
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._lock)
            why = "another process has it open" if isinstance(error, BlockingIOError) else error.strerror or error
            raise SiteError(f"{self.journal}: {why}") from error

    def close(self) -> None:
        """Release the lock."""
        if self._lock != -1:
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""The file of a run: its outcome without names, and the versions of the program and of Python."""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path
from typing import Any, Final

import msgspec
import orjson
from msgspec import Struct

import batsched_py
from batsched_py.campaigns.study import Outcome
from batsched_py.errors import InputError
from batsched_py.protocol.batsim5.greeting import Features
from batsched_py.reporting.metrics.run_metrics import RunMetrics
from batsched_py.text.display import displayed

#: The member with the checksum of all others.
_CHECK: Final = "sha256"


class StoredRun(Struct, frozen=True, kw_only=True):
    """A run that ended, without the names of its workload and its algorithm in tables.

    Attributes:
        metrics, ran, succeeded, warnings, approximations, error, exit_code, features: as those of an `Outcome`.
        version: of batsched-py.
        python: the version of Python.
        seconds: duration of the run; the only member that differs if the run is repeated.
        jobs_sha256: SHA-256 of the file of its jobs; None without one.
    """

    metrics: RunMetrics | None
    ran: str
    succeeded: str
    warnings: tuple[str, ...]
    approximations: tuple[str, ...]
    error: str
    exit_code: int
    version: str
    python: str
    seconds: float
    features: Features | None = None
    jobs_sha256: str | None = None

    @property
    def failed(self) -> bool:
        """True if the run ended with an error."""
        return bool(self.error)

    def outcome(self, workload: str, variant: str, options: dict[str, Any]) -> Outcome:
        """Return the outcome under these names, with the options as they held."""
        return Outcome(
            workload,
            variant,
            self.metrics,
            self.ran,
            self.succeeded,
            self.warnings,
            self.approximations,
            self.error,
            self.exit_code,
            options,
            self.features,
        )


def stored(outcome: Outcome, seconds: float = 0.0, jobs: bytes | None = None) -> StoredRun:
    """Return the record to store for a run that took `seconds`; `jobs` is the content of the file of its jobs."""
    return StoredRun(
        metrics=outcome.metrics,
        ran=outcome.ran,
        succeeded=outcome.succeeded,
        warnings=outcome.warnings,
        approximations=outcome.approximations,
        error=outcome.error,
        exit_code=outcome.exit_code,
        version=batsched_py.__version__,
        python=platform.python_version(),
        seconds=round(seconds, 3),
        features=outcome.features,
        jobs_sha256=None if jobs is None else hashlib.sha256(jobs).hexdigest(),
    )


def encode_run(run: StoredRun) -> bytes:
    """Return the content of the file of a run, with a checksum."""
    members = msgspec.to_builtins(run)
    return orjson.dumps({**members, _CHECK: _digest(members)}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_run(path: Path, content: bytes) -> StoredRun:
    """Return the run in a file. InputError names a file that is not valid or whose checksum does not match."""
    try:
        members = orjson.loads(content)
        check = members.pop(_CHECK, None) if isinstance(members, dict) else None
        run = msgspec.convert(members, StoredRun)
    except (orjson.JSONDecodeError, msgspec.ValidationError) as error:
        raise InputError(str(path), "", f"is not a run of a campaign: {displayed(str(error))}") from error
    if check != _digest(members):
        raise InputError(str(path), "", "is not a run of a campaign: its checksum is wrong")
    return run


def _digest(members: Any) -> str:
    return hashlib.sha256(orjson.dumps(members)).hexdigest()

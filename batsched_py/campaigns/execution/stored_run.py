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
from batsched_py.campaigns.outcome import Outcome
from batsched_py.errors import InputError
from batsched_py.text.display import displayed

#: The member with the checksum of all others.
_CHECK: Final = "sha256"
#: Members of an outcome that the plan of the campaign has, that follow the versions, or that campaigns do not have.
_IN_SPEC: Final = ("workload", "variant", "options", "features", "jobs")
#: The outcome of a run that is read from its file, without names.
_NAMELESS: Final = {"workload": "", "variant": ""}


class StoredRun(Struct, frozen=True, kw_only=True):
    """A run that ended.

    Attributes:
        outcome: its outcome; without names and options if it was read from a file.
        version: of batsched-py.
        python: the version of Python.
        seconds: duration of the run; the only member that differs if the run is repeated.
        jobs_sha256: SHA-256 of the file of its jobs; None without one.
    """

    outcome: Outcome
    version: str
    python: str
    seconds: float
    jobs_sha256: str | None = None


def stored(outcome: Outcome, seconds: float = 0.0, jobs: bytes | None = None) -> StoredRun:
    """Return the record to store for a run that took `seconds`; `jobs` is the content of the file of its jobs."""
    return StoredRun(
        outcome=outcome,
        version=batsched_py.__version__,
        python=platform.python_version(),
        seconds=round(seconds, 3),
        jobs_sha256=None if jobs is None else hashlib.sha256(jobs).hexdigest(),
    )


def encode_run(run: StoredRun) -> bytes:
    """Return the content of the file of a run, with a checksum."""
    rest: dict[str, Any] = msgspec.to_builtins(run)
    outcome: dict[str, Any] = rest.pop("outcome")
    last = {"features": outcome["features"], "jobs_sha256": rest.pop("jobs_sha256")}
    members = {name: value for name, value in outcome.items() if name not in _IN_SPEC} | rest | last
    return orjson.dumps({**members, _CHECK: _digest(members)}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def decode_run(path: Path, content: bytes) -> StoredRun:
    """Return the run in a file. InputError names a file that is not valid or whose checksum does not match."""
    try:
        members = msgspec.convert(orjson.loads(content), dict[str, Any])
        check = members.pop(_CHECK, None)
        outcome = msgspec.convert(_NAMELESS | members, Outcome)
        run = msgspec.convert({**members, "outcome": outcome}, StoredRun)
    except (orjson.JSONDecodeError, msgspec.ValidationError) as error:
        raise InputError(str(path), "", f"is not a run of a campaign: {displayed(str(error))}") from error
    if check != _digest(members):
        raise InputError(str(path), "", "is not a run of a campaign: its checksum is wrong")
    return run


def _digest(members: Any) -> str:
    return hashlib.sha256(orjson.dumps(members)).hexdigest()

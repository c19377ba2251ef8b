"""The key of a run: a hash of everything that determines its result, so that no run is executed twice."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec
import orjson
from msgspec import Struct

import batsched_py
from batsched_py.builds import code_digest

#: Version of the format of stored runs and of their metrics; changing it changes all keys.
RESULT_FORM: Final = 1


class RunIdentity(Struct, frozen=True, kw_only=True):
    """The inputs that determine the result of a run. Names for display are not among them.

    Attributes:
        platform: SHA-256 of its file.
        workload: SHA-256 of its content, or the parameters of the model that it is drawn from.
        algorithm: as after -s.
        options: options that the algorithm runs with, defaults included.
        files: role -> SHA-256 of the file: code of the algorithm, documents of its options, external events.
        settings: settings that the simulator runs with.
        clock: the time that decisions take.
        window: the part of the run that is measured.
        warm_up_jobs: the number of jobs that are not measured at the beginning.
        simulator: the simulator.
    """

    platform: str
    workload: Mapping[str, Any]
    algorithm: str
    options: Mapping[str, Any]
    files: Mapping[str, str | None]
    settings: Mapping[str, Any]
    clock: str
    window: Mapping[str, Any]
    warm_up_jobs: int
    simulator: str

    @property
    def key(self) -> str:
        """The SHA-256 of all attributes and of the version and the code of batsched-py; 64 hexadecimal digits."""
        made_by = {"form": RESULT_FORM, "version": batsched_py.__version__, "code": code_digest()}
        content = orjson.dumps(msgspec.to_builtins((made_by, self)), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()

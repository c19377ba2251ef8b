"""A process with other hashes of texts, kept for all variants: starting one takes longer than all that it is asked."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import msgspec

from batsched_py.plugins import load
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case
from batsched_py.testing.fingerprints import Fingerprint, fingerprints


class _Request(msgspec.Struct, frozen=True):
    algorithm: str
    options: dict[str, Any]
    cases: tuple[Case, ...]


@cache
def _process() -> subprocess.Popen[bytes]:
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": other, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-m", __name__], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    atexit.register(process.communicate)
    return process


def run_in_other_process(
    scheduler: type[Scheduler[Any]], options: Mapping[str, Any], cases: Sequence[Case]
) -> list[Fingerprint]:
    """The fingerprints of a built-in algorithm, as `batsched_py.testing.fingerprints` has them from a process each."""
    request = _Request(f"{scheduler.__module__}:{scheduler.__qualname__}", dict(options), tuple(cases))
    process = _process()
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(msgspec.json.encode(request) + b"\n")
    process.stdin.flush()
    return msgspec.json.decode(process.stdout.readline(), type=list[Fingerprint])


def main() -> None:
    """Answer each line of standard input."""
    for line in sys.stdin.buffer:
        request = msgspec.json.decode(line, type=_Request)
        found = fingerprints(load(request.algorithm), request.options, request.cases)
        sys.stdout.buffer.write(msgspec.json.encode(found) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()

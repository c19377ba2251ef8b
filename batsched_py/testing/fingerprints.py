"""Fingerprints of runs, from this process and from one with other hashes, in which sets are ordered differently."""

from __future__ import annotations

import hashlib
import inspect
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from batsched_py.errors import BatschedError, ContractError
from batsched_py.loading import PYBATSIM_PREFIX
from batsched_py.plugins import load, name_of
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case
from batsched_py.testing.play import Player


class _Request(Struct, frozen=True):
    """The input of the other process: an algorithm as after `-s`, its options, and cases to play."""

    algorithm: str
    options: dict[str, Any]
    cases: tuple[Case, ...]


#: A hash of each exchange of a case, in order, and finally of the error that ended it.
Fingerprint = list[str]


def fingerprints(
    scheduler: type[Scheduler[Any]], options: Mapping[str, Any], cases: Sequence[Case]
) -> list[Fingerprint]:
    """Return the fingerprint of each case, up to the error that ends it."""
    found = []
    for case in cases:
        player = Player(scheduler, options, case)
        end = b""
        try:
            player.run()
        except BatschedError as error:
            end = type(error).__name__.encode()
        lines = [*map(b"\n".join, player.exchanges), end]
        found.append([hashlib.sha256(line).hexdigest()[:16] for line in lines])
    return found


def run_in_other_process(
    scheduler: type[Scheduler[Any]], options: Mapping[str, Any], cases: Sequence[Case]
) -> list[Fingerprint] | None:
    """Return the fingerprints from a process with other hashes of texts; None if it cannot import the class by name."""
    if "." in scheduler.__qualname__:
        return None
    named = scheduler.__module__.startswith(PYBATSIM_PREFIX)
    algorithm = name_of(scheduler) if named else f"{inspect.getfile(scheduler)}:{scheduler.__qualname__}"
    request = msgspec.json.encode(_Request(algorithm, dict(options), tuple(cases)))
    other_hashes = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(  # noqa: S603  (our own program, and an algorithm that runs here anyhow)
        [sys.executable, "-m", __name__],
        input=request,
        env={**os.environ, "PYTHONHASHSEED": other_hashes, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ContractError(f"{algorithm} cannot be run in another process: {' '.join(last)}")
    return msgspec.json.decode(done.stdout, type=list[Fingerprint])


def main() -> None:
    """Play the cases on stdin, and write their fingerprints."""
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=_Request)
    found = fingerprints(load(request.algorithm), request.options, request.cases)
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()

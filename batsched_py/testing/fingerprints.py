"""Fingerprints of runs, made here and by a process in which texts hash otherwise: there a set has another order."""

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
from batsched_py.plugins import load
from batsched_py.scheduling.base import Scheduler
from batsched_py.testing.case import Case
from batsched_py.testing.play import Player


class Errand(Struct, frozen=True):
    """What the other process is asked: an algorithm as after `-s`, its options, and cases to play."""

    algorithm: str
    options: dict[str, Any]
    cases: tuple[Case, ...]


#: A hash of each exchange of a case, in order, and at last of what ended it.
Fingerprint = list[str]


def fingerprints(
    scheduler: type[Scheduler[Any]], options: Mapping[str, Any], cases: Sequence[Case]
) -> list[Fingerprint]:
    """What is said in each case, up to the error that ends it, in short."""
    found = []
    for case in cases:
        player = Player(scheduler, options, case)
        end = b""
        try:
            player.run()
        except BatschedError as error:
            end = type(error).__name__.encode()
        said = [b"\n".join(exchange) for exchange in player.exchanges]
        found.append([hashlib.sha256(line).hexdigest()[:16] for line in (*said, end)])
    return found


def elsewhere(
    scheduler: type[Scheduler[Any]], options: Mapping[str, Any], cases: Sequence[Case]
) -> list[Fingerprint] | None:
    """The same hashes, made by a process in which texts hash otherwise; None if it could not name the class."""
    if "." in scheduler.__qualname__:
        return None
    algorithm = f"{inspect.getfile(scheduler)}:{scheduler.__qualname__}"
    errand = msgspec.json.encode(Errand(algorithm, dict(options), tuple(cases)))
    other_hashes = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    done = subprocess.run(  # noqa: S603  (our own program, and an algorithm that runs here anyhow)
        [sys.executable, "-m", __name__],
        input=errand,
        env={**os.environ, "PYTHONHASHSEED": other_hashes, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise ContractError(f"{algorithm} cannot be run in another process: {' '.join(last)}")
    return msgspec.json.decode(done.stdout, type=list[Fingerprint])


def main() -> None:
    """Play what stdin asks for, and write the hashes."""
    errand = msgspec.json.decode(sys.stdin.buffer.read(), type=Errand)
    found = fingerprints(load(errand.algorithm), errand.options, errand.cases)
    sys.stdout.buffer.write(msgspec.json.encode(found))


if __name__ == "__main__":
    main()

"""`python -m tests.differential.library_side FOLDER [--inputs FOLDER]`: recordings of Batsim 5, played to libraries.

A library answers each recorded conversation as `serve` does, byte for byte, up to an error if there is one, with its
text. One library has the decisions of the recorded client, so that whole conversations are played; the other decides
itself, until a recorded message contradicts its decisions.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from batsched_py.cli.shared.component_build import missing
from batsched_py.errors import BatschedError
from batsched_py.model.features import Features
from batsched_py.protocol.batsim5.greeting import write_greeting
from batsched_py.runs.choice import Choice, make_session
from batsched_py.text.display import displayed
from tests.clone import ROOT
from tests.differential.recorded import UnusableError
from tests.differential.recorded5 import Recorded5, files_of_runs
from tests.differential.recorded_client import FOLDER, INPUTS
from tests.edc_driver import Answer, Call, compile_driver, compile_library, conversation, play

#: The algorithm that repeats what a recorded client said.
CLIENT: Final = f"{ROOT}/tests/differential/recorded_client.py:RecordedClient"
_ERROR: Final = "batsched-py: error: "


class Comparison(Struct, frozen=True):
    """Conversations that were played, the number that ended without an error, and a line for each that differs."""

    played: int
    good: int
    differences: Sequence[str]


def read_recordings(folder: Path, inputs: Path | None = None) -> Iterator[Recorded5]:
    """All in which something was said."""
    for path in files_of_runs(folder):
        try:
            yield Recorded5(path, inputs)
        except UnusableError:
            continue


def words_for(run: Recorded5, algorithm: str) -> bytes:
    """The text of Batsim, which names the recording to the recorded client."""
    return json.dumps({"recording": run.name}).encode() if algorithm == CLIENT else b""


def requests_of(run: Recorded5) -> list[bytes]:
    """The messages of a recording after the greeting."""
    return [run.told(exchange.request) for exchange in run.exchanges[1:]]


def expected(run: Recorded5, algorithm: str) -> tuple[list[bytes], str]:
    """The answers of a session, as `serve` sends them, and its error; after it there is no answer."""
    choice = Choice(algorithm, compute_sharing=True)
    session = make_session(choice, features=Features(dynamic_registration=algorithm == CLIENT))
    answers: list[bytes] = []
    try:
        for request in (write_greeting(words_for(run, algorithm).decode()), *requests_of(run)):
            answers.append(session.answer(request))
    except BatschedError as error:
        return answers, str(error)
    return answers, ""


def answered(answers: Sequence[Answer]) -> list[bytes]:
    """The answers of a library, the first with the number of its format in front, as over a socket."""
    good = [answer for answer in answers if answer.result == 0]
    return [good[0].flags.to_bytes(4, "little") + good[0].content, *(answer.content for answer in good[1:])]


def compare(runs: Sequence[Recorded5], algorithm: str, folder: Path) -> Comparison:
    """Play all recordings, one after the other in one process."""
    library = compile_library(folder, "libclient.so", "-s", algorithm, "--enable-compute-sharing")
    parts = [conversation(requests_of(run), words_for(run, algorithm)) for run in runs]
    calls: list[Call] = [call for part in parts for call in part]
    where = {FOLDER: str(runs[0].folder), INPUTS: str(runs[0].inputs)}
    played = play(compile_driver(folder), [library], calls, folder, environment=where)
    if played.code != 0 or len(played.answers) != len(calls):
        return Comparison(0, 0, (f"the process ended with {played.code}: {played.said[-300:]}",))
    said = iter([line.removeprefix(_ERROR) for line in played.said.splitlines() if line.startswith(_ERROR)])
    answers, good, differences = iter(played.answers), 0, list[str]()
    os.environ |= where
    for run, part in zip(runs, parts, strict=True):
        mine = [next(answers) for _ in part][:-1]
        theirs, error = expected(run, algorithm)
        good += not error
        over = b"SimulationEndsEvent" in run.exchanges[-1].request
        told = "" if over and not error else next(said, "nothing")
        if answered(mine) != theirs:
            differences.append(f"{run.name}: another answer")
        elif error and (told != error or mine[len(theirs)].result != 1):
            differences.append(f"{run.name}: {told}, not {error}")
        elif not (error or over or told.startswith("Batsim ended before the simulation")):
            differences.append(f"{run.name}: {told}, at its early end")
    return Comparison(len(runs), good, (*differences, *(f"nobody expected: {line}" for line in said)))


def main(arguments: Sequence[str]) -> int:
    """Play the recordings below a folder, show the differences, and tell whether there is none."""
    if len(arguments) not in (1, 3) or arguments[1:2] not in ([], ["--inputs"]) or missing():
        usage = "usage: python -m tests.differential.library_side FOLDER [--inputs FOLDER]"
        sys.stderr.write(f"{missing() or usage}\n")
        return 2
    runs = list(read_recordings(Path(arguments[0]), Path(arguments[2]) if arguments[1:] else None))
    count = 0
    for algorithm in (CLIENT, "fcfs"):
        with tempfile.TemporaryDirectory() as folder:
            found = compare(runs, algorithm, Path(folder))
        count += len(found.differences)
        summary = f"{algorithm}: {found.played} conversations, {found.good} without an error"
        sys.stdout.write("".join(f"{displayed(line)}\n" for line in (summary, *found.differences)))
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

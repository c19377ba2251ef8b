"""Libraries with a decision component: each recorded conversation of Batsim 5 has the same answers as over a socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from batsched_py.errors import BatschedError
from batsched_py.model.features import Features
from batsched_py.protocol.batsim5.greeting import write_greeting
from batsched_py.runs.choice import Choice, make_session
from tests.clone import ROOT
from tests.differential.recorded import UnusableError
from tests.differential.recorded5 import Recorded5, files_of_runs
from tests.edc_driver import Answer, Call, compile_driver, compile_library, conversation, play

CLIENT = f"{ROOT}/tests/differential/recorded_client.py:RecordedClient"


def recordings() -> Iterator[Recorded5]:
    """All in which something was said."""
    for path in files_of_runs(ROOT / "tests" / "data" / "batsim5"):
        try:
            yield Recorded5(path)
        except UnusableError:
            continue


def words(run: Recorded5) -> bytes:
    """The text of Batsim that names a recording."""
    return json.dumps({"recording": run.name}).encode()


def expected(run: Recorded5, algorithm: str, text: bytes) -> tuple[list[bytes], str]:
    """The answers of a session, as `serve` sends them, and its error; after it there is no answer."""
    choice = Choice(algorithm, compute_sharing=True)
    session = make_session(choice, features=Features(dynamic_registration=algorithm == CLIENT))
    requests = [run.told(exchange.request) for exchange in run.exchanges[1:]]
    answers: list[bytes] = []
    try:
        for request in (write_greeting(text.decode()), *requests):
            answers.append(session.answer(request))
    except BatschedError as error:
        return answers, str(error)
    return answers, ""


def answered(answers: list[Answer]) -> list[bytes]:
    """What a library answered, the first with the number of its format in front, as over a socket."""
    good = [answer for answer in answers if answer.result == 0]
    first = good[0].flags.to_bytes(4, "little") + good[0].content
    return [first, *(answer.content for answer in good[1:])]


@pytest.mark.parametrize("algorithm", [CLIENT, "fcfs"])
def test_a_library_answers_recorded_conversations_as_serve_does(algorithm: str, tmp_path: Path) -> None:
    """All, one after the other in one process: byte for byte, up to an error if there is one, with its text."""
    library = compile_library(tmp_path, "libclient.so", "-s", algorithm, "--enable-compute-sharing")
    runs = list(recordings())
    calls: list[Call] = []
    ends: list[int] = []
    for run in runs:
        text = words(run) if algorithm == CLIENT else b""
        calls += conversation([run.told(exchange.request) for exchange in run.exchanges[1:]], text)
        ends.append(len(calls))
    played = play(compile_driver(tmp_path), [library], calls, tmp_path)
    assert played.code == 0
    assert len(played.answers) == len(calls)
    said = iter([line for line in played.said.splitlines() if line.startswith("batsched-py: error: ")])
    good = 0
    for run, begin, end in zip(runs, [0, *ends], ends, strict=False):
        answers, error = expected(run, algorithm, words(run) if algorithm == CLIENT else b"")
        mine = list(played.answers[begin : end - 1])
        assert answered(mine) == answers, run.name
        good += not error
        if error:
            assert next(said) == f"batsched-py: error: {error}", run.name
            assert {answer.result for answer in mine[len(answers) :]} == {1}, run.name
        elif b"SimulationEndsEvent" not in run.exchanges[-1].request:
            assert next(said).startswith("batsched-py: error: Batsim ended before the simulation"), run.name
    assert list(said) == []
    assert good >= (50 if algorithm == CLIENT else 10)


@pytest.mark.parametrize("method", ["dlopen", "dlmopen"])
@pytest.mark.parametrize("context", ["thread", "stack"])
def test_libraries_of_two_algorithms_decide_in_one_process(method: str, context: str, tmp_path: Path) -> None:
    """In turn, however Batsim loads them, and on the stacks of SimGrid's actors."""
    runs = [Recorded5(ROOT / "tests" / "data" / "batsim5" / f"{name}.jsonl") for name in ("kill", "fcfs_basic")]
    algorithms = (CLIENT, "fcfs")
    texts = [words(runs[0]), b""]
    libraries = [
        compile_library(tmp_path, f"lib{number}.so", "-s", algorithm, "--enable-compute-sharing")
        for number, algorithm in enumerate(algorithms)
    ]
    calls = [Call("i", text, number) for number, text in enumerate(texts)]
    requests = [[run.told(exchange.request) for exchange in run.exchanges[1:]] for run in runs]
    for both in zip(*requests, strict=False):
        calls += [Call("t", request, number) for number, request in enumerate(both)]
    played = play(compile_driver(tmp_path), libraries, calls, tmp_path, method=method, context=context)
    assert played.code == 0
    for number, run in enumerate(runs):
        answers, _ = expected(run, algorithms[number], texts[number])
        mine = [answer for answer, call in zip(played.answers, calls, strict=True) if call.library == number]
        assert answered(mine) == answers[: len(mine)]

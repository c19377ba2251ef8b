"""Libraries with a decision component: each recorded conversation of Batsim 5 has the same answers as over a socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.clone import ROOT
from tests.differential.library_side import (
    CLIENT,
    answered,
    compare,
    expected,
    read_recordings,
    requests_of,
    words_for,
)
from tests.differential.recorded5 import Recorded5
from tests.edc_driver import Call, compile_driver, compile_library, play

RECORDINGS = ROOT / "tests" / "data" / "batsim5"


@pytest.mark.parametrize(("algorithm", "least"), [(CLIENT, 50), ("fcfs", 10)])
def test_a_library_answers_recorded_conversations_as_serve_does(algorithm: str, least: int, tmp_path: Path) -> None:
    """All that the project carries: byte for byte, with the texts of errors."""
    found = compare(list(read_recordings(RECORDINGS)), algorithm, tmp_path)
    assert found.differences == ()
    assert found.played == 92
    assert found.good >= least


@pytest.mark.parametrize("method", ["dlopen", "dlmopen"])
@pytest.mark.parametrize("context", ["thread", "stack"])
def test_libraries_of_two_algorithms_decide_in_one_process(method: str, context: str, tmp_path: Path) -> None:
    """In turn, however Batsim loads them, and on the stacks of SimGrid's actors."""
    runs = [Recorded5(RECORDINGS / f"{name}.jsonl") for name in ("kill", "fcfs_basic")]
    algorithms = (CLIENT, "fcfs")
    libraries = [
        compile_library(tmp_path, f"lib{number}.so", "-s", algorithm, "--enable-compute-sharing")
        for number, algorithm in enumerate(algorithms)
    ]
    calls = [Call("i", words_for(run, algorithms[number]), number) for number, run in enumerate(runs)]
    for both in zip(*map(requests_of, runs), strict=False):
        calls += [Call("t", request, number) for number, request in enumerate(both)]
    played = play(compile_driver(tmp_path), libraries, calls, tmp_path, method=method, context=context)
    assert played.code == 0
    for number, run in enumerate(runs):
        answers, _ = expected(run, algorithms[number])
        mine = [answer for answer, call in zip(played.answers, calls, strict=True) if call.library == number]
        assert answered(mine) == answers[: len(mine)]

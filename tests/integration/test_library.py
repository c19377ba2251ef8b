"""`library`: what users of Batsim 5 see of it, with a program in C in the place of Batsim."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from batsched_py.protocol.batsim5.greeting import write_greeting
from batsched_py.protocol.dialects import V5
from tests.clone import ROOT
from tests.differential.recorded5 import Recorded5
from tests.edc_driver import Call, compile_driver, compile_library, conversation, play
from tests.integration.programs import algorithm, ask, batsim, recorded, run, run_here, serving

#: A recorded run whose first messages are those of any algorithm: the beginning, and submissions.
RUN = Recorded5(ROOT / "tests" / "data" / "batsim5" / "fcfs_basic.jsonl")
REQUESTS = [exchange.request for exchange in RUN.exchanges[1:5]]


def ends(at: float) -> bytes:
    """The last message."""
    event = {"timestamp": at, "event_type": "SimulationEndsEvent", "event": {}}
    return V5.events.envelope.dump({"now": at, "events": [event]})


def short_run() -> list[bytes]:
    """A beginning, and the end; before it nothing is decided."""
    return [REQUESTS[0], ends(1.0)]


def said(text: str) -> list[str]:
    """The lines of standard error, without warnings of rejected jobs."""
    return [line for line in text.splitlines() if " warning: " not in line]


def test_a_recording_is_that_of_serve(tmp_path: Path) -> None:
    """In the folder in which Batsim runs, complete before the end of its process; a replay decides the same."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs", "--record", "library.jsonl")
    requests = short_run()
    folder = tmp_path / "of batsim"
    folder.mkdir()
    played = play(compile_driver(tmp_path), [library], conversation(requests), folder)
    assert (played.said, played.code, [answer.result for answer in played.answers]) == ("", 0, [0, 0, 0, 0])
    with serving(tmp_path, "-s", "fcfs", "--record", "serve.jsonl") as served, batsim(served.address) as client:
        for request in (write_greeting(""), *requests):
            ask(client, request)
        assert served.end()[0] == 0
    assert (folder / "library.jsonl").read_bytes() == (tmp_path / "serve.jsonl").read_bytes()
    again = run(folder, "replay", "library.jsonl")
    assert (again.returncode, again.stderr) == (0, "")


def test_the_text_of_batsim_has_options(tmp_path: Path) -> None:
    """As with `serve`, and those of the library take precedence; a wrong one ends Batsim before it decides."""
    library = compile_library(tmp_path, "libeasy.so", "-s", "easy", "-O", "backfill_order=sjf")
    program = compile_driver(tmp_path)
    good = play(program, [library], conversation(REQUESTS[:1], b'{"backfill_order": "lcfs"}'), tmp_path)
    assert [answer.result for answer in good.answers] == [0, 0, 1]
    wrong = play(program, [library], conversation(REQUESTS[:1], b'{"backfill_order": "sjfx"}'), tmp_path)
    assert [answer.result for answer in wrong.answers] == [0, 1, 1]
    [line] = wrong.said.splitlines()
    assert line.startswith("batsched-py: error: sched-config: option backfill_order of easy: ")
    [line] = said(play(program, [library], conversation(REQUESTS[:1], b"[1]"), tmp_path).said)
    assert line == "batsched-py: error: sched-config: must be a JSON object of options"


def test_the_files_of_a_run_are_those_of_serve(tmp_path: Path) -> None:
    """The algorithm's decisions, and the description of the run; the words are those that made the library."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs", "-e", "run")
    requests = [*REQUESTS, ends(100.0)]
    played = play(compile_driver(tmp_path), [library], conversation(requests), tmp_path)
    assert {answer.result for answer in played.answers} == {0}
    with serving(tmp_path, "-s", "fcfs", "-e", "served") as served, batsim(served.address) as client:
        for request in (write_greeting(""), *requests):
            ask(client, request)
        assert served.end()[0] == 0
    assert (tmp_path / "run_decisions.csv").read_text() == (tmp_path / "served_decisions.csv").read_text()
    ours, theirs = (json.loads((tmp_path / f"{name}_run.json").read_text()) for name in ("run", "served"))
    assert ours["command"][:2] == ["batsched-py", "library"]
    assert {name for name in theirs if ours.get(name) != theirs[name]} == {"command", "measured"}


def test_a_run_that_fails_is_marked(tmp_path: Path) -> None:
    """Its description has the reason."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs", "-e", "run")
    play(compile_driver(tmp_path), [library], conversation(REQUESTS), tmp_path)
    described = json.loads((tmp_path / "run_run.json").read_text())
    assert "Batsim ended before the simulation" in described["failure"]


def test_files_that_cannot_be_written_are_reported_at_the_end(tmp_path: Path) -> None:
    """Batsim completes its own; its exit code says that something failed."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs", "-e", "out/run")
    folder = tmp_path / "batsim"
    folder.mkdir()
    calls = conversation(short_run())
    (folder / "out").write_text("a file")
    played = play(compile_driver(tmp_path), [library], calls, folder)
    assert [answer.result for answer in played.answers] == [0, 0, 0, 1]
    [line] = played.said.splitlines()
    assert line.startswith("batsched-py: error: out")


def test_text_that_is_not_utf_8_is_one_line(tmp_path: Path) -> None:
    """It is refused at the beginning."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs")
    played = play(compile_driver(tmp_path), [library], conversation(REQUESTS[:1], b"\xff"), tmp_path)
    assert [answer.result for answer in played.answers] == [1, 1, 1]
    assert played.said.startswith("batsched-py: error: init: must be a text in UTF-8: ")


def test_an_algorithm_that_fails_ends_batsim_with_its_line(tmp_path: Path) -> None:
    """The reason is on standard error, with the file and the line; the recording has it as the last reply."""
    name = algorithm(tmp_path, "if view.queue: plan.start(view.queue[0], HostSet.of(77))")
    library = compile_library(tmp_path, "libmine.so", "-s", name, "--record", "run.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    played = play(compile_driver(tmp_path), [library], conversation(REQUESTS), elsewhere)
    assert [answer.result for answer in played.answers][:2] == [0, 0]
    assert [answer.result for answer in played.answers][-2] == 1
    [line] = said(played.said)
    assert line.startswith("batsched-py: error: t=")
    assert "mine.py:8" in line
    assert b"BATSCHED_PY_STOPPED" in recorded(elsewhere / "run.jsonl")[-1].reply


@pytest.mark.parametrize("body", ["import sys; sys.exit(3)", "raise KeyboardInterrupt", "1 / 0", "view.nothing"])
def test_whatever_an_algorithm_raises_is_one_line(body: str, tmp_path: Path) -> None:
    """Batsim's process does not end in it."""
    library = compile_library(tmp_path, "libmine.so", "-s", algorithm(tmp_path, body))
    played = play(compile_driver(tmp_path), [library], conversation(REQUESTS[:1]), tmp_path)
    assert (played.code, [answer.result for answer in played.answers]) == (0, [0, 1, 1])
    [line] = played.said.splitlines()
    assert "mine.py:8" in line


@pytest.mark.parametrize("kind", ["d", "x"])
def test_a_batsim_that_ends_early_is_reported(kind: str, tmp_path: Path) -> None:
    """Also if its process exits without a word, as in a deadlock: the recording is complete."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs", "--record", "run.jsonl.gz")
    calls = [*conversation(REQUESTS)[:-1], Call(kind)]
    played = play(compile_driver(tmp_path), [library], calls, tmp_path)
    assert said(played.said) == ["batsched-py: error: Batsim ended before the simulation"]
    assert len(recorded(tmp_path / "run.jsonl.gz")) == 1 + len(REQUESTS)


def test_messages_that_are_not_json_are_refused(tmp_path: Path) -> None:
    """Such as the binary form of FlatBuffers, which nobody asked for."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs")
    played = play(compile_driver(tmp_path), [library], conversation([b"\x10\0\0\0\1\2"]), tmp_path)
    assert [answer.result for answer in played.answers] == [0, 1, 1]
    [line] = played.said.splitlines()
    assert line.startswith("batsched-py: error: message: must be JSON: ")


def test_a_library_decides_for_one_simulation_at_a_time(tmp_path: Path) -> None:
    """A second start is refused, and then one after the end is accepted; without a start there are no decisions."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs")
    calls = [Call("t", REQUESTS[0]), Call("i"), Call("i"), *conversation(short_run())[1:], *conversation(short_run())]
    played = play(compile_driver(tmp_path), [library], calls, tmp_path)
    assert [answer.result for answer in played.answers] == [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    assert played.said.splitlines() == [
        f"batsched-py: error: {library}: it was not started, so it cannot decide",
        f"batsched-py: error: {library}: it decides for a simulation already: load it again with dlmopen, or make a"
        " second library",
    ]


def test_a_start_after_one_that_failed_has_its_own_reason(tmp_path: Path) -> None:
    """It is refused for what is wrong with it, and else it decides."""
    library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs")
    calls = [Call("i", b"\xff"), Call("i", b"\xff"), *conversation(short_run())]
    played = play(compile_driver(tmp_path), [library], calls, tmp_path)
    assert [answer.result for answer in played.answers] == [1, 1, 0, 0, 0, 0]
    first, second = played.said.splitlines()
    assert first == second
    assert first.startswith("batsched-py: error: init: must be a text in UTF-8: ")


def test_a_python_that_is_gone_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do; the library was made in a virtual environment that was removed."""
    gone = tmp_path / "venv" / "bin" / "python"
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(gone))
        library = compile_library(tmp_path, "libfcfs.so", "-s", "fcfs")
    played = play(compile_driver(tmp_path), [library], conversation([]), tmp_path)
    assert [answer.result for answer in played.answers] == [1, 0]
    assert played.said == (
        f"batsched-py: error: {library}: the Python that made it is gone, {gone}: make it again with"
        " 'batsched-py library'\n"
    )


def test_names_of_files_cannot_control_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error before Python runs is one line, too."""
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", "/gone\x1b[2J\n\x7f")
        library = compile_library(tmp_path, "lib\x1bfcfs.so", "-s", "fcfs")
    played = play(compile_driver(tmp_path), [library], conversation([]), tmp_path)
    shown = f"{tmp_path}/lib?fcfs.so: the Python that made it is gone, /gone?[2J??: make it again with"
    assert played.said == f"batsched-py: error: {shown} 'batsched-py library'\n"


def test_libraries_of_two_environments_do_not_share_a_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One line says so; with dlmopen each has its own, and the second finds that it is not what it was made with."""
    first = compile_library(tmp_path, "first.so", "-s", "fcfs")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "prefix", "/other")
        second = compile_library(tmp_path, "second.so", "-s", "fcfs")
    calls = [Call("i"), Call("i", b"", 1)]
    played = play(compile_driver(tmp_path), [first, second], calls, tmp_path)
    assert [answer.result for answer in played.answers] == [0, 1]
    assert said(played.said)[0] == (
        f"batsched-py: error: {second}: it needs the Python of /other, but that of {sys.prefix} is in this process:"
        " load each library with dlmopen"
    )


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ((), "Missing option '-s': which algorithm shall decide?"),
        (("-s", "easyy"), "algorithm easyy: "),
        (("-s", "easy", "-O", "backfil_order=sjf"), "option backfil_order: easy has no such option"),
        (("-s", "easy", "--clock", "soon"), "--clock: "),
        (("-s", "easy", "--record", "lib.so"), "name the same file"),
    ],
)
def test_wrong_arguments_are_found_before_anything_is_made(
    arguments: tuple[str, ...], line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 2."""
    assert run_here(tmp_path, "library", *arguments, "-o", "lib.so") == 2
    [said_of_it] = capsys.readouterr().err.splitlines()
    assert line in said_of_it
    assert list(tmp_path.iterdir()) == []

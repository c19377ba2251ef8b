"""`batsched-py batsim` with a real engine: a stand-in for Batsim in a container, our algorithm beside it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.clone import ROOT
from tests.containers.engine import Engine
from tests.containers.images import BASE, STAND_IN
from tests.containers.results import same_results
from tests.integration.programs import PATIENCE, algorithm, run, started

EVENTS = ((5, "unavailable"), (100, "available"))
FILES = ("-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json"))


@pytest.fixture
def engine_alone(with_batsim: Engine) -> Iterator[Engine]:
    """The engine with the stand-in; the test fails if it leaves a container behind."""
    before = with_batsim.containers()
    yield with_batsim
    assert with_batsim.containers() == before


def batsim(engine: Engine, folder: Path, *arguments: str, image: str = STAND_IN) -> CompletedProcess[str]:
    """The command, to its end."""
    return run(folder, "batsim", "--docker-host", engine.address, "--image", image, *FILES, *arguments)


def error(done: CompletedProcess[str]) -> str:
    """The last line of a run that failed, which is the only one of the program's own."""
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("batsched-py: ")] == lines[-1:]
    assert done.stdout == ""
    return lines[-1].removeprefix("batsched-py: error: ")


def test_a_run_leaves_its_files_and_nothing_else(engine_alone: Engine, tmp_path: Path) -> None:
    """They are those of a run without a container; the log is shown line by line; the recording can be replayed."""
    options = ("-s", "easy", "-o", "reserve=hosts")
    done = batsim(engine_alone, tmp_path, *options, "-e", "out/easy", "--record", "run.jsonl")
    assert done.returncode == 0, done.stderr
    first, *log, last = done.stderr.splitlines()
    assert re.fullmatch(rf"listens on tcp://127\.0\.0\.1:\d+ for {STAND_IN}", first)
    assert f"batsim | [server/INFO] I am {os.getuid()}:{os.getgid()}" in log
    assert all(line.startswith("batsim | ") for line in log)
    assert last == "the simulation ended at t=150 after 17 messages"
    run(tmp_path, "simulate", *FILES, *options, "-e", "in/easy", "--quiet")
    same_results(tmp_path / "out", tmp_path / "in")
    assert {path.stat().st_uid for path in (tmp_path / "out").iterdir()} == {os.getuid()}
    replayed = run(tmp_path, "replay", "run.jsonl")
    assert (replayed.returncode, replayed.stdout[:5]) == (0, "easy:")


def test_more_arguments_are_batsims_own(engine_alone: Engine, tmp_path: Path) -> None:
    """They follow two dashes; the container sees files of external events and several workloads, too."""
    files = ("-p", str(ROOT / "platforms" / "energy16.xml"), "-w", str(ROOT / "workloads" / "first.json"))
    down, up = (f'{{"timestamp": {at}, "type": "machine_{what}", "resources": "3"}}' for at, what in EVENTS)
    (tmp_path / "events.txt").write_text(f"{down}\n{up}\n")
    more = (*files, "-w", str(ROOT / "workloads" / "first.json"), "--events", "events.txt")
    command = ("batsim", "--docker-host", engine_alone.address, "--image", STAND_IN, *more, "-s", "fcfs", "-e", "out/")
    done = run(tmp_path, *command, "--", "--mmax", "4", "-q", "-E")
    assert done.returncode == 0, done.stderr
    assert "I am" not in done.stderr
    run(tmp_path, "simulate", *more, "-s", "fcfs", "-e", "in/", "--mmax", "4", "-E", "--quiet")
    same_results(tmp_path / "out", tmp_path / "in")
    assert (tmp_path / "out" / "_consumed_energy.csv").exists()


def test_without_a_prefix_nothing_is_kept(engine_alone: Engine, tmp_path: Path) -> None:
    """As of simulate."""
    assert batsim(engine_alone, tmp_path, "-s", "easy").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_inputs_can_only_be_read(engine_alone: Engine, tmp_path: Path) -> None:
    """Nothing but the folder of the results can be written by what runs in the container."""
    before = sorted(path.name for path in (ROOT / "workloads").iterdir())
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--", "--export", "/batsim/workloads/0/mine")
    assert done.returncode == 4
    assert "/batsim/workloads/0/mine_jobs.csv: cannot be written: " in error(done)
    assert sorted(path.name for path in (ROOT / "workloads").iterdir()) == before


@pytest.mark.parametrize(("code", "words"), [(1, "exit code 1;"), (137, "exit code 137 (SIGKILL);")])
def test_a_batsim_that_dies_before_it_connects_is_told(
    engine_alone: Engine, tmp_path: Path, code: int, words: str
) -> None:
    """At once, with its exit code and its last words: nobody waits for a message that never comes."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--", "--die-before-connecting", str(code))
    assert done.returncode == 4
    told = error(done)
    assert told.startswith(f"Batsim ({STAND_IN}) ended before it connected: {words} its last words: ")
    assert told.endswith("terminate called after throwing an instance of 'std::runtime_error' | what():  No such thing")


def test_a_batsim_that_dies_silently_in_the_middle_is_told(engine_alone: Engine, tmp_path: Path) -> None:
    """Killed from outside, as by a kernel that is short of memory; the time is told."""
    name = algorithm(tmp_path, "open('asked', 'w').close()\nwhile os.path.exists('asked'): pass")
    command = ("batsim", "--docker-host", engine_alone.address, "--image", STAND_IN, *FILES, "-s", name, "--", "-q")
    events = engine_alone.client.events(decode=True, filters={"event": "start"})
    with started(tmp_path, *command) as process:
        identity = next(iter(events))["id"]
        events.close()
        while not (tmp_path / "asked").exists():
            assert process.poll() is None
        engine_alone.client.containers.get(identity).kill()
        (tmp_path / "asked").unlink()
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 4
    told = said.splitlines()[-1]
    assert f"Batsim ({STAND_IN}) ended at t=0, before SIMULATION_ENDS: exit code 137 (SIGKILL)" in told


def test_a_batsim_that_aborts_is_told_with_its_exit_code(engine_alone: Engine, tmp_path: Path) -> None:
    """Nobody listens where it was told to ask."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--", "-s", "tcp://nobody:1")
    assert done.returncode == 4
    assert f"Batsim ({STAND_IN}) ended before it connected: exit code 134 (SIGABRT)" in error(done)


def test_a_batsim_that_fails_after_the_simulation_is_told(engine_alone: Engine, tmp_path: Path) -> None:
    """The protocol was kept to its end, but the files may not be whole."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--", "--die-with-the-files")
    assert done.returncode == 4
    assert error(done).startswith("Batsim ended after the simulation: exit code 9; its last words: ")


def test_an_algorithm_that_fails_is_our_failure(engine_alone: Engine, tmp_path: Path) -> None:
    """Exit code 3, and its story."""
    name = algorithm(tmp_path, "for job in view.queue: job.colour")
    done = batsim(engine_alone, tmp_path, "-s", name)
    assert done.returncode == 3
    assert "AttributeError" in error(done)


def test_silence_is_an_error_if_a_time_out_was_asked_for(engine_alone: Engine, tmp_path: Path) -> None:
    """The container is stopped and removed."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--timeout", "0.01", "--", "--say-nothing")
    assert done.returncode == 4
    assert error(done).startswith("Batsim has said nothing for 0.01 s")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_removes_the_container(
    engine_alone: Engine, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    """One line, the shell's exit code, and nothing is left (the fixture looks)."""
    name = algorithm(tmp_path, f"os.kill(os.getpid(), {number:d})\nwhile True: pass")
    done = batsim(engine_alone, tmp_path, "-s", name)
    assert done.returncode == code
    words = {130: "interrupted", 143: "terminated", 129: "hung up"}
    assert done.stderr.splitlines()[-1].startswith(f"batsched-py: {words[code]}")


def test_a_signal_while_nobody_has_connected_removes_the_container(engine_alone: Engine, tmp_path: Path) -> None:
    """Batsim asks elsewhere and waits."""
    command = ("batsim", "--docker-host", engine_alone.address, "--image", STAND_IN, *FILES, "-s", "easy")
    with started(tmp_path, *command, "--", "-s", "tcp://127.0.0.1:1") as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("batsim | asking"):
                break
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert said.splitlines()[-1] == "batsched-py: interrupted (SIGINT)"


def test_an_image_that_is_not_there_is_told(engine_alone: Engine, tmp_path: Path) -> None:
    """With the reason of the registry's absence; and without asking it, if that was forbidden."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", image="127.0.0.1:1/nobody/has:this")
    assert done.returncode == 4
    assert error(done).startswith("image 127.0.0.1:1/nobody/has:this cannot be pulled: ")
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--pull", "never", image="nobody/has:this")
    assert done.returncode == 4
    assert error(done) == "image nobody/has:this is not on this machine, and --pull never forbids to get it"


def test_an_image_without_batsim_is_told(engine_alone: Engine, tmp_path: Path) -> None:
    """The last line is the engine's."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", image=BASE)
    assert done.returncode == 4
    assert "exec --socket-endpoint failed" in error(done)


def test_a_network_that_the_engine_has_not_is_told(engine_alone: Engine, tmp_path: Path) -> None:
    """With the engine's reason."""
    done = batsim(engine_alone, tmp_path, "-s", "easy", "--network", "nowhere", "-b", "tcp://0.0.0.0:*")
    assert done.returncode == 4
    assert "network nowhere not found" in error(done)


def test_a_second_run_beside_the_first_takes_another_port(engine_alone: Engine, tmp_path: Path) -> None:
    """Two at once do not meet."""
    command = ("batsim", "--docker-host", engine_alone.address, "--image", STAND_IN, *FILES, "-s", "easy")
    with started(tmp_path, *command, "-e", "a/x") as one, started(tmp_path, *command, "-e", "b/x") as other:
        assert [process.wait(PATIENCE) for process in (one, other)] == [0, 0]
    same_results(tmp_path / "a", tmp_path / "b")

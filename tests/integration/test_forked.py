"""A forked command is what a process that starts anew is: most tests look at forked ones only."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.forked.program import ANEW, forked
from tests.integration.programs import ENVIRONMENT, PATIENCE, ROOT, algorithm, started

FILES = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--version"],
        ["describe", "é ✓"],
        ["simulate", *FILES, "-s", "easy", "--gantt", "--quiet"],
        ["simulate", *FILES, "-s", "mine.py:Mine"],
        ["metrics", "out/none"],
        ["compare", *FILES, "-s", "easy", "-s", "mine.py:Mine"],
    ],
    ids=lambda arguments: " ".join(arguments[:1]) or "nothing",
)
def test_exit_code_and_outputs_are_the_same(tmp_path: Path, arguments: list[str]) -> None:
    """In the folder and on the width of whoever asks, which are not those of the process that has it loaded."""
    algorithm(tmp_path, "os._exit(len(os.getcwd()) % 100)")
    environment = {**ENVIRONMENT, "COLUMNS": "60"}

    def ended(program: Sequence[str]) -> tuple[int, str, str]:
        done = subprocess.run(
            [*program, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout, done.stderr

    assert ended(forked(ENVIRONMENT)) == ended(ANEW)


@pytest.mark.parametrize("anew", [True, False], ids=["anew", "forked"])
@pytest.mark.parametrize(
    ("number", "code", "words"),
    [
        (
            signal.SIGINT,
            130,
            "batsched-py: interrupted (SIGINT) while mine decided (mine.py:N), t=0, on SimulationBegins\n",
        ),
        (
            signal.SIGTERM,
            143,
            "batsched-py: terminated (SIGTERM) while mine decided (mine.py:N), t=0, on SimulationBegins\n",
        ),
        (
            signal.SIGHUP,
            129,
            "batsched-py: hung up (SIGHUP) while mine decided (mine.py:N), t=0, on SimulationBegins\n",
        ),
        (signal.SIGKILL, -signal.SIGKILL, ""),
    ],
)
def test_a_signal_ends_the_command(tmp_path: Path, anew: bool, number: signal.Signals, code: int, words: str) -> None:
    """A program that waits for its process waits for its end, and gets its code."""
    mine = algorithm(tmp_path, "open('begun', 'w').close()\nwhile True: pass")
    os.mkfifo(tmp_path / "begun")
    with started(tmp_path, "simulate", *FILES, "-s", mine, anew=anew) as process:
        (tmp_path / "begun").read_bytes()
        process.send_signal(number)
        out, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, re.sub(r"mine\.py:\w+", "mine.py:N", said)) == (code, "", words)

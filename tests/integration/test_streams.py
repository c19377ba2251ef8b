"""Standard output as users have it: closed before the end, full, or without our characters."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.forked.program import forked
from tests.integration.programs import ENVIRONMENT, PATIENCE, ROOT

PROGRAM = [sys.executable, "-m", "batsched_py"]
FILES = ["-p", str(ROOT / "platforms" / "tiny4.xml"), "-w", str(ROOT / "workloads" / "first.json")]
SIMULATE = ["simulate", *FILES, "-s", "easy", "--gantt"]
COMMANDS = [
    ["--help"],
    ["list"],
    ["describe", "easy"],
    ["simulate", "--help"],
    SIMULATE,
    ["compare", *FILES, "-s", "easy", "-s", "fcfs"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_a_reader_that_closes_the_pipe_is_no_error(arguments: list[str]) -> None:
    """As in `| head`: 1 would mean that a replay differs."""
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
        assert (process.wait(PATIENCE), said) == (141, "")


def test_files_are_written_whoever_reads_the_rest(tmp_path: Path) -> None:
    """The lines about them come last."""
    arguments = ["generate", "--jobs", "3", "--hosts", "4", "-o", "w.json", "--platform", "p.xml"]
    with subprocess.Popen(
        [*PROGRAM, *arguments], stdout=subprocess.PIPE, cwd=tmp_path, env=ENVIRONMENT, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(PATIENCE) == 141
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.xml", "w.json"]


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: " ".join(arguments[:2]))
def test_stdout_without_our_characters_is_drawn_with_others(arguments: list[str]) -> None:
    """Lines and shades have likes in ASCII, which are as wide."""
    done = {
        encoding: subprocess.run(
            [*forked(environment), *arguments], capture_output=True, env=environment, timeout=PATIENCE, check=True
        )
        for encoding in ("ascii", "utf-8")
        for environment in [{**ENVIRONMENT, "PYTHONIOENCODING": encoding}]
    }
    plain, drawn = (done[encoding].stdout.decode() for encoding in ("ascii", "utf-8"))
    assert plain.isascii()
    assert "\\u" not in plain
    if arguments is SIMULATE:
        picture, same = (text.partition("busy")[0].splitlines() for text in (plain, drawn))
        assert [len(line) for line in picture] == [len(line) for line in same]
        assert "0 |AAAA" in plain


@pytest.mark.parametrize("arguments", [["gantt", "out", "--title", b"caf\xe9"], ["describe", b"caf\xe9.py:C"]])
def test_an_argument_that_is_no_text_is_one_line(arguments: list[str | bytes]) -> None:
    """No file could hold such a title, and no message name such a file."""
    done = subprocess.run(
        [*PROGRAM, *arguments],
        capture_output=True,
        env={**ENVIRONMENT, "PYTHONUTF8": "1"},
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(r"batsched-py: error: argument 'caf\xe9")
    assert done.stderr.count("\n") == 1


def test_an_error_that_nobody_can_read_has_its_exit_code() -> None:
    """Standard error may be full or closed, too."""
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, "describe", "nobody"], stderr=full, env=ENVIRONMENT, check=False)
    assert done.returncode == 2

"""Batsim 5's part towards decision component libraries: a program in C, which the tests compile."""

from __future__ import annotations

import atexit
import os
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from msgspec import Struct

from batsched_py.cli.shared.component_build import missing
from tests.integration.programs import run_here

_SOURCE: Final = Path(__file__).with_suffix(".c")
#: A process that has not ended after so many seconds never will.
_PATIENCE: Final = 600
_CALL: Final = struct.Struct("=cQQ")
_ANSWER: Final = struct.Struct("=QQQQ")


class Call(Struct, frozen=True):
    """One call of a library: "i", "t" or "d" for its three functions, "x" for the end of the process."""

    kind: str
    content: bytes = b""
    library: int = 0


class Answer(Struct, frozen=True):
    """The answer of a library to a call, and the nanoseconds that it took."""

    result: int
    flags: int
    nanoseconds: int
    content: bytes


class Played(Struct, frozen=True):
    """A conversation: its answers, standard error, and the exit code of the process."""

    answers: Sequence[Answer]
    said: str
    code: int


def compile_library(folder: Path, name: str, *arguments: str) -> Path:
    """Make a library by the command `library`, in the folder; the test is skipped if this machine cannot."""
    if missing():
        pytest.skip(f"a library {missing()}")
    path = folder / name
    assert run_here(folder, "library", *arguments, "-o", str(path)) == 0
    return path


def compile_driver(folder: Path) -> Path:
    """Return the program in the folder, compiled once with the system's compiler."""
    program = folder / "edc_driver"
    shutil.copy(_compiled(), program)
    return program


@cache
def _compiled() -> Path:
    program = Path(tempfile.mkdtemp()) / "edc_driver"
    atexit.register(shutil.rmtree, program.parent)
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    assert compiler is not None
    subprocess.run([compiler, "-O2", "-Wall", "-Werror", "-o", program, _SOURCE, "-ldl"], check=True, timeout=_PATIENCE)
    return program


def conversation(requests: Sequence[bytes], words: bytes = b"", library: int = 0) -> list[Call]:
    """Return the calls of a whole simulation: init with a text, the messages, deinit."""
    calls = [Call("t", request, library) for request in requests]
    return [Call("i", words, library), *calls, Call("d", b"", library)]


def play(
    program: Path,
    libraries: Sequence[Path],
    calls: Sequence[Call],
    folder: Path,
    *,
    method: str = "dlopen",
    context: str = "thread",
    environment: dict[str, str] | None = None,
) -> Played:
    """Play calls to libraries in one process, with `folder` as its current folder."""
    content = b"".join(_CALL.pack(call.kind.encode(), call.library, len(call.content)) + call.content for call in calls)
    done = subprocess.run(
        [program, method, context, *(path.resolve() for path in libraries)],
        cwd=folder,
        input=content,
        capture_output=True,
        env={**os.environ, **(environment or {})},
        timeout=_PATIENCE,
        check=False,
    )
    return Played(_answers(done.stdout), done.stderr.decode(), done.returncode)


def _answers(content: bytes) -> list[Answer]:
    found, at = list[Answer](), 0
    while at < len(content):
        result, flags, nanoseconds, size = _ANSWER.unpack_from(content, at)
        at += _ANSWER.size
        found.append(Answer(result, flags, nanoseconds, content[at : at + size]))
        at += size
    return found

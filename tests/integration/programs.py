"""batsched-py as a process of its own, and a Batsim that is played by the test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import IO

import pytest
import zmq

from batsched_py.cli.main import run as command_line
from batsched_py.transcripts.transcript import Exchange, Transcript
from tests.forked.program import ANEW, forked

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {**os.environ, "COLUMNS": "100"}

#: A process that has not ended after so many seconds never will: the test fails instead of waiting for ever.
PATIENCE = 600


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command, to its end, in a process with what a process has."""
    return subprocess.run(
        [*forked(ENVIRONMENT), *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def run_here(folder: Path, *arguments: str) -> int:
    """The exit code of a command that runs in the process of the test: a process of its own takes longer to start."""
    path = list(sys.path)
    try:
        with chdir(folder):
            return command_line(arguments)
    finally:
        sys.path[:] = path


@contextmanager
def started(folder: Path, *arguments: str, anew: bool = False) -> Iterator[Popen[str]]:
    """A command that runs beside the test; killed at the end.

    With `anew` the process is the command itself, first of a group: it can be killed at once, measured, limited.
    """
    program = ANEW if anew else forked(ENVIRONMENT)
    with Popen(
        [*program, *arguments], cwd=folder, env=ENVIRONMENT, stdout=PIPE, stderr=PIPE, text=True, start_new_session=anew
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def first_line(stream: IO[str]) -> str:
    """Byte by byte: what a stream has read ahead `communicate` does not see."""
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(stream.fileno(), 1)):
        line += byte
    return line.decode()


class Served:
    """A `serve` that listens on a free port: its process and its address."""

    def __init__(self, process: Popen[str]) -> None:
        self.process = process
        assert process.stderr is not None
        self.greeting = first_line(process.stderr)
        found = re.search(r"listens on (\S+)", self.greeting)
        assert found, self.greeting + process.stderr.read()
        self.address = found[1]

    def end(self) -> tuple[int, list[str]]:
        """Wait for its end; exit code and what it said after its greeting."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said.splitlines()


@contextmanager
def serving(folder: Path, *arguments: str, anew: bool = False) -> Iterator[Served]:
    """`batsched-py serve` with these arguments, once it listens."""
    with started(folder, "serve", "-b", "tcp://127.0.0.1:*", *arguments, anew=anew) as process:
        yield Served(process)


@contextmanager
def batsim(address: str) -> Iterator[zmq.Socket[bytes]]:
    """Batsim's socket; no reply within PATIENCE fails the test."""
    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.linger = 0
        socket.rcvtimeo = 1000 * PATIENCE
        socket.connect(address)
        yield socket


def ask(socket: zmq.Socket[bytes], request: bytes) -> bytes:
    """One exchange."""
    socket.send(request)
    return socket.recv()


def types(reply: bytes) -> list[str]:
    """Return the types of the events of a message."""
    return [event["type"] for event in json.loads(reply)["events"]]


def recorded(path: Path) -> list[Exchange]:
    """Every exchange; a recording that is not whole fails the test."""
    return list(Transcript(path, pytest.fail))


def algorithm(folder: Path, body: str) -> str:
    """A file with an algorithm whose `decide` has this body; its name for -s."""
    (folder / "mine.py").write_text(
        "import os, signal\n"
        "from batsched_py.api import *\n\n"
        "class Mine(Scheduler[NoOptions]):\n"
        '    name = "mine"\n\n'
        "    def decide(self, view, plan):\n" + "".join(f"        {line}\n" for line in body.splitlines())
    )
    return "mine.py:Mine"

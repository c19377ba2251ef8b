"""A terminal for a test: what a program writes to it, and what people would read there."""

from __future__ import annotations

import os
import re
import select
import subprocess
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from tests.forked.program import forked
from tests.integration.programs import ENVIRONMENT, PATIENCE

_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")
SHOW_CURSOR, HIDE_CURSOR = "\x1b[?25h", "\x1b[?25l"
COLUMNS = 120


class Terminal:
    """The screen's end of a pseudo-terminal, and the program on the other."""

    def __init__(self, process: Popen[str], screen: int) -> None:
        self.process, self._screen = process, screen
        #: Bytes written to the terminal, control codes included.
        self.written = ""

    @property
    def text(self) -> str:
        """Return all that was written, without control codes: every picture that was drawn, one after the other."""
        return _CONTROL.sub("", self.written)

    def read_until(self, pattern: str) -> re.Match[str]:
        """Read on until the text has it; a program that ends or is silent for too long fails the test."""
        deadline = time.monotonic() + PATIENCE
        while not (found := re.search(pattern, self.text)):
            assert time.monotonic() < deadline, f"{pattern} was not shown in {PATIENCE} s:\n{self.text}"
            assert self._read(), f"{pattern} was never shown:\n{self.text}"
        return found

    def end(self) -> tuple[int, str]:
        """Read to the program's end; its exit code and what it wrote to stdout."""
        while self._read():
            pass
        assert self.process.stdout is not None
        out = self.process.stdout.read()
        return self.process.wait(PATIENCE), out

    @property
    def clean(self) -> bool:
        """True if the cursor is to be seen, and stands at the beginning of a line."""
        return self.written.rfind(SHOW_CURSOR) >= self.written.rfind(HIDE_CURSOR) and self.text.endswith("\n")

    def _read(self) -> bool:
        ready, _, _ = select.select([self._screen], [], [], PATIENCE)
        assert ready, f"nothing is written any more:\n{self.text}"
        try:
            piece = os.read(self._screen, 65536)
        except OSError:  # Linux says so when the other end is closed
            return False
        self.written += piece.decode()
        return bool(piece)


@contextmanager
def on_terminal(folder: Path, *arguments: str, term: str = "xterm-256color") -> Iterator[Terminal]:
    """A command whose stderr is a terminal, and whose stdout is not; killed at the end if it has not ended."""
    screen, line = os.openpty()
    termios.tcsetwinsize(line, (30, COLUMNS))
    left_out = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"}
    environment = {name: value for name, value in ENVIRONMENT.items() if name not in left_out}
    environment |= {"TERM": term, "PYTHONIOENCODING": "utf-8"}
    with Popen(
        [*forked(environment), *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=PIPE,
        stderr=line,
        text=True,
    ) as process:
        os.close(line)
        try:
            yield Terminal(process, screen)
        finally:
            process.kill()
            os.close(screen)

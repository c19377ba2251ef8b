"""The line that a process executes, told when it is asked or crashes."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Final

import pytest

from batsched_py.campaigns.last_words import ask_for_last_words, enable_last_words, read_last_words

#: Processes of their own, with nothing of this one.
CONTEXT: Final = get_context("spawn")


def loop() -> None:
    """In Python."""
    while True:
        pass


def count() -> None:
    """In C, where Python's handlers of signals do not run."""
    sum(range(10**15))


def crash() -> None:
    """By a read from nowhere."""
    ctypes.string_at(0)


def nothing() -> None:
    """Be stopped, and so not even answer."""
    signal.pause()


def work(teller: Connection, ready: Connection, what: Callable[[], None]) -> None:
    """Say that the work begins, and do it."""
    enable_last_words(teller)
    ready.send(None)
    what()


def words(what: Callable[[], None], *, asked: bool) -> str:
    """The last words of a process that does this, which is then killed."""
    (receiver, teller), (begun, ready) = CONTEXT.Pipe(duplex=False), CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=work, args=(teller, ready, what))
    process.start()
    try:
        begun.recv()
        if asked:
            assert process.pid is not None
            if what is nothing:
                os.kill(process.pid, signal.SIGSTOP)
                os.waitpid(process.pid, os.WUNTRACED)
            return ask_for_last_words(process.pid, receiver)
        process.join()
        return read_last_words(receiver)
    finally:
        process.kill()
        process.join()


@pytest.mark.parametrize("what", [loop, count])
def test_a_process_tells_its_line_when_it_is_asked(what: Callable[[], None]) -> None:
    """It may be the line of `work`, from which it is about to call the function."""
    told = words(what, asked=True)
    assert told.startswith((f" in {what.__name__} (test_last_words.py:", " in work (test_last_words.py:")), told


def test_a_crash_tells_the_line_that_called_what_crashed() -> None:
    """It does not tell the line of the library."""
    assert words(crash, asked=False).startswith(" in crash (test_last_words.py:")


def test_a_process_that_cannot_answer_has_no_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that asks does not wait forever."""
    monkeypatch.setattr("batsched_py.campaigns.last_words._PATIENCE", 0.5)
    assert words(nothing, asked=True) == ""

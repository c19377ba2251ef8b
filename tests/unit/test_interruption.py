"""Signals as exceptions, and failures of users' code that look like them."""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
from collections.abc import Callable
from typing import NoReturn

import pytest

from batsched_py.interruption import Interruption, is_interruption


def ctrl_c() -> None:
    """Raise what Python raises for Ctrl-C, in the middle of any code."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        os.kill(os.getpid(), signal.SIGINT)
        while True:
            pass
    finally:
        signal.signal(signal.SIGINT, before)


def raised_by_itself() -> NoReturn:
    """Raise KeyboardInterrupt as code does that ends the program."""
    raise KeyboardInterrupt


def raised_after_clean_up() -> None:
    """The same, with an exception handler on the way."""
    try:
        raised_by_itself()
    finally:
        str(1)


def test_a_signal_is_an_interruption() -> None:
    """The program's, and Python's own for Ctrl-C, which has no `raise`."""
    assert is_interruption(Interruption(signal.SIGTERM))
    with pytest.raises(KeyboardInterrupt) as caught:
        ctrl_c()
    assert is_interruption(caught.value)


@pytest.mark.parametrize("code", [raised_by_itself, raised_after_clean_up])
def test_code_that_raises_keyboard_interrupt_fails(code: Callable[[], None]) -> None:
    """Nobody pressed Ctrl-C."""
    with pytest.raises(KeyboardInterrupt) as caught:
        code()
    assert not is_interruption(caught.value)


@pytest.mark.parametrize("error", [SystemExit(1), GeneratorExit(), asyncio.CancelledError(), BaseException("x")])
def test_other_exceptions_are_no_interruptions(error: BaseException) -> None:
    """Their base classes do not matter."""
    assert not is_interruption(error)


def test_an_interruption_tells_its_notes_and_can_be_pickled() -> None:
    """In one line."""
    error = Interruption(signal.SIGINT)
    assert str(pickle.loads(pickle.dumps(error))) == "interrupted (SIGINT)"
    error.add_note(" while m decided")
    assert (str(error), error.exit_code) == ("interrupted (SIGINT) while m decided", 130)

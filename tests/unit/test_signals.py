"""Signals that wait until something is done whole."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from batsched_py.cli.shared.interruption import raise_on_signals
from batsched_py.interruption import Interruption
from batsched_py.signals import STOPS, held_back


@pytest.fixture(autouse=True)
def _as_in_the_program() -> Iterator[None]:
    """Signals are Interruptions, those too that nohup or a shell in the background have ignored for the tests."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in STOPS}
    raise_on_signals()
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_comes_after_what_must_be_whole(number: signal.Signals) -> None:
    """Once, however often it came; and the handlers are as before."""
    before = signal.getsignal(number)
    done = []

    @held_back()
    def work() -> None:
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)
        done.append("whole")

    with pytest.raises(Interruption) as caught:
        work()
    assert (done, caught.value.signal) == (["whole"], number)
    assert signal.getsignal(number) is before


def test_an_ignored_signal_stays_ignored() -> None:
    """As in the background of a shell."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with held_back():
            os.kill(os.getpid(), signal.SIGINT)
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_of_others_than_python_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program in which Python is embedded may have set it: Python does not know it, and could not put it back."""
    known = signal.getsignal
    before = known(signal.SIGTERM)
    monkeypatch.setattr(signal, "getsignal", lambda number: None if number == signal.SIGTERM else known(number))
    with held_back():
        assert known(signal.SIGTERM) is before
    assert known(signal.SIGTERM) is before


def test_a_thread_may_hold_back_what_it_never_hears() -> None:
    """Only the main thread may set handlers."""
    done = []

    @held_back()
    def work() -> None:
        done.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [before]


def test_what_fails_is_more_important_than_who_interrupts() -> None:
    """The error is told: the run ends either way."""

    @held_back()
    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("disk full")

    with pytest.raises(ValueError, match="disk full"):
        work()

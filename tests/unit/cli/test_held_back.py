"""Signals that wait until something is done whole."""

from __future__ import annotations

import os
import signal

import pytest

from batsched_py.cli.held_back import held_back
from batsched_py.cli.interruption import Interruption


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
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
    finally:
        signal.signal(signal.SIGINT, before)


def test_what_fails_is_more_important_than_who_interrupts() -> None:
    """The error is told: the run ends either way."""

    @held_back()
    def work() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        raise ValueError("disk full")

    with pytest.raises(ValueError, match="disk full"):
        work()

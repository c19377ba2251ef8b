"""Ways to stop Batsim: a refusal in the place of a reply, over every transport."""

from __future__ import annotations

import pytest

from batsched_py.errors import TransportError
from batsched_py.transport.connection import GRACE, stop_batsim


class Batsim:
    """A connection to a Batsim that takes a reply or not, and asks again or not."""

    def __init__(self, *, takes: bool = True, asks: bytes | None = None) -> None:
        self._takes, self._asks = takes, asks
        #: Replies, time-outs of receptions, and what was recorded.
        self.replies: list[bytes] = []
        self.waits: list[float | None] = []
        self.recorded: list[tuple[bytes, bytes]] = []

    def receive(self, timeout: float | None = None) -> bytes:
        self.waits.append(timeout)
        if self._asks is None:
            raise TransportError("Batsim has said nothing")
        self._takes = True
        return self._asks

    def send(self, reply: bytes) -> None:
        if not self._takes:
            raise TransportError("cannot send")
        self.replies.append(reply)

    def stop(self, request: bytes | None, *, asks_again: bool) -> None:
        """Refuse and record."""
        stop_batsim(self, request, b"no ".__add__, lambda *pair: self.recorded.append(pair), asks_again=asks_again)


@pytest.mark.parametrize("asks_again", [True, False])
def test_the_waitingthat_waits_is_refused_and_recorded(asks_again: bool) -> None:
    """Batsim does not ask again after that."""
    batsim = Batsim()
    batsim.stop(b"one", asks_again=asks_again)
    assert (batsim.replies, batsim.recorded, batsim.waits) == ([b"no one"], [(b"one", b"no one")], [])


@pytest.mark.parametrize(("waiting", "takes"), [(None, True), (b"one", False)])
def test_the_next_waitingis_refused_if_batsim_has_its_reply(waiting: bytes | None, takes: bool) -> None:
    """As after an interruption between the two, or just when the reply left; for that it has a short time."""
    batsim = Batsim(takes=takes, asks=b"two")
    batsim.stop(waiting, asks_again=True)
    assert (batsim.replies, batsim.recorded, batsim.waits) == ([b"no two"], [(b"two", b"no two")], [GRACE])


@pytest.mark.parametrize(("waiting", "takes"), [(None, True), (b"one", False)])
def test_nothing_is_refused_if_batsim_does_not_ask_again(waiting: bytes | None, takes: bool) -> None:
    """Nor is anything waited for."""
    batsim = Batsim(takes=takes, asks=b"two")
    batsim.stop(waiting, asks_again=False)
    assert (batsim.replies, batsim.recorded, batsim.waits) == ([], [], [])


def test_a_batsim_that_is_gone_is_an_error() -> None:
    """Nothing was refused, so nothing is recorded."""
    batsim = Batsim()
    with pytest.raises(TransportError, match="has said nothing"):
        batsim.stop(None, asks_again=True)
    assert batsim.recorded == []

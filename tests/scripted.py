"""A Batsim whose requests are a script, without a socket."""

from __future__ import annotations

from batsched_py.errors import TransportError
from tests.builders import begins_data, message

BEGINS = message(0.0, ("SIMULATION_BEGINS", begins_data()))
NOTHING = message(1.0)
ENDS = message(2.0, ("SIMULATION_ENDS", {}))


class Wire:
    """A connection whose requests are a script; an exception in it is raised in the place of a request."""

    def __init__(self, *script: bytes | BaseException) -> None:
        self.script = list(script)
        self.replies: list[bytes] = []
        self.timeouts: list[float | None] = []
        self.owes_reply = False

    def receive(self, timeout: float | None = None) -> bytes:
        self.timeouts.append(timeout)
        told = self.script.pop(0)
        if isinstance(told, BaseException):
            raise told
        self.owes_reply = True
        return told

    def send(self, reply: bytes) -> None:
        if not self.owes_reply:
            raise TransportError("out of turn")
        self.owes_reply = False
        self.replies.append(reply)

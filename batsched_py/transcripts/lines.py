"""A message as a line of a transcript: its number, who said it, and its bytes as they were sent.

A message that is JSON on one line stands in it as it is, any other as a string.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

import orjson
from msgspec import Struct

BATSIM: Final = "batsim"
SCHEDULER: Final = "scheduler"

#: What stands before a message that is written as it is, and is the last member of its line.
_MESSAGE: Final = b'"message":'


class Line(Struct, frozen=True):
    """One message. `speaker` is BATSIM or SCHEDULER; both messages of an exchange have its number."""

    number: int
    speaker: str
    content: bytes

    def to_line(self) -> bytes:
        """The line, with its end. Bytes that are no UTF-8 text, which a broken peer may send, go as base64."""
        members: dict[str, Any] = {"seq": self.number, "from": self.speaker}
        try:
            members["bytes"] = self.content.decode()
        except UnicodeDecodeError:
            members["base64"] = base64.b64encode(self.content).decode()
        return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def read(cls, line: bytes, members: Mapping[str, Any]) -> Line:
        """The message of a line, which was parsed already; ValueError says which rule is broken."""
        number, speaker = members.get("seq"), members.get("from")
        if type(number) is not int:
            raise ValueError(f"seq: must be the number of the exchange, not {number!r}")
        if speaker not in (BATSIM, SCHEDULER):
            raise ValueError(f"from: must be {BATSIM} or {SCHEDULER}, not {speaker!r}")
        return cls(number, speaker, _content(line, members))


def _content(line: bytes, members: Mapping[str, Any]) -> bytes:
    if "message" in members:
        if list(members)[-1] != "message":
            raise ValueError("message: must be the last member of its line")
        return line[line.index(_MESSAGE) + len(_MESSAGE) : line.rindex(b"}")]
    text, encoded = members.get("bytes"), members.get("base64")
    if type(text) is str:
        return text.encode()
    if type(encoded) is not str:
        raise ValueError("message: is missing; it, or bytes, must hold the message")
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None

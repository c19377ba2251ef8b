"""A message as a line of a transcript: its number, who said it, and its bytes as they were sent."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any, Final

import orjson
from msgspec import Struct

BATSIM: Final = "batsim"
SCHEDULER: Final = "scheduler"


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
    def from_members(cls, members: Mapping[str, Any]) -> Line:
        """The message of a parsed line; ValueError says which rule is broken."""
        number, speaker = members.get("seq"), members.get("from")
        if type(number) is not int:
            raise ValueError(f"seq: must be the number of the exchange, not {number!r}")
        if speaker not in (BATSIM, SCHEDULER):
            raise ValueError(f"from: must be {BATSIM} or {SCHEDULER}, not {speaker!r}")
        return cls(number, speaker, _content(members))


def _content(members: Mapping[str, Any]) -> bytes:
    text, encoded = members.get("bytes"), members.get("base64")
    if type(text) is str:
        return text.encode()
    if type(encoded) is not str:
        raise ValueError("bytes: must be the message as a string")
    try:
        return base64.b64decode(encoded, validate=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None

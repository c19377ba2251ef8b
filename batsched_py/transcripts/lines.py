"""The lines of a transcript: a header that names the algorithm, then the messages, two for each exchange.

A line of a message has its number, its speaker, and its bytes as they were sent: a message of one line of JSON is
embedded unchanged, any other as a string.
"""

from __future__ import annotations

import base64
import binascii
import platform
from collections.abc import Mapping
from typing import Any, Final

import orjson
from msgspec import Struct, field
from msgspec.structs import asdict

import batsched_py

FORMAT: Final = "batsched-py transcript"
#: Version of the format; incremented when readers of the old version would misread the new one.
VERSION: Final = 1
BATSIM: Final = "batsim"
SCHEDULER: Final = "scheduler"

#: The beginning of the last member of a line, an embedded message.
_MESSAGE: Final = b'"message":'


#: Members of a header that are not strings: their types, and the names of these.
_MEMBERS: Final[Mapping[str, tuple[type, str]]] = {
    "options": (dict, "an object"),
    "requests": (bool, "true or false"),
    "call_every": (float, "a number"),
    "compute_sharing": (bool, "true or false"),
}
#: Members that are omitted unless they are used.
_RARE: Final = ("requests", "call_every", "compute_sharing")


class Header(Struct, frozen=True):
    """The first line: the algorithm, with enough to run it again.

    Attributes:
        algorithm: the algorithm as given to `-s`; "" if another program decided.
        options: options of the algorithm, as they were given.
        clock: how long decisions took in simulated time, as it was given to `--clock`.
        requests: True if external events could submit jobs.
        call_every: maximum interval of calls in simulated seconds; 0 for none.
        compute_sharing: True if several jobs could run on one host; Batsim 5 does not send this.
        batsched_py, python: versions that wrote the recording.
    """

    algorithm: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    clock: str = "zero"
    requests: bool = False
    call_every: float = 0.0
    compute_sharing: bool = False
    batsched_py: str = batsched_py.__version__
    python: str = field(default_factory=platform.python_version)

    def to_line(self) -> bytes:
        """Return the line, with its end."""
        members = asdict(self)
        for name in _RARE:
            if not members[name]:
                del members[name]
        return orjson.dumps({"format": FORMAT, "version": VERSION, **members}, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Header:
        """Read the header of a parsed line, without unknown members. ValueError names the broken rule."""
        version = members.get("version")
        if type(version) is not int or version > VERSION:
            raise ValueError(f"version: must be at most {VERSION}, the newest this program reads, not {version!r}")
        known = {name: members[name] for name in cls.__struct_fields__ if name in members}
        for name, value in known.items():
            expected, what = _MEMBERS.get(name, (str, "a text"))
            if type(value) is not expected:
                raise ValueError(f"{name}: must be {what}, not {value!r}")
        return cls(**known)


#: Members of a header, and of the line of a message.
HEADER_MEMBERS: Final = frozenset({"format", "version", *Header.__struct_fields__})
LINE_MEMBERS: Final = frozenset({"seq", "from", "message", "bytes", "base64"})


class MessageLine(Struct, frozen=True):
    """One message. `speaker` is BATSIM or SCHEDULER; both messages of an exchange have its number."""

    number: int
    speaker: str
    content: bytes

    def to_line(self) -> bytes:
        """Return the line, with its end. Bytes that are not UTF-8, from a defective peer, are encoded as base64."""
        members: dict[str, Any] = {"seq": self.number, "from": self.speaker}
        try:
            members["bytes"] = self.content.decode()
        except UnicodeDecodeError:
            members["base64"] = base64.b64encode(self.content).decode()
        return orjson.dumps(members, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def read(cls, line: bytes, members: Mapping[str, Any]) -> MessageLine:
        """Read the message of a parsed line; ValueError names the broken rule."""
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

"""The first line of a transcript: whose replies these are."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any, Final

import orjson
from msgspec import Struct, field
from msgspec.structs import asdict

import batsched_py

FORMAT: Final = "batsched-py transcript"
#: Goes up when a program that reads the older version would misread the newer one.
VERSION: Final = 1


class Header(Struct, frozen=True):
    """Who decided, and how: enough to run it again.

    Attributes:
        algorithm: as it was given to `-s`; "" if another program decided.
        options: of the algorithm, as they were given.
        clock: how long decisions took in simulated time, as it was given to `--clock`.
        batsched_py, python: versions that wrote the recording.
    """

    algorithm: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    clock: str = "zero"
    batsched_py: str = batsched_py.__version__
    python: str = field(default_factory=platform.python_version)

    def to_line(self) -> bytes:
        """The line, with its end."""
        return orjson.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, option=orjson.OPT_APPEND_NEWLINE)

    @classmethod
    def from_members(cls, members: Mapping[str, Any]) -> Header:
        """The header of a parsed line; unknown members are passed over. ValueError says which rule is broken."""
        version = members.get("version")
        if type(version) is not int or version > VERSION:
            raise ValueError(f"version: must be at most {VERSION}, the newest this program reads, not {version!r}")
        known = {name: members[name] for name in cls.__struct_fields__ if name in members}
        for name, value in known.items():
            expected: type = dict if name == "options" else str
            if type(value) is not expected:
                raise ValueError(f"{name}: must be {'an object' if expected is dict else 'a string'}, not {value!r}")
        return cls(**known)

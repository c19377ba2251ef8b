"""Reader of recordings, exchange by exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec import Struct

from batsched_py.errors import TranscriptError
from batsched_py.files.bounded_file import read_messages
from batsched_py.files.compression import DamageError
from batsched_py.reading.limits import LIMITS, LimitError, Limits
from batsched_py.text.display import displayed
from batsched_py.text.encoding import EncodingError
from batsched_py.transcripts.lines import (
    BATSIM,
    FORMAT,
    HEADER_MEMBERS,
    LINE_MEMBERS,
    SCHEDULER,
    Header,
    MessageLine,
)

#: Maximum number of reported unknown members; a hostile recording may have any number.
_MOST_REPORTED: Final = 20


class Exchange(Struct, frozen=True):
    """A request and its reply, with the number of the exchange in its lines."""

    number: int
    request: bytes
    reply: bytes


class Transcript:
    """A file of one run. Reading is lazy: a long recording is never in memory as a whole.

    Attributes:
        path: the file.
        header: the algorithm; None in recordings of other programs, which only have messages.
    """

    def __init__(self, path: Path, warn: Callable[[str], None] | None = None, *, limits: Limits = LIMITS) -> None:
        """Read the header.

        `warn` is called with a line if the recording ends in the middle of an exchange; None to ignore warnings.
        TranscriptError, here and while iterating, names the file, the line and the rule.
        """
        self.path, self._limits = path, limits
        self._write_warning = warn
        #: Reported unknown members of lines.
        self._reported = set[str]()
        self.header = self._read_header()

    def __iter__(self) -> Iterator[Exchange]:
        """Yield the exchanges in their order. An incomplete last line, or a request without reply, ends them."""
        request: MessageLine | None = None
        exchanges = 0
        for number, content, members in self._lines():
            if "format" in members:
                if number > 1:
                    raise self._error(number, "the header must be the first line")
                continue
            self._report_unknown(members.keys() - LINE_MEMBERS)
            try:
                line = MessageLine.read(content, members)
                _check_turn(request, line, exchanges)
            except ValueError as error:
                raise self._error(number, str(error)) from None
            if request is None:
                request = line
            else:
                yield Exchange(line.number, request.content, line.content)
                request = None
                exchanges += 1
        if request is not None:
            self._warn(f"exchange {request.number} has no reply; the recording ends before it")

    def _warn(self, text: str) -> None:
        if self._write_warning is not None:
            self._write_warning(f"{self.path}: {text}")

    def _report_unknown(self, names: AbstractSet[str]) -> None:
        """Report unknown members of lines, each once."""
        for name in sorted(names - self._reported)[: _MOST_REPORTED - len(self._reported)]:
            self._reported.add(name)
            self._warn(f"member {displayed(name)} of a line is unknown and not read")

    def _read_header(self) -> Header | None:
        number, _, members = next(self._lines(), (1, b"", None))
        if members is None:
            raise self._error(number, "holds no complete line")
        if "format" not in members:
            return None
        if members["format"] != FORMAT:
            raise self._error(number, f"format: must be {FORMAT!r}, not {members['format']!r}")
        self._report_unknown(members.keys() - HEADER_MEMBERS)
        try:
            return Header.from_members(members)
        except ValueError as error:
            raise self._error(number, str(error)) from None

    def _lines(self) -> Iterator[tuple[int, bytes, dict[str, Any]]]:
        """Yield number, bytes and members of each line; omit an incomplete last line with a warning."""
        try:
            number = 0
            for number, line in enumerate(read_messages(self.path, self._limits), 1):
                try:
                    members = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    if not line.endswith(b"\n"):
                        self._warn(f"line {number} is torn; the recording ends before it")
                        return
                    what = "is not a recording, which has a JSON object on each line" if number == 1 else "must be JSON"
                    raise self._error(number, f"{what}: {error.msg}") from None
                if type(members) is not dict:
                    raise self._error(number, "must be an object")
                yield number, line, members
        except OSError as error:
            raise TranscriptError(str(self.path), "", f"cannot be read: {error.strerror or error}") from error
        except (DamageError, EncodingError) as error:
            raise TranscriptError(str(self.path), "", str(error)) from None
        except LimitError as error:
            raise self._error(number + 1, str(error)) from None

    def _error(self, number: int, rule: str) -> TranscriptError:
        return TranscriptError(str(self.path), f"line {number}", rule)


def _check_turn(request: MessageLine | None, line: MessageLine, exchanges: int) -> None:
    """Require that requests and replies alternate, numbered by exchange; ValueError otherwise."""
    expected = BATSIM if request is None else SCHEDULER
    if line.speaker != expected:
        raise ValueError(f"from: must be {expected}, whose turn it is, not {line.speaker}")
    if request is not None and line.number != request.number:
        raise ValueError(f"seq: must be {request.number}, its request's, not {line.number}")
    if line.number != exchanges:
        raise ValueError(f"seq: must be {exchanges}, it counts the exchanges from 0 without a gap, not {line.number}")

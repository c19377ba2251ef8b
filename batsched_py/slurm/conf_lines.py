"""Lines of Slurm's configuration files: NAME=VALUE pairs, with continuations, quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

#: A name, and a value that may have quoted parts with blanks.
_PAIR: Final = re.compile(r'\s*([^\s="#]+)\s*=\s*((?:"[^"]*"|[^\s"])*)(?=\s|$)')
_COMMENT: Final = re.compile(r"(?<!\\)#.*")
_WORD: Final = re.compile(r"\s*(\S+)")


class ConfPair(Struct, frozen=True):
    """A name and its value, without quotes; the value is None if there is no equals sign."""

    name: str
    value: str | None


def conf_lines(text: str) -> Iterator[tuple[int, tuple[ConfPair, ...]]]:
    """Yield the number of each line that is not blank, from 1, and its pairs; a backslash at its end continues it."""
    begin, pieces = 0, list[str]()
    for number, raw in enumerate(text.splitlines(), 1):
        begin = begin if pieces else number
        line = _COMMENT.sub("", raw).replace(r"\#", "#").rstrip()
        pieces.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            if found := _pairs("".join(pieces)):
                yield begin, found
            pieces.clear()
    if pieces and (found := _pairs("".join(pieces))):
        yield begin, found


def _pairs(line: str) -> tuple[ConfPair, ...]:
    pairs, position, end = list[ConfPair](), 0, len(line.rstrip())
    while position < end:
        if match := _PAIR.match(line, position):
            pairs.append(ConfPair(match[1], match[2].replace('"', "")))
        else:
            match = _WORD.match(line, position)
            assert match is not None  # noqa: S101 - something follows
            pairs.append(ConfPair(match[1], None))
        position = match.end()
    return tuple(pairs)


def included_names(content: bytes) -> list[str]:
    """Return the names of files in lines `Include FILE`."""
    lines = conf_lines(content.decode(errors="replace"))
    return [name for _, pairs in lines if is_include(pairs) and (name := included_name(pairs))]


def is_include(pairs: Sequence[ConfPair]) -> bool:
    """Return whether a line includes a file."""
    return pairs[0].name.lower() == "include"


def included_name(pairs: Sequence[ConfPair]) -> str:
    """Return the name in a line that includes a file; "" if there is not one."""
    return pairs[1].name if len(pairs) == 2 and pairs[0].value is pairs[1].value is None else ""

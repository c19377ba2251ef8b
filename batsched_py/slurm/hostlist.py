"""Lists of nodes as Slurm writes them: `n[1-3,7],login`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

#: The largest number of nodes of a list, so that a short text costs no memory out of proportion.
MOST_NODES: Final = 65536
_PART: Final = re.compile(r"([^\[\],\s]+)(?:\[([0-9,-]+)\])?(?:,|$)")
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?", re.ASCII)
_NUMBERED: Final = re.compile(r"(.*\D)(\d{1,9})", re.ASCII)


def expand(text: str) -> list[str]:
    """Return the names of a list, in its order. Raise `ValueError` with the rule if it is not one."""
    names: list[str] = []
    position = 0
    while position < len(text):
        part = _PART.match(text, position)
        if part is None:
            raise ValueError("must be a list of nodes such as n[1-3,7]")
        position = part.end()
        if part[2] is None:
            names.append(part[1])
        else:
            names += [f"{part[1]}{number}" for number in _numbers(part[2], MOST_NODES - len(names))]
        if len(names) > MOST_NODES:
            raise ValueError(f"must have at most {MOST_NODES} nodes")
    return names


def compress(names: Sequence[str]) -> str:
    """Return names in the order of a cluster as one list, with ranges of numbers in brackets; `expand` reads it."""
    #: Numbers behind each prefix; a name without a number, or one too long for a list, is one of its own.
    groups: dict[tuple[str, bool], list[str]] = {}
    for name in names:
        match = _NUMBERED.fullmatch(name)
        groups.setdefault((match[1], True) if match else (name, False), []).extend([match[2]] if match else [])
    return ",".join(_group(prefix, numbers) for (prefix, _), numbers in groups.items())


def _numbers(text: str, most: int) -> Iterable[str]:
    numbers: list[str] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            raise ValueError("must be a list of nodes such as n[1-3,7]")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first or last - first + len(numbers) >= most:
            raise ValueError(f"must have ascending ranges and at most {MOST_NODES} nodes")
        numbers += [str(number).zfill(len(match[1])) for number in range(first, last + 1)]
    return numbers


def _group(prefix: str, numbers: Sequence[str]) -> str:
    if not numbers:
        return prefix
    ranges: list[list[str]] = []
    for number in numbers:
        if ranges and number == str(int(ranges[-1][-1]) + 1).zfill(len(ranges[-1][0])):
            ranges[-1][1:] = [number]
        else:
            ranges.append([number])
    text = ",".join("-".join(ends) for ends in ranges)
    return f"{prefix}{text}" if len(numbers) == 1 else f"{prefix}[{text}]"

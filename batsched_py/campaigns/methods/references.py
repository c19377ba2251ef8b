"""The sources of algorithms, models, metrics and statistics: entries of references.bib by what they are cited for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

import batsched_py

_FILE: Final = Path(__file__).with_name("references.bib")
_ENTRY: Final = re.compile(r"@\w+\{(\S+),\n.*?\n\}\n", re.DOTALL)
_KEYWORDS: Final = re.compile(r",\n  keywords = \{([^{}]*)\}\n")


class BibEntry(Struct, frozen=True):
    """An entry of BibTeX.

    Attributes:
        key: the key for citations.
        entry: the entry with its last newline, without its keywords.
        purposes: what it is cited for: "algorithm:easy", "holm"...
    """

    key: str
    entry: str
    purposes: tuple[str, ...]


@cache
def references() -> tuple[BibEntry, ...]:
    """Return all entries, in the order of the file."""
    text = _FILE.read_text(encoding="utf-8")
    return tuple(_reference(found[1], found[0]) for found in _ENTRY.finditer(text))


def _reference(key: str, entry: str) -> BibEntry:
    found = _KEYWORDS.search(entry)
    purposes = () if found is None else tuple(found[1].split(", "))
    return BibEntry(key, _KEYWORDS.sub("\n", entry).replace("VERSION", batsched_py.__version__), purposes)


def keys_for(purpose: str) -> tuple[str, ...]:
    """Return the keys of the entries that are cited for this; none if there is no such entry."""
    return tuple(one.key for one in references() if purpose in one.purposes)


def bibliography(keys: Iterable[str]) -> str:
    """Return the file of BibTeX with these entries, in the order of all."""
    wanted = set(keys)
    return "\n".join(one.entry for one in references() if one.key in wanted)

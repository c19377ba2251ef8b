"""Short representations of large facts, for notebooks and debuggers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from reprlib import Repr
from typing import Any, Final

from msgspec import Struct

#: The largest number of members of a collection that are shown; of a larger one, only the size is.
_MOST: Final = 3
#: The largest number of characters of a value in a collection, and of a text.
_LONGEST: Final = 200

_short: Final = Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST
_short.maxtuple = _short.maxlist = _short.maxdict = _short.maxset = _short.maxfrozenset = _MOST


class Brief(Struct, frozen=True):
    """A struct with a short representation, in which large collections are shown by their sizes."""

    def __repr__(self) -> str:
        return brief(self)

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        """Return names and values as in __repr__."""
        return [(name, _Shown(_brief(getattr(self, name)))) for name in self.__struct_fields__]


def brief(thing: Struct) -> str:
    """Return the representation of any struct, with large collections replaced by their sizes."""
    fields = ", ".join(f"{name}={_brief(getattr(thing, name))}" for name in thing.__struct_fields__)
    return f"{type(thing).__name__}({fields})"


class _Shown:
    """A text that is its own representation."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _brief(value: object) -> str:
    if isinstance(value, Struct):
        return repr(value) if isinstance(value, Brief) else _short.repr(value)
    if isinstance(value, (Sequence, Mapping, Set)) and not isinstance(value, str) and len(value) > _MOST:
        return f"<{type(value).__name__} of {len(value)}>"
    return _short.repr(dict(value) if isinstance(value, Mapping) else value)

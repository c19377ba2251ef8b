"""A growing set of names, which needs one bit instead of a hundred bytes for each of a million numbered names."""

from __future__ import annotations

from typing import Final

#: Number of names stored as text before numbered names are packed: few runs have more.
_RECENT: Final = 1 << 14
#: Maximum average number of bits of a packed name, and the initial allowance.
_SPARSE: Final = 256
_GRANTED: Final = 1 << 16
#: Maximum number of digits of packed numbers.
_MOST_DIGITS: Final = 18


class _Numbers:
    """The numbers of names with equal prefixes, as a bitmap."""

    __slots__ = ("_bitmap", "_count")

    def __init__(self) -> None:
        self._bitmap = bytearray()
        self._count = 0

    def __contains__(self, number: int) -> bool:
        return number >> 3 < len(self._bitmap) and bool(self._bitmap[number >> 3] & 1 << (number & 7))

    def add(self, number: int) -> bool:
        """Add a number; return False if it is so large that the bitmap would be mostly empty."""
        place = number >> 3
        if place >= len(self._bitmap):
            if number > _GRANTED + _SPARSE * self._count:
                return False
            self._bitmap.extend(bytes(place + 1024 - len(self._bitmap)))
        self._bitmap[place] |= 1 << (number & 7)
        self._count += 1
        return True


class NameSet:
    """A set of names."""

    __slots__ = ("_numbered", "_others", "_packed", "_recent")

    def __init__(self) -> None:
        #: Number of names except the recent ones.
        self._packed = 0
        #: Names added last.
        self._recent: set[str] = set()
        #: (prefix, number of digits) -> numbers, for older names that end in a number.
        self._numbered: dict[tuple[str, int], _Numbers] = {}
        #: Older names that cannot be packed.
        self._others: set[str] = set()

    def __len__(self) -> int:
        return self._packed + len(self._recent)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if name in self._recent:
            return True
        if not self._packed:
            return False
        head = name.rstrip("0123456789")
        numbers = self._numbered.get((head, len(name) - len(head)))
        return (numbers is not None and int(name[len(head) :]) in numbers) or name in self._others

    def add(self, name: str) -> bool:
        """Add a name; return False if it is already in the set."""
        recent = self._recent
        if name in recent or (self._packed and name in self):
            return False
        recent.add(name)
        if len(recent) >= _RECENT:
            self._pack()
        return True

    def _pack(self) -> None:
        for name in self._recent:
            head = name.rstrip("0123456789")
            digits = len(name) - len(head)
            if not 0 < digits <= _MOST_DIGITS or not self._numbers(head, digits).add(int(name[len(head) :])):
                self._others.add(name)
        self._packed += len(self._recent)
        self._recent.clear()

    def _numbers(self, head: str, digits: int) -> _Numbers:
        numbers = self._numbered.get((head, digits))
        if numbers is None:
            numbers = self._numbered[head, digits] = _Numbers()
        return numbers

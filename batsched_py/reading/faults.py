"""Faults of documents: values that break rules, with their places, and the error that carries them upwards.

A reader raises `FieldError` with the place relative to what it reads; the reader around it puts its own place in front
(`inside`). The path of a value is therefore built only when the value is wrong. Readers of objects and lists read all
their parts before they raise, so that the faults of a whole document arrive together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from batsched_py.errors import Fault, InputError
from batsched_py.text.display import displayed, shown

T = TypeVar("T")
#: Maximum number of faults of one document; reading ends after as many.
MOST_FAULTS: Final = 100


class FieldError(ValueError):
    """A value breaks a rule.

    Attributes:
        path: place of the value, relative to what was read; "" for that itself.
        rule: the rule.
        others: further faults, in the order of the document.
    """

    def __init__(self, path: str, rule: str, others: Sequence[Fault] = ()) -> None:
        self.path, self.rule, self.others = path, rule, tuple(others)
        super().__init__(f"{path}: {rule}" if path else rule)

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All faults."""
        return (Fault(self.path, self.rule), *self.others)


class Place:
    """A place in a document that is being read, and the list of the faults found so far.

    Attributes:
        path: `resources[0].compute.name`; "" for the whole document.
    """

    __slots__ = ("_found", "path")

    def __init__(self, path: str = "") -> None:
        self.path = path
        self._found: list[Fault] = []

    def __truediv__(self, member: object) -> Place:
        """Return the place of a member, whose name may come from outside."""
        name = displayed(str(member)) or '""'
        return self.at(name)

    def __getitem__(self, index: int) -> Place:
        """Return the place of an item of a list."""
        return self.at(f"[{index}]")

    def note(self, rule: str) -> None:
        """Add a fault. FieldError, with all faults, after the maximum number."""
        self._found.append(Fault(self.path, rule))
        if len(self._found) >= MOST_FAULTS:
            self.refuse()

    def add(self, error: ValueError) -> None:
        """Add the faults of an error of the value at this place; FieldError as `note`."""
        for path, rule in faults_of(error):
            self.at(path).note(rule)

    def read(self, reader: Callable[[Any], T], value: Any, default: T) -> T:
        """Return the typed value; `default`, after adding its faults, if it is wrong. FieldError as `note`."""
        try:
            return reader(value)
        except ValueError as error:
            self.add(error)
            return default

    @property
    def is_faulty(self) -> bool:
        """True if the document has a fault so far."""
        return bool(self._found)

    def refuse(self) -> None:
        """Raise FieldError if the document has faults."""
        if self._found:
            raise _error(self._found)

    def at(self, path: str) -> Place:
        """Return the place at a path relative to this one, such as `[3].at`."""
        place = Place(joined(self.path, path))
        place._found = self._found
        return place


def faults_of(error: ValueError) -> tuple[Fault, ...]:
    """Return the faults of any error of a reader: a ValueError without a place concerns the whole value."""
    return error.faults if isinstance(error, FieldError) else (Fault("", str(error)),)


def inside(place: str, error: ValueError) -> FieldError:
    """Return the error of a document, given that of the value at this place in it."""
    return _error([Fault(joined(place, path), rule) for path, rule in faults_of(error)])


def refused(expected: str, value: object, place: str = "") -> FieldError:
    """Return the error for a value that is not what is expected: "must be a number, not 'x'"."""
    return FieldError(place, f"must be {expected}, not {shown(value)}")


def joined(place: str, inner: str) -> str:
    """Return the path of a place in another one: "jobs[3]" and "walltime" make "jobs[3].walltime"."""
    return f"{place}{inner}" if not place or not inner or inner.startswith("[") else f"{place}.{inner}"


def of_file(kind: type[InputError], file: str, error: ValueError) -> InputError:
    """Return the error for the file whose content has these faults."""
    (path, rule), *others = faults_of(error)
    return kind(file, path, rule, others)


def _error(faults: Sequence[Fault]) -> FieldError:
    (path, rule), *others = faults[:MOST_FAULTS]
    return FieldError(path, rule, others)

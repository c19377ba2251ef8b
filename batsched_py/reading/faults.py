"""Faults of documents: values that break rules, with their places, and the error that carries them upwards.

A reader raises `FieldError` with the place relative to what it reads; the reader around it puts its own place in front
(`inside`). The path of a value is therefore built only when the value is wrong. Readers of objects and lists read all
their parts before they raise, so that the faults of a whole document arrive together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from batsched_py.errors import Fault, InputError
from batsched_py.text.display import displayed, shown

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


class Faults:
    """The faults of a document that is being read, in the order in which they are found."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def note(self, place: str, rule: str) -> None:
        """Add a fault. FieldError, with all faults, after the maximum number."""
        self._found.append(Fault(place, rule))
        if len(self._found) >= MOST_FAULTS:
            self.refuse()

    def add(self, place: str, error: ValueError) -> None:
        """Add the faults of an error of the value at this place; FieldError as `note`."""
        for path, rule in faults_of(error):
            self.note(joined(place, path), rule)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        """Add the faults of errors raised in the block, which ends there; FieldError as `note`."""
        try:
            yield
        except ValueError as error:
            self.add(place, error)

    def refuse(self) -> None:
        """Raise FieldError if there are faults."""
        if self._found:
            raise _error(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)


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


def member(place: str, name: object) -> str:
    """Return the path of a member, whose name may come from outside."""
    shown_name = displayed(str(name)) or '""'
    return f"{place}.{shown_name}" if place else shown_name


def of_file(kind: type[InputError], file: str, error: ValueError) -> InputError:
    """Return the error for the file whose content has these faults."""
    (path, rule), *others = faults_of(error)
    return kind(file, path, rule, others)


def _error(faults: Sequence[Fault]) -> FieldError:
    (path, rule), *others = faults[:MOST_FAULTS]
    return FieldError(path, rule, others)

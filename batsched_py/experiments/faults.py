"""Faults of documents: all errors with their paths in one list (M7, M18)."""

from __future__ import annotations

from typing import Final, NoReturn

from batsched_py.errors import Fault, WorkloadError
from batsched_py.text.display import displayed

#: Maximum number of listed faults of one document.
MOST_FAULTS: Final = 100


class DescriptorError(WorkloadError):
    """The error for a document that is not a descriptor of an experiment."""


class DescriptorSyntaxError(DescriptorError):
    """The error for a document that is not valid JSON or supported XML."""


class DescriptorSizeError(DescriptorError):
    """The error for a document that is too large."""


class InvalidDescriptorError(DescriptorError):
    """The error for a document that breaks rules; its text is the first fault and the number of others."""


class RefusedValueError(Exception):
    """The signal that a value was refused, after noting its fault; the surrounding object is read without it."""


class EnoughFaultsError(Exception):
    """The signal that a document has too many faults to continue reading."""


class Place:
    """A place in a document, and the list to which its faults are added.

    Attributes:
        path: `resources[0].compute.name`; "" for the whole document.
    """

    __slots__ = ("_faults", "path")

    def __init__(self, faults: list[Fault], path: str = "") -> None:
        self._faults, self.path = faults, path

    def __truediv__(self, member: str) -> Place:
        return Place(self._faults, f"{self.path}.{displayed(member)}" if self.path else displayed(member))

    def __getitem__(self, index: int) -> Place:
        return Place(self._faults, f"{self.path}[{index}]")

    def inside(self, path: str) -> Place:
        """Return the place at a relative path, such as `[3].at`."""
        return Place(self._faults, f"{self.path}{path}")

    def note(self, message: str) -> None:
        """Add a fault; EnoughFaultsError after the maximum number."""
        self._faults.append(Fault(self.path, message))
        if len(self._faults) == MOST_FAULTS:
            raise EnoughFaultsError

    def refuse(self, message: str) -> NoReturn:
        """Add a fault, and raise RefusedValueError for the value in this place."""
        self.note(message)
        raise RefusedValueError

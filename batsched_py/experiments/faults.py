"""Faults of documents: what is wrong where, all of them at once (M7, M18)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from msgspec import Struct

from batsched_py.errors import WorkloadError
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted

#: Faults of one document that are listed; more help nobody.
MOST_FAULTS: Final = 100


class Fault(Struct, frozen=True):
    """A member of a document, by its path, and the rule that it breaks."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class DescriptorError(WorkloadError):
    """A document is no descriptor of an experiment."""


class DescriptorSyntaxError(DescriptorError):
    """A document is not JSON or XML that is read here."""


class DescriptorSizeError(DescriptorError):
    """A document is too large."""


class InvalidDescriptorError(DescriptorError):
    """A document breaks rules; its text names the first fault and the number of the others.

    Attributes:
        faults: all of them, in the document's order.
    """

    arguments = ("file", "faults")

    def __init__(self, file: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        first, others = self.faults[0], len(self.faults) - 1
        rule = f"{first.message} (and {counted(others, 'other error')})" if others else first.message
        super().__init__(file, first.path, rule)


class RefusedValueError(Exception):
    """A value is refused; its fault is noted already. Whoever reads what surrounds it goes on without it."""


class EnoughFaultsError(Exception):
    """A document has so many faults that nothing more of it is read."""


class Place:
    """A place in a document, and the list that takes the faults that are found there.

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
        """Return the place that a path leads to from here, such as `[3].at`."""
        return Place(self._faults, f"{self.path}{path}")

    def note(self, message: str) -> None:
        """Note a fault; EnoughFaultsError after the last one that is listed."""
        self._faults.append(Fault(self.path, message))
        if len(self._faults) == MOST_FAULTS:
            raise EnoughFaultsError

    def refuse(self, message: str) -> NoReturn:
        """Note a fault, and give up the value in this place."""
        self.note(message)
        raise RefusedValueError

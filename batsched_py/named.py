"""Registries of things that users select by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, Protocol, TypeVar

from batsched_py.errors import PlanError
from batsched_py.interruption import is_interruption
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean

Thing = TypeVar("Thing")
RowType = TypeVar("RowType", bound="Row")
#: Loader of the object at "module:name" or "file.py:name"; the second argument describes it in messages.
Load = Callable[[str, str], Any]


class Row(Protocol):
    """A row of a table, with its name."""

    @property
    def name(self) -> str:
        """Unique in the table."""


def by_name(table: str, rows: Iterable[RowType]) -> dict[str, RowType]:
    """Return name -> row; ValueError if two rows of the table have the same name, of which one would be lost."""
    found = dict[str, RowType]()
    for row in rows:
        if row.name in found:
            raise ValueError(f"two rows of {table} have the name {row.name}")
        found[row.name] = row
    return found


class Named(Generic[Thing]):
    """Things of one kind that users select by name, or supply as their own function, `module:function`.

    Args:
        kind: the kind, for messages, such as "queue order".
        known: name -> thing.
        takes: the names of a user's function's arguments, for messages; it must take as many.
        adopt: makes a thing from a name and a user's function; None to allow known things only.
        notation: the notation of a user's own thing, for messages.
    """

    def __init__(
        self,
        kind: str,
        known: Mapping[str, Thing],
        takes: tuple[str, ...] = (),
        adopt: Callable[[str, Callable[..., Any]], Thing] | None = None,
        notation: str = "module:function",
    ) -> None:
        self.kind, self._known, self._takes, self._adopt, self._notation = kind, known, takes, adopt, notation

    def __iter__(self) -> Iterator[str]:
        """Iterate over the known names."""
        return iter(self._known)

    def __getitem__(self, name: str) -> Thing:
        return self._known[name]

    @property
    def choices(self) -> str:
        """The allowed names, as text."""
        return " | ".join((*self._known, *([self._notation] if self._adopt else [])))

    def choices_with(self, load: Load | None) -> str:
        """Return as text what `find` accepts with this `load`."""
        return self.choices if load is not None else " | ".join(self._known)

    def find(self, text: str, load: Load | None) -> Thing:
        """Return the thing with this name, or one made from a user's function; ValueError, with the rule, if none.

        `load` loads the function at "module:function". With None only known things are allowed, for text whose author
        is not trusted to load code.
        """
        if text in self._known:
            return self._known[text]
        if load is None or self._adopt is None or ":" not in text:
            suggestion = did_you_mean(text, self._known)
            wrong = f"must be {self.choices_with(load)}, not {displayed(repr(text))}"
            raise ValueError(f"{wrong}; {suggestion}" if suggestion else wrong)
        function = load(text, self.kind)
        if not callable(function):
            raise ValueError(f"{text} is not a function")
        self._check_arguments(text, function)
        return self._adopt(text, function)

    def _check_arguments(self, name: str, function: Callable[..., Any]) -> None:
        try:
            inspect.signature(function).bind(*self._takes)
        except TypeError:
            raise ValueError(f"{name} must be a function of ({', '.join(self._takes)})") from None
        except ValueError:  # a function in C without a signature
            pass


def failed(what: str, error: BaseException) -> PlanError:
    """Return the PlanError for an error of a user's function; `what` names the function and the call.

    An exception of a signal is raised again instead.
    """
    if is_interruption(error):
        raise error
    return PlanError(f"{what}: it raised " + displayed(" ".join(f"{type(error).__name__}: {error}".split())))

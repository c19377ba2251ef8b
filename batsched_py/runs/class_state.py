"""Detection of state that an algorithm keeps in its class: it leaks into the next run and changes its result.

Comparison takes bounded time: it covers a limited number of items of each container, down to a limited depth.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from batsched_py.plugins import AlgorithmLike
from batsched_py.scheduling.base import Scheduler

#: Classes of these packages keep no state.
_PACKAGES: Final = ("batsched_py.",)
#: Types whose values are compared directly.
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
#: Maximum number of items compared in a container, and maximum depth of nested containers.
_ITEMS: Final = 1000
_DEPTH: Final = 3
#: A fingerprint: equal for two values that do not differ within the compared items and depth.
_Print = Any


def class_state(scheduler: type[Scheduler[Any]]) -> dict[str, _Print]:
    """Return "Class.attribute" -> fingerprint of its value, for the algorithm's class and its base classes.

    Methods, descriptors, Python's own class attributes and classes of batsched-py are excluded.
    """
    found = {}
    for owner in scheduler.__mro__:
        if owner is object or owner.__module__.startswith(_PACKAGES):
            continue
        for name, value in vars(owner).items():
            if not (name.startswith("__") or name == "_abc_impl" or hasattr(type(value), "__get__")):
                found[f"{owner.__qualname__}.{name}"] = _look(value, _DEPTH)
    return found


def changed_state(before: Mapping[str, _Print], after: Mapping[str, _Print]) -> list[str]:
    """Return the names that are new or whose fingerprints have changed, in their order."""
    return [name for name, look in after.items() if name not in before or before[name] != look]


def leak_line(names: list[str]) -> str:
    """Return the warning about names that have changed."""
    verb, state = ("has", "is") if len(names) == 1 else ("have", "are")
    changed = ", ".join(names)
    return (
        f"{changed} {verb} changed during the run and {state} kept for the next one:"
        " state belongs in self, set in setup()"
    )


@contextmanager
def leaks_reported(algorithm: AlgorithmLike, warn: Callable[[str], None] | None) -> Iterator[None]:
    """Warn of state that a run leaves in a class; an algorithm given by its name is loaded anew for the next run.

    Without `warn` it is a Python warning at the caller of `simulate`.
    """
    if isinstance(algorithm, str):
        yield
        return
    before = class_state(algorithm)
    yield
    changed = changed_state(before, class_state(algorithm))
    if changed and warn is not None:
        warn(leak_line(changed))
    elif changed:
        warnings.warn(leak_line(changed), stacklevel=5)


def _look(value: object, depth: int) -> _Print:
    """Return the fingerprint of a value, down to the given depth."""
    if isinstance(value, _PLAIN):
        return type(value), value
    if isinstance(value, bytearray):
        return bytearray, bytes(value)
    if not depth:
        return type(value), id(value)
    if isinstance(value, dict):
        items = [(_look(key, depth - 1), _look(one, depth - 1)) for key, one in islice(value.items(), _ITEMS)]
        return type(value), len(value), items
    if isinstance(value, (list, tuple, deque)):
        return type(value), len(value), [_look(one, depth - 1) for one in islice(value, _ITEMS)]
    if isinstance(value, (set, frozenset)):
        return type(value), len(value), [_look(one, depth - 1) for one in islice(value, _ITEMS)]
    inside = getattr(value, "__dict__", None)
    if isinstance(inside, dict) and not isinstance(value, type):
        return type(value), id(value), _look(inside, depth - 1)
    return type(value), id(value)

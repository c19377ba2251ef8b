"""State that an algorithm keeps in its class: it is still there in the next run, whose result then depends on this one.

Only what can be told in bounded time is compared: values that containers hold near their surface.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from batsched_py.scheduling.base import Scheduler

#: Classes of these packages keep nothing.
_OURS: Final = ("batsched_py.",)
#: Values whose equality tells all.
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
#: Items of a container that are looked at, and containers in containers.
_ITEMS: Final = 1000
_DEPTH: Final = 3
#: What a value looks like: equal for two values that are the same as far as is looked at them.
_Print = Any


def class_state(scheduler: type[Scheduler[Any]]) -> dict[str, _Print]:
    """Return "Class.attribute" -> what its value looks like, of the algorithm's class and those it inherits from.

    Methods, descriptors and what Python itself keeps in classes are left out, and so are classes of batsched-py.
    """
    found = {}
    for owner in scheduler.__mro__:
        if owner is object or owner.__module__.startswith(_OURS):
            continue
        for name, value in vars(owner).items():
            if not (name.startswith("__") or name == "_abc_impl" or hasattr(type(value), "__get__")):
                found[f"{owner.__qualname__}.{name}"] = _look(value, _DEPTH)
    return found


def changed_state(before: Mapping[str, _Print], after: Mapping[str, _Print]) -> list[str]:
    """Return the names whose values look otherwise than before, with those that are new, in their order."""
    return [name for name, look in after.items() if name not in before or before[name] != look]


def leak_line(names: list[str]) -> str:
    """Return the warning about names that have changed."""
    verb, state = ("has", "is") if len(names) == 1 else ("have", "are")
    told = ", ".join(names)
    return (
        f"{told} {verb} changed during the run and {state} kept for the next one: state belongs in self, set in setup()"
    )


def _look(value: object, depth: int) -> _Print:
    """Return a value that is equal as long as this one is the same, as far as is looked at it."""
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

"""Real messages made wrong: seeded, so that the thousandth is the same in every run."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any, Final

#: Values that once broke a decoder somewhere, and some that are right elsewhere.
NASTY: Final[tuple[Any, ...]] = (
    None, True, False, 0, -1, 1.5, 10**30, 10**400, 2**63, 1e308, -1e308, 5e-324, float("nan"), float("inf"), "", " ",
    "0-99999999999", "5-1", "1--2", "\u0663", "a!b!c", "!", "w0!", "NaN", "\ud800", "a\nb\tc\x00", "x" * 2000, [], {},
    [[]], [None], {"": {}}, "SIMULATION_BEGINS", "SIMULATION_ENDS", "JOB_COMPLETED", "EXECUTE_JOB", "0-3", "NOP",
)  # fmt: skip


def mutated(message: bytes, chance: random.Random) -> bytes:
    """The message with one thing wrong, rarely more; now and then the result is still right."""
    if chance.random() < 0.4:
        return _damaged(message, chance)
    document = json.loads(message)
    for _ in range(chance.choice((1, 1, 1, 2))):
        chance.choice(_CHANGES)(chance.choice(_containers(document)), chance)
    return json.dumps(document).encode()


def _damaged(message: bytes, chance: random.Random) -> bytes:
    """Some bytes lost, added, changed or said twice."""
    begin = chance.randrange(len(message))
    end = min(len(message), begin + chance.randrange(1, 30))
    middle = chance.choice(
        (b"", chance.randbytes(end - begin), message[begin:end] * 2, chance.choice((b"{", b"]", b"\0")))
    )
    return message[:begin] if chance.random() < 0.2 else message[:begin] + middle + message[end:]


def _containers(value: Any) -> list[Any]:
    """All objects and lists of a document, itself the first."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    if inner is None:
        return []
    return [value, *(container for member in inner for container in _containers(member))]


def _keys(container: Any) -> list[Any]:
    return list(container) if isinstance(container, dict) else list(range(len(container)))


def _replace(container: Any, chance: random.Random) -> None:
    if container:
        container[chance.choice(_keys(container))] = deepcopy(chance.choice(NASTY))


def _delete(container: Any, chance: random.Random) -> None:
    if container:
        del container[chance.choice(_keys(container))]


def _insert(container: Any, chance: random.Random) -> None:
    if isinstance(container, dict):
        container[chance.choice(("", "job_id", "timestamp", "mine", "alloc"))] = deepcopy(chance.choice(NASTY))
    else:
        container.insert(chance.randrange(len(container) + 1), deepcopy(chance.choice(NASTY)))


def _repeat(container: Any, chance: random.Random) -> None:
    """Say an event, a host or a number of a list twice; exchange two members of an object."""
    keys = _keys(container)
    if not keys:
        return
    one, other = chance.choice(keys), chance.choice(keys)
    if isinstance(container, dict):
        container[one], container[other] = container[other], container[one]
    else:
        container.insert(other, deepcopy(container[one]))


def _nest(container: Any, chance: random.Random) -> None:
    if not container:
        return
    inner: Any = 1
    for level in range(chance.choice((2, 90, 400))):
        inner = {"": inner} if level % 2 else [inner]
    container[chance.choice(_keys(container))] = inner


_CHANGES: Final[tuple[Callable[[Any, random.Random], None], ...]] = (
    _replace, _replace, _replace, _delete, _delete, _insert, _repeat, _nest,
)  # fmt: skip

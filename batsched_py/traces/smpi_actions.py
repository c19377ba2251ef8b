"""Actions of SMPI in traces: their parameters, in bytes, flops and seconds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from batsched_py.model.replay import SmpiAction, alltoall_algorithm
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown

# Sizes in a trace are counts of elements. An element is a byte after `init`, and a double after `init` with any word;
# an action may name another type by its number in SimGrid.

#: Number of a type -> its bytes.
_TYPES: Final = {0: 8, 1: 4, 2: 1, 3: 2, 4: 8, 5: 4, 6: 1}
BYTE: Final = 1
_DOUBLE: Final = 8
#: The largest size of a message, in bytes, and number of flops.
_LARGEST: Final = 1e30

#: Reads an action from its words after the name, the number of ranks and the bytes of an element.
_Read = Callable[["_Words", int], SmpiAction]


class _Words:
    """The words of an action."""

    def __init__(self, name: str, words: Sequence[str], element: int) -> None:
        self.name, self._words, self._element = name, words, element

    def number(self, position: int) -> float:
        """Return a number of at least 0; ValueError."""
        text = self._word(position)
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= _LARGEST:
            raise ValueError(f"{self.name}: parameter {position + 1} must be a number from 0, not {shown(text)}")
        return number

    def whole(self, position: int, ranks: int | None = None) -> int:
        """Return a whole number of at least 0, or a rank; ValueError."""
        text = self._word(position)
        if not (text.isascii() and text.isdecimal()) or len(text) > 9:
            hint = ": receives from any source are not simulated" if text == "-1" else ""
            rule = f"parameter {position + 1} must be a whole number from 0, not {shown(text)}{hint}"
            raise ValueError(f"{self.name}: {rule}")
        if ranks is not None and int(text) >= ranks:
            raise ValueError(f"{self.name}: rank {text} does not exist: there are {ranks}")
        return int(text)

    def root(self, position: int, ranks: int) -> int:
        """Return the root of a collective operation, 0 by default."""
        return self.whole(position, ranks) if len(self._words) > position else 0

    def sizes(self, first: int, count: int, kind: int) -> tuple[float, ...]:
        """Return the bytes of elements; the number of their type may be the parameter `kind`."""
        size = self._element
        if len(self._words) > kind:
            number = self.whole(kind)
            if number not in _TYPES:
                raise ValueError(
                    f"{self.name}: type {number} is not simulated; there are {', '.join(map(str, _TYPES))}"
                )
            size = _TYPES[number]
        return tuple(self.number(position) * size for position in range(first, first + count))

    def check(self, most: int) -> None:
        """Raise ValueError for more words than the action has parameters."""
        if len(self._words) > most:
            raise ValueError(f"{self.name} has at most {most} parameters, not {len(self._words)}")

    def _word(self, position: int) -> str:
        if position >= len(self._words):
            raise ValueError(f"{self.name} must have {position + 1} parameters at least, not {len(self._words)}")
        return self._words[position]


def _message(words: _Words, ranks: int) -> SmpiAction:
    words.check(4)
    return SmpiAction(words.name, words.whole(0, ranks), words.whole(1), words.sizes(2, 1, 3))


def _both(words: _Words, ranks: int) -> SmpiAction:
    words.check(6)
    sizes = (*words.sizes(0, 1, 4), *words.sizes(2, 1, 5))
    return SmpiAction(words.name, words.whole(1, ranks), 0, sizes, source=words.whole(3, ranks))


def _open(words: _Words, ranks: int) -> SmpiAction:
    words.check(3)
    words.whole(0, ranks), words.whole(1, ranks), words.whole(2)
    return SmpiAction(words.name)


def _nothing(words: _Words, _: int) -> SmpiAction:
    return SmpiAction(words.name)


def _timed(words: _Words, _: int) -> SmpiAction:
    words.check(1)
    return SmpiAction(words.name, amount=words.number(0))


def _bcast(words: _Words, ranks: int) -> SmpiAction:
    words.check(3)
    return SmpiAction(words.name, words.root(1, ranks), 0, words.sizes(0, 1, 2))


def _reduce(words: _Words, ranks: int) -> SmpiAction:
    words.check(4)
    return SmpiAction(words.name, words.root(2, ranks), 0, words.sizes(0, 1, 3), words.number(1))


def _with_flops(words: _Words, _: int) -> SmpiAction:
    words.check(3)
    return SmpiAction(words.name, 0, 0, words.sizes(0, 1, 2), words.number(1))


def _all_pairs(words: _Words, _: int) -> SmpiAction:
    words.check(4)
    return SmpiAction(words.name, 0, 0, words.sizes(0, 1, 2))


def _alltoall(words: _Words, ranks: int) -> SmpiAction:
    action = _all_pairs(words, ranks)
    if alltoall_algorithm(ranks, action.sizes[0]) == "pair" and ranks & (ranks - 1):
        rule = (
            f"alltoall of {ranks} ranks and {action.sizes[0]:g} bytes: SimGrid selects an algorithm for powers of two"
        )
        raise ValueError(f"{rule}, and stops")
    return action


def _gather(words: _Words, ranks: int) -> SmpiAction:
    """Read gather, whose second size is that of what is received from each, and scatter, likewise."""
    words.check(5)
    return SmpiAction(words.name, words.root(2, ranks), 0, words.sizes(0, 1, 3))


def _gatherv(words: _Words, ranks: int) -> SmpiAction:
    words.check(4 + ranks)
    root = words.root(1 + ranks, ranks) if words.name == "gatherv" else 0
    kind = 2 + ranks if words.name == "gatherv" else 1 + ranks
    return SmpiAction(words.name, root, 0, (*words.sizes(0, 1, kind), *words.sizes(1, ranks, kind + 1)))


def _scatterv(words: _Words, ranks: int) -> SmpiAction:
    words.check(4 + ranks)
    return SmpiAction(words.name, words.root(1 + ranks, ranks), 0, words.sizes(0, ranks, 2 + ranks))


def _alltoallv(words: _Words, ranks: int) -> SmpiAction:
    words.check(4 + 2 * ranks)
    sent = words.sizes(1, ranks, 2 + 2 * ranks)
    return SmpiAction(words.name, 0, 0, (*sent, *words.sizes(2 + ranks, ranks, 3 + 2 * ranks)))


def _reducescatter(words: _Words, ranks: int) -> SmpiAction:
    words.check(2 + ranks)
    sizes = words.sizes(0, ranks, 1 + ranks)
    if len(set(sizes)) > 1:
        raise ValueError("reducescatter is simulated for equal counts only")
    return SmpiAction(words.name, 0, 0, sizes, words.number(ranks))


_ACTIONS: Final[Mapping[str, _Read]] = {
    **dict.fromkeys(("init", "finalize", "comm_size", "comm_split", "comm_dup", "waitall", "barrier"), _nothing),
    **dict.fromkeys(("send", "isend", "recv", "irecv"), _message),
    **dict.fromkeys(("wait", "test"), _open),
    **dict.fromkeys(("compute", "sleep"), _timed),
    **dict.fromkeys(("allreduce", "scan", "exscan"), _with_flops),
    **dict.fromkeys(("gather", "scatter"), _gather),
    **dict.fromkeys(("gatherv", "allgatherv"), _gatherv),
    "allgather": _all_pairs,
    "alltoall": _alltoall,
    "sendRecv": _both,
    "bcast": _bcast,
    "reduce": _reduce,
    "scatterv": _scatterv,
    "alltoallv": _alltoallv,
    "reducescatter": _reducescatter,
}


class SmpiReader:
    """A reader of the actions of one rank, among `ranks`."""

    def __init__(self, ranks: int) -> None:
        self._ranks, self._element = ranks, BYTE

    def read(self, words: Sequence[str]) -> SmpiAction:
        """Read an action from its words, which begin with its name; ValueError with the rule."""
        name = words[0] if words else ""
        if name not in _ACTIONS:
            raise ValueError(f"action {shown(name)}: {unknown(name, _ACTIONS)}")
        if name == "init":
            self._element = _DOUBLE if len(words) > 1 else BYTE
        return _ACTIONS[name](_Words(name, words[1:], self._element), self._ranks)

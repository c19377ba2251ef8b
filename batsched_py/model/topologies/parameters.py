"""Parameters of topologies, as SimGrid's `topo_parameters` gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from batsched_py.bits import MAX_HOST
from batsched_py.model.topologies.cluster import Topology
from batsched_py.model.topologies.dragonfly import Dragonfly
from batsched_py.model.topologies.fat_tree import FatTree
from batsched_py.model.topologies.torus import Torus

#: Most dimensions of a torus, and most levels of a fat tree: names of links grow with them.
_DEEPEST: Final = 30
_COUNT: Final = re.compile(r"\s*[0-9]{1,18}\s*")


def read_parameters(name: str, text: str, before: int = 0) -> Topology:
    """Read the parameters of a topology with a name of TOPOLOGY_NAMES; ValueError with the rule that they break.

    Positions of a fat tree go on from `before` hosts in other ones (see `fat_tree`).
    """
    return _READERS[name](text, before)


def _read_torus(text: str, _: int) -> Torus:
    sizes = _numbers(text, "must be the sizes of the dimensions, like 4,4,2")
    if sizes.count(1) > 1:
        raise ValueError("must have at most one dimension of size 1, since SimGrid stops at more")
    return Torus(sizes)


def _read_fat_tree(text: str, before: int) -> FatTree:
    rule = "must be the number of levels, then children, parents and cables of each level, like 2;4,4;1,2;1,2"
    levels, *parts = (_numbers(part, rule) for part in text.split(";"))
    if len(levels) != 1 or [len(part) for part in parts] != [levels[0]] * 3:
        raise ValueError(rule)
    children, parents, parallel = parts
    return FatTree(children, parents, parallel, before)


def _read_dragonfly(text: str, _: int) -> Dragonfly:
    rule = "must be groups, chassis and blades with their cables, and nodes, like 3,4;4,3;5,1;2"
    parts = [_numbers(part, rule) for part in text.split(";")]
    if [len(part) for part in parts] != [2, 2, 2, 1]:
        raise ValueError(rule)
    numbers = [number for part in parts for number in part]
    if numbers[0] > numbers[4]:
        raise ValueError("must not have more groups than blades of a chassis, since SimGrid stops at them")
    return Dragonfly(*numbers)


def _numbers(text: str, rule: str) -> tuple[int, ...]:
    pieces = text.split(",")
    if len(pieces) > _DEEPEST:
        raise ValueError(f"must have at most {_DEEPEST} numbers in a row")
    found = tuple(int(piece) if _COUNT.fullmatch(piece) else 0 for piece in pieces)
    if not all(1 <= number <= MAX_HOST for number in found):
        raise ValueError(rule)
    return found


#: Value of SimGrid's attribute `topology` -> reader of the parameters.
_READERS: Final[Mapping[str, Callable[[str, int], Topology]]] = MappingProxyType(
    {"TORUS": _read_torus, "FAT_TREE": _read_fat_tree, "DRAGONFLY": _read_dragonfly}
)
TOPOLOGY_NAMES: Final = tuple(_READERS)

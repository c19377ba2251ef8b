"""Constraints on the features of nodes: `a&ib`, `a|b`, `[a|b]`, `[ib*2&eth*2]`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from batsched_py.slurm.configuration import SlurmConfiguration

_NAME: Final = re.compile(r"[\w.-]+(?:\*\d{1,6})?")


@dataclass(frozen=True, slots=True)
class FeatureChoice:
    """One way to satisfy a constraint: all nodes are of `nodes`, and of each group a number of nodes is needed."""

    nodes: int
    groups: tuple[tuple[int, int], ...] = ()


def feature_choices(text: str, configuration: SlurmConfiguration) -> list[FeatureChoice]:
    """Return the ways to satisfy a constraint, in its order; the nodes are bits.

    Raises:
        ValueError: a feature is unknown, or the text is no constraint.
    """
    if not text:
        return [FeatureChoice(configuration.all_nodes)]
    if text.startswith("[") and text.endswith("]"):
        inner = text[1:-1]
        if "*" not in inner:
            return [choice for part in inner.split("|") for choice in feature_choices(part, configuration)]
        text = inner
    if "*" in text:
        groups = [_counted(part, configuration) for part in text.split("&")]
        every = configuration.all_nodes
        for nodes, count in groups:
            every &= every if count else nodes
        return [FeatureChoice(every, tuple((nodes, count) for nodes, count in groups if count))]
    return [FeatureChoice(_mask(text, configuration))]


def _counted(part: str, configuration: SlurmConfiguration) -> tuple[int, int]:
    name, _, count = part.partition("*")
    return _mask(name, configuration), int(count or 0)


def _mask(text: str, configuration: SlurmConfiguration) -> int:
    """Return the nodes with these features; `&` and `|` are evaluated from left to right."""
    mask = configuration.all_nodes
    for sign, name in re.findall(r"([&|]?)([^&|]+)", text):
        if not _NAME.fullmatch(name):
            raise ValueError("Invalid feature specification")
        nodes = sum(1 << at for at, node in enumerate(configuration.nodes) if name in node.features)
        if not nodes:
            raise ValueError("Invalid feature specification")
        mask = mask | nodes if sign == "|" else mask & nodes
    return mask

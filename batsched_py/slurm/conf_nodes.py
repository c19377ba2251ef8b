"""Nodes of a configuration while its file is read: their lines, sets of them, and those that take no jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from batsched_py.slurm.conf_effects import NODE_IGNORED, NODE_NEUTRAL
from batsched_py.slurm.conf_meanings import DOWN_MEANINGS, NODE_MEANINGS, SET_MEANINGS
from batsched_py.slurm.conf_parameters import DOWN_STATES, NODE_FIELDS, NODE_SIZES
from batsched_py.slurm.conf_values import at_least, core_count
from batsched_py.slurm.configuration import SlurmNode
from batsched_py.slurm.hostlist import expand
from batsched_py.slurm.offers import each_bit, mask_of
from batsched_py.slurm.parameter_uses import EffectTables, NamedTexts, ParameterUses
from batsched_py.text.display import displayed

#: Name of lines that hold for those that follow.
DEFAULT: Final = "DEFAULT"
UNKNOWN_PARAMETER: Final = "is an unknown or unsupported parameter"
#: The largest number of names in all lists of nodes: a short file could take hours.
_MOST_NAMES: Final = 2_000_000
_OF_NODE: Final[EffectTables] = (NODE_IGNORED, {}, NODE_NEUTRAL)
_OF_DOWN: Final[EffectTables] = ({"reason": NODE_IGNORED["reason"]}, {}, {})


class ConfNodes:
    """The nodes of one configuration, in the order of their lines; others name them by bits."""

    def __init__(self, uses: ParameterUses) -> None:
        self._uses = uses
        #: Number of names that lists of nodes may still have.
        self._left = _MOST_NAMES
        self._nodes: list[SlurmNode] = []
        self._index: dict[str, int] = {}
        #: What lines with the name DEFAULT say for those that follow: values, and sizes that are read together.
        self._defaults: tuple[dict[str, Any], dict[str, int]] = ({}, {})
        #: Nodes of each set of nodes, as bits.
        self._sets: dict[str, int] = {}
        #: Nodes of lines DownNodes, and those with each feature, as bits; the latter once all nodes are known.
        self._down = 0
        self._featured: dict[str, int] = {}

    def all(self) -> tuple[SlurmNode, ...]:
        """Return the nodes."""
        for at in each_bit(self._down):
            self._nodes[at] = replace(self._nodes[at], up=False)
        return tuple(self._nodes)

    def add(self, pairs: NamedTexts) -> None:
        """Add the nodes of a line `NodeName=n[1-4] CPUs=8`."""
        (kind, text), rest = pairs[0], pairs[1:]
        is_default = text.upper() == DEFAULT
        names = [] if is_default else self._expanded(kind, text, NODE_MEANINGS["nodename"])
        values, sizes = self._uses.fields(rest, NODE_FIELDS, NODE_MEANINGS), dict[str, int]()
        for name, size in rest:
            key = name.lower()
            if key in NODE_SIZES:
                for number in self._uses.take(name, size, at_least(1), NODE_MEANINGS[key]):
                    sizes[key] = number
            elif key not in NODE_FIELDS:
                self._uses.look_up(name, size, _OF_NODE, f"{UNKNOWN_PARAMETER} of a node")
        values, sizes = {**self._defaults[0], **values}, {**self._defaults[1], **sizes}
        if is_default:
            self._defaults = values, sizes
        cores = max(core_count(sizes, values.get("threads", 1)), 1)
        for node in names:
            if node in self._index:
                self._uses.refuse(node, "", "is defined twice")
                continue
            self._index[node] = len(self._nodes)
            self._nodes.append(SlurmNode(name=node, cores=cores, **values))

    def bits(self, name: str, text: str) -> int:
        """Return the nodes in a list of nodes and sets, or ALL; `name` is that of the parameter."""
        if text.upper() == "ALL":
            return (1 << len(self._nodes)) - 1
        bits, single = 0, list[int]()
        for node in self._expanded(name, text, ""):
            if node in self._sets:
                bits |= self._sets[node]
                continue
            if node not in self._index:
                self._uses.refuse(name, text, f"must be known nodes, not {displayed(node)}")
                break
            single.append(self._index[node])
        return bits | mask_of(single, len(self._nodes))

    def add_down(self, pairs: NamedTexts) -> None:
        """Let nodes take no jobs: a line `DownNodes=n[1-2] State=DRAIN`."""
        is_down, begin = True, len(self._uses.all)
        for name, text in pairs[1:]:
            if name.lower() != "state":
                self._uses.look_up(name, text, _OF_DOWN, f"{UNKNOWN_PARAMETER} of a line DownNodes")
                continue
            states = self._uses.take(name, text, DOWN_STATES, "")
            is_down = states != ("UNKNOWN",)
            if states:
                effect, meaning = DOWN_MEANINGS[is_down]
                self._uses.say(effect, name, text, meaning)
        nodes = self.bits(*pairs[0])
        if "downnodes" not in self._uses.refused_since(begin):
            effect, meaning = DOWN_MEANINGS[is_down]
            self._uses.say(effect, *pairs[0], meaning)
        if is_down:
            self._down |= nodes

    def add_set(self, pairs: NamedTexts) -> None:
        """Name a set of nodes: those of a list, and those with a feature."""
        begin = len(self._uses.all)
        (kind, name), values = pairs[0], self._named_values(pairs, {"nodes", "feature"}, "of a set of nodes")
        if name in self._index or name in self._sets or name.upper() == "ALL":
            self._uses.refuse(kind, name, "must have a name that no node and no other set has")
            return
        if not (values.get("nodes") or values.get("feature")):
            self._uses.refuse(kind, name, "must have Nodes or Feature")
        nodes = self.bits("Nodes", values.get("nodes", ""))
        if feature := values.get("feature"):
            nodes |= self._with_feature().get(feature, 0)
        for key, text in values.items():
            if key == "feature" and text not in self._with_feature():
                self._uses.say("ignored", "Feature", text, "no node has it")
            elif key not in self._uses.refused_since(begin):
                self._uses.say("obeyed", key.capitalize(), text, SET_MEANINGS[key])
        self._sets[name] = nodes
        self._uses.say("obeyed", kind, name, SET_MEANINGS["nodeset"])

    def _expanded(self, name: str, text: str, meaning: str) -> list[str]:
        names: list[str] = next(iter(self._uses.take(name, text, expand, meaning)), [])
        self._left -= len(names)
        if self._left < 0:
            self._uses.fail(name, f"must not make lists of nodes longer than {_MOST_NAMES} together")
        return names

    def _with_feature(self) -> Mapping[str, int]:
        """Return the nodes with each feature, as bits."""
        if not self._featured:
            found: dict[str, list[int]] = {}
            for at, node in enumerate(self._nodes):
                for feature in node.features:
                    found.setdefault(feature, []).append(at)
            self._featured = {feature: mask_of(places, len(self._nodes)) for feature, places in found.items()}
        return self._featured

    def _named_values(self, pairs: NamedTexts, known: Collection[str], what: str) -> dict[str, str]:
        """Return the known values of a line after its first pair, by name in small letters."""
        for name, text in pairs[1:]:
            if name.lower() not in known:
                self._uses.refuse(name, text, f"{UNKNOWN_PARAMETER} {what}")
        return {name.lower(): text for name, text in pairs[1:] if name.lower() in known}

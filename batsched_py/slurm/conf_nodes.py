"""Nodes of a configuration while its file is read: their lines, sets of them, and those that take no jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from batsched_py.slurm.conf_effects import NODE_IGNORED, NODE_NEUTRAL
from batsched_py.slurm.conf_meanings import DOWN_MEANINGS, NODE_MEANINGS, SET_MEANINGS
from batsched_py.slurm.conf_parameters import DOWN_STATES, NODE_FIELDS, NODE_SIZES
from batsched_py.slurm.conf_values import at_least, node_size
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
#: Names of sizes that a line contradicts which does not have them.
_SIZE_NAMES: Final = {"cpus": "CPUs", "sockets": "Sockets"}
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
        values = {**self._defaults[0], **self._uses.fields(rest, NODE_FIELDS, NODE_MEANINGS)}
        sizes = self._sizes(rest, values, self._defaults[1], is_default=is_default)
        for name, text in rest:
            if name.lower() not in NODE_FIELDS and name.lower() not in NODE_SIZES:
                self._uses.look_up(name, text, _OF_NODE, f"{UNKNOWN_PARAMETER} of a node")
        if is_default:
            self._defaults = values, sizes
        for node in names:
            if node in self._index:
                self._uses.refuse(node, "", "is defined twice")
                continue
            self._index[node] = len(self._nodes)
            self._nodes.append(SlurmNode(name=node, **values))

    def _sizes(
        self, pairs: NamedTexts, values: dict[str, Any], defaults: Mapping[str, int], *, is_default: bool
    ) -> dict[str, int]:
        """Return the sizes in a line and in those with the name DEFAULT; the values of nodes get cores and threads."""
        given = {name.lower(): (name, text) for name, text in pairs if name.lower() in NODE_SIZES}
        read = {key: self._uses.take(*pair, at_least(1), "") for key, pair in given.items()}
        sizes = {**defaults, **{key: number for key, numbers in read.items() for number in numbers}}
        refused = {key for key, numbers in read.items() if not numbers}
        if not is_default:
            try:
                values["cores"], values["threads"] = node_size(sizes, values.get("threads", 1))
            except ValueError as error:
                key = "sockets" if {"sockets", "socketsperboard"} <= sizes.keys() else "cpus"
                refused.add(key)
                self._uses.refuse(*given.get(key, (_SIZE_NAMES[key], str(sizes[key]))), str(error))
        for key, pair in given.items():
            if key not in refused:
                self._uses.say("obeyed", *pair, NODE_MEANINGS[key])
        return sizes

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

"""Reader of slurm.conf, gres.conf and topology.conf, given as texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, Final, NoReturn

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_effects import (
    APPROXIMATED,
    IGNORED,
    NEUTRAL,
    NODE_IGNORED,
    NODE_NEUTRAL,
    PARTITION_APPROXIMATED,
    PARTITION_IGNORED,
    PARTITION_NEUTRAL,
    SCHEDULER_APPROXIMATED,
    SCHEDULER_IGNORED,
)
from batsched_py.slurm.conf_lines import ConfPair, conf_lines
from batsched_py.slurm.conf_meanings import MEANINGS, NODE_MEANINGS, PARTITION_MEANINGS, SCHEDULER_MEANINGS
from batsched_py.slurm.conf_parameters import (
    CHOICES,
    FIELDS,
    MEMORY_FIELDS,
    NODE_FIELDS,
    NODE_SIZES,
    PARTITION_FIELDS,
    PARTITION_OTHERS,
    SCHEDULER_LEAST,
    Reader,
    chosen_fields,
    ends_with,
)
from batsched_py.slurm.conf_review import Effect, ParameterUse
from batsched_py.slurm.conf_values import at_least, core_count, flag, one_of
from batsched_py.slurm.configuration import (
    MemoryBounds,
    SchedulerOptions,
    SlurmConfiguration,
    SlurmNode,
    SlurmPartition,
    Switch,
)
from batsched_py.slurm.hostlist import expand
from batsched_py.slurm.offers import each_bit, mask_of
from batsched_py.text.display import displayed

# Every parameter becomes a `ParameterUse`, so that a review says what this reader does, and nothing else. For decisions
# the first one that is refused is an error; a review goes on, and leaves the parameter out.

_OPTIONS: Final = {field.name: field.type for field in fields(SchedulerOptions)}
_CONF: Final = "slurm.conf"
_DEFAULT: Final = "DEFAULT"
#: The largest number of names in all lists of nodes: a short file could take hours.
_MOST_NAMES: Final = 2_000_000
#: Kinds of lines that are read once all nodes are known, in this order.
_LATER: Final = ("downnodes", "nodeset", "partitionname")
_UNKNOWN: Final = "is an unknown or unsupported parameter"
#: Parameters without a value that is read, by what is described: without effect, with another one, at some values only.
_Tables = tuple[Mapping[str, str], Mapping[str, str], Mapping[str, tuple[str, ...]]]
_OF_CLUSTER: Final[_Tables] = (IGNORED, APPROXIMATED, NEUTRAL)
_OF_NODE: Final[_Tables] = (NODE_IGNORED, {}, NODE_NEUTRAL)
_OF_PARTITION: Final[_Tables] = (PARTITION_IGNORED, PARTITION_APPROXIMATED, PARTITION_NEUTRAL)


class ConfReader:
    """Reader of one configuration; each fault is a `ConfigurationError` with file, line and rule.

    With `goes_on` faults do not end reading.
    """

    def __init__(self, names: Mapping[str, str], *, goes_on: bool = False) -> None:
        #: Names of the files for messages, by the names that Slurm gives them.
        self._names = names
        self._goes_on = goes_on
        #: Number of names that lists of nodes may still have.
        self._left = _MOST_NAMES
        self._file, self._line = names.get(_CONF, _CONF), 0
        #: The parameters in the order in which they were looked at.
        self.uses: list[ParameterUse] = []
        #: Parameter of the cluster -> its number in `uses`.
        self._latest: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._choices: dict[str, Any] = {}
        self._nodes: list[SlurmNode] = []
        self._partitions: list[SlurmPartition] = []
        #: Names of the partitions.
        self._named: set[str] = set()
        self._index: dict[str, int] = {}
        #: Nodes of each set of nodes, as bits; and fields of `MemoryBounds` of the cluster.
        self._sets: dict[str, int] = {}
        self._memory: dict[str, Any] = {}
        #: Nodes of lines DownNodes, and those with each feature, as bits; the latter once all nodes are known.
        self._down = 0
        self._featured: dict[str, int] = {}
        #: What lines with the name DEFAULT say for those that follow: values, and texts of what is read together.
        self._node_defaults: tuple[dict[str, Any], dict[str, int]] = ({}, {})
        self._partition_defaults: tuple[dict[str, Any], dict[str, str]] = ({}, {})
        self._partition_memory: dict[str, Any] = {}

    def read(self, files: Mapping[str, str]) -> SlurmConfiguration:
        """Return the configuration in these texts: slurm.conf, and topology.conf if the topology is a tree."""
        #: Lines that name nodes, by their first name in small letters.
        later: dict[str, list[tuple[int, Sequence[tuple[str, str]]]]] = {kind: [] for kind in _LATER}
        for pairs in self._lines(_CONF, files.get(_CONF, "")):
            kind = pairs[0][0].lower()
            if kind == "nodename":
                self._add_nodes(pairs)
            elif kind in later:
                later[kind].append((self._line, pairs))
            else:
                for name, text in pairs:
                    self._add_parameter(name, text)
        add = dict(zip(_LATER, (self._add_down, self._add_set, self._add_partition), strict=True))
        for kind, lines in later.items():
            for self._line, pairs in lines:
                add[kind](pairs)
        for at in each_bit(self._down):
            self._nodes[at] = replace(self._nodes[at], up=False)
        self._line = 0
        if not self._nodes or not self._partitions:
            self._refuse("NodeName and PartitionName", "", "are required")
        return SlurmConfiguration(
            nodes=tuple(self._nodes),
            partitions=tuple(self._partitions),
            switches=self._switches(files) if ends_with(self._choices, "topologyplugin", "tree") else (),
            memory=MemoryBounds(**self._memory),
            **self._values,
            **chosen_fields(self._choices),
        )

    def _lines(self, file: str, text: str) -> Iterator[Sequence[tuple[str, str]]]:
        self._file = self._names.get(file, file)
        for self._line, pairs in conf_lines(text):
            if pairs[0].name.lower() == "include":
                self._refuse("Include", "", "is not supported: put all parameters into one file")
            elif known := list(self._with_values(pairs)):
                yield known

    def _with_values(self, pairs: Sequence[ConfPair]) -> Iterator[tuple[str, str]]:
        for pair in pairs:
            if pair.value is None:
                self._refuse(pair.name, "", "must be NAME=VALUE")
            else:
                yield pair.name, pair.value

    def _say(self, effect: Effect, name: str, text: str, reason: str) -> None:
        self.uses.append(ParameterUse(self._file, self._line, name, text, effect, reason))

    def _refuse(self, name: str, text: str, rule: str) -> None:
        if not self._goes_on:
            self._fail(name, rule)
        self._say("refused", name, text, rule)

    def _fail(self, field: str, rule: str) -> NoReturn:
        place = f"line {self._line}: {displayed(field)}" if self._line else displayed(field)
        raise ConfigurationError(self._file, place, rule)

    def _take(self, name: str, text: str, reader: Reader, meaning: str) -> tuple[Any, ...]:
        """Return the value as the only element; nothing if it is refused."""
        try:
            value = reader(text)
        except ValueError as error:
            self._refuse(name, text, f"{error}, not {displayed(text)}")
            return ()
        if meaning:
            self._say("obeyed", name, text, meaning)
        return (value,)

    def _add_parameter(self, name: str, text: str) -> None:
        key = name.lower()
        if key in self._latest:
            number = self._latest[key]
            earlier = self.uses[number]
            rule = f"{earlier.name} is given again in line {self._line}"
            self.uses[number] = ParameterUse(earlier.file, earlier.line, earlier.name, earlier.value, "ignored", rule)
        self._latest[key] = len(self.uses)
        if key in MEMORY_FIELDS:
            field, reader = MEMORY_FIELDS[key]
            for value in self._take(name, text, reader, MEANINGS[key]):
                self._memory[field] = value
        elif key in FIELDS:
            field, reader = FIELDS[key]
            for value in self._take(name, text, reader, MEANINGS[key]):
                self._values[field] = value
        elif key == "schedulerparameters":
            self._values["scheduler"] = self._scheduler(name, text)
        elif key in CHOICES:
            for value in self._take(name, text, CHOICES[key], MEANINGS[key]):
                self._choices[key] = value
        else:
            self._look_up(name, text, _OF_CLUSTER, _UNKNOWN)

    def _look_up(self, name: str, text: str, tables: _Tables, rule: str) -> None:
        """Say what a parameter without a value for decisions means."""
        ignored, approximated, neutral = tables
        key = name.lower()
        if key in ignored:
            self._say("ignored", name, text, ignored[key])
        elif key in approximated:
            self._say("approximated", name, text, approximated[key])
        elif text.lower() in neutral.get(key, ()):
            self._say("ignored", name, text, "this value changes nothing")
        else:
            values = " or ".join(filter(None, neutral.get(key, ())))
            self._refuse(name, text, f"is supported only as {values}" if values else rule)

    def _scheduler(self, name: str, text: str) -> SchedulerOptions:
        options: dict[str, Any] = {}
        for part in filter(None, text.split(",")):
            option, _, value = part.partition("=")
            full = f"{name}={option}"
            if option in SCHEDULER_IGNORED or option.lower() in SCHEDULER_IGNORED:
                self._say("ignored", full, value, SCHEDULER_IGNORED[option.lower()])
            elif option not in _OPTIONS:
                self._refuse(full, value, _UNKNOWN)
            else:
                other = SCHEDULER_APPROXIMATED.get(option)
                if option in options:
                    self._refuse(full, value, "is given twice")
                    continue
                reader = flag if _OPTIONS[option] == "bool" else at_least(SCHEDULER_LEAST.get(option, 0))
                meaning = "" if other else SCHEDULER_MEANINGS[option]
                for found in self._take(full, value, reader, meaning):
                    options[option] = found
                if other:
                    self._say("approximated", full, value, other)
        return SchedulerOptions(**options)

    def _fields(
        self,
        pairs: Sequence[tuple[str, str]],
        known: Mapping[str, tuple[str, Reader]],
        meanings: Mapping[str, str],
    ) -> dict[str, Any]:
        return {
            known[name.lower()][0]: value
            for name, text in pairs
            if name.lower() in known
            for value in self._take(name, text, known[name.lower()][1], meanings[name.lower()])
        }

    def _add_nodes(self, pairs: Sequence[tuple[str, str]]) -> None:
        (kind, text), rest = pairs[0], pairs[1:]
        is_default = text.upper() == _DEFAULT
        names = [] if is_default else self._expanded(kind, text, NODE_MEANINGS["nodename"])
        values, sizes = self._fields(rest, NODE_FIELDS, NODE_MEANINGS), dict[str, int]()
        for name, size in rest:
            key = name.lower()
            if key in NODE_SIZES:
                for number in self._take(name, size, at_least(1), NODE_MEANINGS[key]):
                    sizes[key] = number
            elif key not in NODE_FIELDS:
                self._look_up(name, size, _OF_NODE, f"{_UNKNOWN} of a node")
        values, sizes = {**self._node_defaults[0], **values}, {**self._node_defaults[1], **sizes}
        if is_default:
            self._node_defaults = values, sizes
        cores = max(core_count(sizes, values.get("threads", 1)), 1)
        for node in names:
            if node in self._index:
                self._refuse(node, "", "is defined twice")
                continue
            self._index[node] = len(self._nodes)
            self._nodes.append(SlurmNode(name=node, cores=cores, **values))

    def _expanded(self, name: str, text: str, meaning: str) -> list[str]:
        names: list[str] = next(iter(self._take(name, text, expand, meaning)), [])
        self._left -= len(names)
        if self._left < 0:
            self._fail(name, f"must not make lists of nodes longer than {_MOST_NAMES} together")
        return names

    def _bits(self, name: str, text: str) -> int:
        if text.upper() == "ALL":
            return (1 << len(self._nodes)) - 1
        bits, single = 0, list[int]()
        for node in self._expanded(name, text, ""):
            if node in self._sets:
                bits |= self._sets[node]
                continue
            if node not in self._index:
                self._refuse(name, text, f"must be known nodes, not {displayed(node)}")
                break
            single.append(self._index[node])
        return bits | mask_of(single, len(self._nodes))

    def _add_down(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Let nodes take no jobs: a line `DownNodes=n[1-2] State=DRAIN`."""
        values = self._named_values(pairs, {"state", "reason"}, "of a line DownNodes")
        states = self._take("State", values.get("state", "DOWN"), NODE_FIELDS["state"][1], NODE_MEANINGS["state"])
        nodes = self._bits(*pairs[0])
        self._say("obeyed", *pairs[0], "nodes that take no jobs")
        if False in states:
            self._down |= nodes

    def _add_set(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Name a set of nodes: those of a list, and those with a feature."""
        (kind, name), values = pairs[0], self._named_values(pairs, {"nodes", "feature"}, "of a set of nodes")
        if name in self._index or name in self._sets or name.upper() == "ALL":
            self._refuse(kind, name, "must have a name that no node and no other set has")
            return
        if not (values.get("nodes") or values.get("feature")):
            self._refuse(kind, name, "must have Nodes or Feature")
        nodes = self._bits("Nodes", values.get("nodes", ""))
        if feature := values.get("feature"):
            nodes |= self._with_feature().get(feature, 0)
            if feature not in self._with_feature():
                self._say("ignored", "Feature", feature, "no node has it")
        self._sets[name] = nodes
        self._say("obeyed", kind, name, "nodes of partitions that name the set")

    def _with_feature(self) -> Mapping[str, int]:
        """Return the nodes with each feature, as bits."""
        if not self._featured:
            found: dict[str, list[int]] = {}
            for at, node in enumerate(self._nodes):
                for feature in node.features:
                    found.setdefault(feature, []).append(at)
            self._featured = {feature: mask_of(places, len(self._nodes)) for feature, places in found.items()}
        return self._featured

    def _named_values(self, pairs: Sequence[tuple[str, str]], known: Collection[str], what: str) -> dict[str, str]:
        """Return the values of a line after its first pair, by name in small letters."""
        for name, text in pairs[1:]:
            if name.lower() not in known:
                self._refuse(name, text, f"{_UNKNOWN} {what}")
        return {name.lower(): text for name, text in pairs[1:]}

    def _add_partition(self, pairs: Sequence[tuple[str, str]]) -> None:
        (kind, partition), rest, begin = pairs[0], pairs[1:], len(self.uses)
        values = self._fields(rest, PARTITION_FIELDS, PARTITION_MEANINGS)
        memory = {**self._partition_memory, **self._fields(rest, MEMORY_FIELDS, PARTITION_MEANINGS)}
        others = {name.lower(): text for name, text in rest if name.lower() in PARTITION_OTHERS}
        for name, text in rest:
            if not any(name.lower() in table for table in (PARTITION_FIELDS, PARTITION_OTHERS, MEMORY_FIELDS)):
                self._look_up(name, text, _OF_PARTITION, f"{_UNKNOWN} of a partition")
        values, others = {**self._partition_defaults[0], **values}, {**self._partition_defaults[1], **others}
        if partition.upper() == _DEFAULT:
            self._partition_defaults, self._partition_memory = (values, others), memory
            return
        if partition in self._named:
            self._refuse(kind, partition, "is defined twice")
            return
        self._named.add(partition)
        self._say("obeyed", kind, partition, PARTITION_MEANINGS["partitionname"])
        if "nodes" not in others:
            self._refuse(kind, partition, "must have Nodes")
        values["nodes"] = self._bits("Nodes", others.get("nodes", ""))
        refused = {use.name.lower() for use in self.uses[begin:] if use.effect == "refused"}
        if not values["nodes"] and not refused & {"nodes", "partitionname"}:
            self._refuse("Nodes", others["nodes"], "must be one node or more")
        values["up"] = "UP" in self._take("State", others.get("state", "UP"), one_of("UP", "DOWN"), "")
        shared, _, count = others.get("oversubscribe", "NO").upper().partition(":")
        if shared not in {"NO", "YES", "EXCLUSIVE"} and (shared, count) != ("FORCE", "1"):
            rule = f"must be NO, YES, EXCLUSIVE or FORCE:1; {displayed(shared)} is not supported"
            self._refuse("OverSubscribe", others["oversubscribe"], rule)
        refused = {use.name.lower() for use in self.uses[begin:] if use.effect == "refused"}
        for name, text in rest:
            if name.lower() in PARTITION_OTHERS and name.lower() not in refused:
                self._say("obeyed", name, text, PARTITION_MEANINGS[name.lower()])
        values["exclusive"], values["memory"] = shared == "EXCLUSIVE", MemoryBounds(**memory)
        self._partitions.append(SlurmPartition(name=partition, **values))

    def _switches(self, files: Mapping[str, str]) -> tuple[Switch, ...]:
        if "topology.conf" not in files:
            self._refuse("TopologyPlugin", "", "must have the file topology.conf, in which its switches are")
        leaves = []
        for pairs in self._lines("topology.conf", files.get("topology.conf", "")):
            values = {name.lower(): value for name, value in pairs}
            for name in sorted(values.keys() - {"switchname", "nodes", "switches", "linkspeed"}):
                self._refuse(name, values[name], "is an unknown parameter of a switch")
            if "nodes" in values:
                leaves.append(Switch(values.get("switchname", ""), self._bits("Nodes", values["nodes"])))
        return tuple(leaves)


def read_configuration(files: Mapping[str, str], names: Mapping[str, str] = MappingProxyType({})) -> SlurmConfiguration:
    """Return the configuration in the texts of slurm.conf, gres.conf and topology.conf, by these names.

    `names` are those that messages use instead.

    Raises:
        ConfigurationError: an unknown parameter, or a value that breaks a rule, with file and line.
    """
    return ConfReader(names).read(files)


def review_configuration(
    files: Mapping[str, str], names: Mapping[str, str] = MappingProxyType({})
) -> Sequence[ParameterUse]:
    """Return the effect of each parameter in these texts, in the order of their lines; a rule on a file comes last."""
    reader = ConfReader(names, goes_on=True)
    reader.read(files)
    order = {name: number for number, name in enumerate(dict.fromkeys(use.file for use in reader.uses))}
    return sorted(reader.uses, key=lambda use: (order[use.file], not use.line, use.line))

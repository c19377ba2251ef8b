"""Reader of slurm.conf, gres.conf and topology.conf, given as texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final

from batsched_py.reading.included_file import NO_INCLUDED_FILES, IncludedFiles
from batsched_py.slurm.conf_effects import (
    APPROXIMATED,
    IGNORED,
    NEUTRAL,
    PARTITION_APPROXIMATED,
    PARTITION_IGNORED,
    PARTITION_NEUTRAL,
    SCHEDULER_APPROXIMATED,
    SCHEDULER_IGNORED,
)
from batsched_py.slurm.conf_lines import conf_lines, included_name, is_include
from batsched_py.slurm.conf_meanings import MEANINGS, MEMORY_MEANINGS, PARTITION_MEANINGS, SCHEDULER_MEANINGS
from batsched_py.slurm.conf_nodes import DEFAULT, UNKNOWN_PARAMETER, ConfNodes
from batsched_py.slurm.conf_parameters import (
    CHOICES,
    FIELDS,
    MEMORY_EXCLUDED,
    MEMORY_FIELDS,
    PARTITION_FIELDS,
    PARTITION_OTHERS,
    SCHEDULER_LEAST,
    chosen_fields,
    ends_with,
)
from batsched_py.slurm.conf_review import ParameterUse
from batsched_py.slurm.conf_values import at_least, flag, one_of
from batsched_py.slurm.configuration import (
    MemoryBounds,
    SchedulerOptions,
    SlurmConfiguration,
    SlurmPartition,
    Switch,
)
from batsched_py.slurm.parameter_uses import EffectTables, NamedTexts, ParameterUses
from batsched_py.text.display import displayed

_OPTIONS: Final = {field.name: field.type for field in fields(SchedulerOptions)}
_CONF: Final = "slurm.conf"
_TOPOLOGY: Final = "topology.conf"
#: Maximum number of files that lines include, each counted as often as it is included; and of such lines within others.
_MOST_INCLUSIONS: Final = 100
_DEEPEST: Final = 8
_NO_FILE: Final = "is not supported here: put all parameters into one file"
#: Kinds of lines that are read once all nodes are known, in this order.
_LATER: Final = ("downnodes", "nodeset", "partitionname")
#: Supported values of OverSubscribe.
_SHARED: Final = re.compile(r"NO|YES(:\d{1,5})?|EXCLUSIVE|FORCE:1", re.ASCII)
#: How many jobs may share a core with OverSubscribe=YES.
_JOBS_ON_CORE: Final = 4
_OF_CLUSTER: Final[EffectTables] = (IGNORED, APPROXIMATED, NEUTRAL)
_OF_PARTITION: Final[EffectTables] = (PARTITION_IGNORED, PARTITION_APPROXIMATED, PARTITION_NEUTRAL)


class ConfReader:
    """Reader of one configuration; each fault is a `ConfigurationError` with file, line and rule.

    With `goes_on` faults do not end reading.
    """

    def __init__(
        self, names: Mapping[str, str], included: IncludedFiles = NO_INCLUDED_FILES, *, goes_on: bool = False
    ) -> None:
        #: Names of the files for messages, by the names that Slurm gives them.
        self._names = names
        self.uses = ParameterUses(names.get(_CONF, _CONF), goes_on=goes_on)
        self._nodes = ConfNodes(self.uses)
        self._included, self._inclusions = included, 0
        #: Parameter of the cluster -> its number in `uses`.
        self._latest: dict[str, int] = {}
        self._values: dict[str, Any] = {}
        self._choices: dict[str, Any] = {}
        #: Fields of `MemoryBounds` of the cluster.
        self._memory: dict[str, Any] = {}
        self._partitions: list[SlurmPartition] = []
        #: Names of the partitions.
        self._named: set[str] = set()
        #: What lines with the name DEFAULT say for those that follow: values, and texts that are read at the end.
        self._partition_defaults: tuple[dict[str, Any], dict[str, str]] = ({}, {})
        self._partition_memory: dict[str, Any] = {}

    def read(self, files: Mapping[str, str]) -> SlurmConfiguration:
        """Return the configuration in these texts: slurm.conf, and topology.conf if the topology is a tree."""
        #: Lines that name nodes, by their first name in small letters.
        later: dict[str, list[tuple[str, int, NamedTexts]]] = {kind: [] for kind in _LATER}
        for pairs in self._lines(self._names.get(_CONF, _CONF), files.get(_CONF, "")):
            kind = pairs[0][0].lower()
            if kind == "nodename":
                self._nodes.add(pairs)
            elif kind in later:
                later[kind].append((self.uses.file, self.uses.line, pairs))
            else:
                for name, text in pairs:
                    self._add_parameter(name, text)
        add = dict(zip(_LATER, (self._nodes.add_down, self._nodes.add_set, self._add_partition), strict=True))
        for kind, lines in later.items():
            for self.uses.file, self.uses.line, pairs in lines:
                add[kind](pairs)
        nodes, self.uses.file, self.uses.line = self._nodes.all(), self._names.get(_CONF, _CONF), 0
        if not nodes or not self._partitions:
            self.uses.refuse("NodeName and PartitionName", "", "are required")
        return SlurmConfiguration(
            nodes=nodes,
            partitions=tuple(self._partitions),
            switches=self._switches(files) if ends_with(self._choices, "topologyplugin", "tree") else (),
            memory=MemoryBounds(**self._memory),
            **self._values,
            **chosen_fields(self._choices),
        )

    def _lines(self, file: str, text: str, depth: int = 0) -> Iterator[NamedTexts]:
        """Yield the names and values of each line of a file of this path, and of those that it includes."""
        for line, pairs in conf_lines(text):
            self.uses.file, self.uses.line = file, line
            if is_include(pairs):
                yield from self._included_lines(included_name(pairs), depth)
            elif known := list(self.uses.distinct(pairs)):
                yield known

    def _included_lines(self, name: str, depth: int) -> Iterator[NamedTexts]:
        found = self._included.get((self.uses.file, name), _NO_FILE) if name else "must name one file"
        self._inclusions += 1
        if self._inclusions > _MOST_INCLUSIONS or depth == _DEEPEST:
            found = f"must not be of more than {_MOST_INCLUSIONS} files, nor deeper than {_DEEPEST}"
        text = found if isinstance(found, str) else _decoded(found.content)
        if isinstance(found, str) or text is None:
            self.uses.refuse("Include", name, found if isinstance(found, str) else "must name a text in UTF-8")
        else:
            self.uses.say("obeyed", "Include", name, "the parameters of this file")
            yield from self._lines(found.name, text, depth + 1)

    def _add_parameter(self, name: str, text: str) -> None:
        key = name.lower()
        if key in self._latest:
            self.uses.overrule(self._latest[key])
        self._latest[key] = len(self.uses.all)
        if key in MEMORY_FIELDS:
            self._memory = self._with_memory(self._memory, [(name, text)])
        elif key in FIELDS:
            field, reader = FIELDS[key]
            for value in self.uses.take(name, text, reader, MEANINGS[key]):
                self._values[field] = value
        elif key == "schedulerparameters":
            self._values["scheduler"] = self._scheduler(name, text)
        elif key in CHOICES:
            for value in self.uses.take(name, text, CHOICES[key], MEANINGS[key]):
                self._choices[key] = value
        else:
            self.uses.look_up(name, text, _OF_CLUSTER, UNKNOWN_PARAMETER)

    def _with_memory(self, memory: Mapping[str, Any], pairs: NamedTexts) -> dict[str, Any]:
        """Return fields of `MemoryBounds` with those of a line; of two that exclude each other, the latter is refused.

        Source: slurm.conf(5), "mutually exclusive".
        """
        known = [pair for pair in pairs if pair[0].lower() in MEMORY_FIELDS]
        read = [(*pair, self.uses.take(*pair, MEMORY_FIELDS[pair[0].lower()][1], "")) for pair in known]
        found = dict(memory)
        for name, text, values in sorted(read, key=lambda one: one[2] != (None,)):  # what states nothing ends a default
            field = MEMORY_FIELDS[name.lower()][0]
            other, other_name = MEMORY_EXCLUDED[field]
            for value in values:
                if value is not None and found.get(other) is not None:
                    self.uses.refuse(name, text, f"must not be with {other_name}, which it excludes")
                else:
                    found[field] = value
                    self.uses.say("obeyed", name, text, MEMORY_MEANINGS[name.lower()])
        return found

    def _scheduler(self, name: str, text: str) -> SchedulerOptions:
        options: dict[str, Any] = {}
        for part in filter(None, text.split(",")):
            option, _, value = part.partition("=")
            full = f"{name}={option}"
            if option in SCHEDULER_IGNORED or option.lower() in SCHEDULER_IGNORED:
                self.uses.say("ignored", full, value, SCHEDULER_IGNORED[option.lower()])
            elif option not in _OPTIONS:
                self.uses.refuse(full, value, UNKNOWN_PARAMETER)
            else:
                other = SCHEDULER_APPROXIMATED.get(option)
                if option in options:
                    self.uses.refuse(full, value, "is given twice")
                    continue
                reader = flag if _OPTIONS[option] == "bool" else at_least(SCHEDULER_LEAST.get(option, 0))
                meaning = "" if other else SCHEDULER_MEANINGS[option]
                for found in self.uses.take(full, value, reader, meaning):
                    options[option] = found
                if other:
                    self.uses.say("approximated", full, value, other)
        return SchedulerOptions(**options)

    def _add_partition(self, pairs: NamedTexts) -> None:
        (kind, partition), rest, begin = pairs[0], pairs[1:], len(self.uses.all)
        values = self.uses.fields(rest, PARTITION_FIELDS, PARTITION_MEANINGS)
        memory = self._with_memory(self._partition_memory, rest)
        others = {name.lower(): text for name, text in rest if name.lower() in PARTITION_OTHERS}
        for name, text in rest:
            if not any(name.lower() in table for table in (PARTITION_FIELDS, PARTITION_OTHERS, MEMORY_FIELDS)):
                self.uses.look_up(name, text, _OF_PARTITION, f"{UNKNOWN_PARAMETER} of a partition")
        values, others = {**self._partition_defaults[0], **values}, {**self._partition_defaults[1], **others}
        if partition.upper() == DEFAULT:
            self._partition_defaults, self._partition_memory = (values, others), memory
            return
        if partition in self._named:
            self.uses.refuse(kind, partition, "is defined twice")
            return
        self._named.add(partition)
        self.uses.say("obeyed", kind, partition, PARTITION_MEANINGS["partitionname"])
        if "nodes" not in others:
            self.uses.refuse(kind, partition, "must have Nodes")
        values["nodes"] = self._nodes.bits("Nodes", others.get("nodes", ""))
        refused = self.uses.refused_since(begin)
        if not values["nodes"] and not refused & {"nodes", "partitionname"}:
            self.uses.refuse("Nodes", others["nodes"], "must be one node or more")
        values["up"] = "UP" in self.uses.take("State", others.get("state", "UP"), one_of("UP", "DOWN"), "")
        values["exclusive"], values["jobs_on_core"] = self._sharing(others)
        values["memory"] = MemoryBounds(**memory)
        refused = self.uses.refused_since(begin)
        for name, text in rest:
            if name.lower() in PARTITION_OTHERS and name.lower() not in refused:
                self.uses.say("obeyed", name, text, PARTITION_MEANINGS[name.lower()])
        if values.get("default") and any(one.default for one in self._partitions):
            self.uses.refuse("Default", "YES", "must be YES for one partition only")
        self._partitions.append(SlurmPartition(name=partition, **values))

    def _sharing(self, texts: Mapping[str, str]) -> tuple[bool, int]:
        """Return whether all jobs of a partition with these texts have whole nodes, and how many may share a core."""
        shared = texts.get("oversubscribe", "NO").upper()
        if not _SHARED.fullmatch(shared):
            rule = f"must be NO, YES, EXCLUSIVE or FORCE:1; {displayed(shared)} is not supported"
            self.uses.refuse("OverSubscribe", texts["oversubscribe"], rule)
        kind, _, most = shared.partition(":")
        return kind == "EXCLUSIVE", int(most or _JOBS_ON_CORE) if kind == "YES" else 1

    def _switches(self, files: Mapping[str, str]) -> tuple[Switch, ...]:
        if _TOPOLOGY not in files:
            self.uses.refuse("TopologyPlugin", "", "must have the file topology.conf, in which its switches are")
        leaves, known = [], set[str]()
        for pairs in self._lines(self._names.get(_TOPOLOGY, _TOPOLOGY), files.get(_TOPOLOGY, "")):
            values = {name.lower(): value for name, value in pairs}
            if (switch := values.get("switchname", "")) in known:
                self.uses.refuse("SwitchName", switch, "is defined twice")
            known.add(switch)
            for name in sorted(values.keys() - {"switchname", "nodes", "switches", "linkspeed"}):
                self.uses.refuse(name, values[name], "is an unknown parameter of a switch")
            if "nodes" in values:
                leaves.append(Switch(switch, self._nodes.bits("Nodes", values["nodes"])))
        return tuple(leaves)


def _decoded(content: bytes) -> str | None:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return None


def read_configuration(
    files: Mapping[str, str],
    names: Mapping[str, str] = MappingProxyType({}),
    included: IncludedFiles = NO_INCLUDED_FILES,
) -> SlurmConfiguration:
    """Return the configuration in the texts of slurm.conf, gres.conf and topology.conf, by these names.

    `names` are those that messages use instead, and `included` has the files of lines Include, by these names.

    Raises:
        ConfigurationError: an unknown parameter, or a value that breaks a rule, with file and line.
    """
    return ConfReader(names, included).read(files)


def review_configuration(
    files: Mapping[str, str],
    names: Mapping[str, str] = MappingProxyType({}),
    included: IncludedFiles = NO_INCLUDED_FILES,
) -> Sequence[ParameterUse]:
    """Return the effect of each parameter in these texts, in the order of their lines; a rule on a file comes last."""
    reader = ConfReader(names, included, goes_on=True)
    reader.read(files)
    uses = reader.uses.all
    order = {name: number for number, name in enumerate(dict.fromkeys(use.file for use in uses))}
    return sorted(uses, key=lambda use: (order[use.file], not use.line, use.line))

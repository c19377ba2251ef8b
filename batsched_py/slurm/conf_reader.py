"""Reader of slurm.conf, gres.conf and topology.conf, given as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from types import MappingProxyType
from typing import Any, Final, NoReturn

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.conf_parameters import (
    CHOICES,
    FIELDS,
    IGNORED,
    NODE_FIELDS,
    NODE_IGNORED,
    NODE_SIZES,
    PARTITION_FIELDS,
    PARTITION_OTHERS,
    Reader,
)
from batsched_py.slurm.conf_values import whole
from batsched_py.slurm.configuration import SchedulerOptions, SlurmConfiguration, SlurmNode, SlurmPartition, Switch
from batsched_py.slurm.hostlist import expand
from batsched_py.text.display import displayed

_OPTIONS: Final = {field.name: field.type for field in fields(SchedulerOptions)}
_CR_KNOWN: Final = {"cr_core", "cr_core_memory", "cr_cpu", "cr_cpu_memory", "cr_lln", "cr_memory"}
_FLAGS_KNOWN: Final = {"no_fair_tree", "small_relative_to_time"}
_MODES_KNOWN: Final = {"off", "requeue", "cancel", "suspend", "gang"}


class ConfReader:
    """Reader of one configuration; each fault is a `ConfigurationError` with file, line and rule."""

    def __init__(self, names: Mapping[str, str]) -> None:
        #: Names of the files for messages, by the names that Slurm gives them.
        self._names = names
        self._file, self._line = names.get("slurm.conf", "slurm.conf"), 0
        self._values: dict[str, Any] = {}
        self._choices: dict[str, Any] = {}
        self._nodes: list[SlurmNode] = []
        self._partitions: list[SlurmPartition] = []
        self._index: dict[str, int] = {}

    def read(self, files: Mapping[str, str]) -> SlurmConfiguration:
        """Return the configuration in these texts: slurm.conf, and topology.conf if the topology is a tree."""
        partitions = []
        for pairs in self._lines("slurm.conf", files.get("slurm.conf", "")):
            kind = pairs[0][0].lower()
            if kind == "nodename":
                self._add_nodes(pairs)
            elif kind == "partitionname":
                partitions.append((self._line, pairs))
            else:
                for name, text in pairs:
                    self._add_parameter(name, text)
        for self._line, pairs in partitions:
            self._partitions.append(self._partition(pairs))
        self._line = 0
        if not self._nodes or not self._partitions:
            self._fail("NodeName and PartitionName", "are required")
        is_tree = self._is("topologyplugin", "tree")
        if is_tree and "topology.conf" not in files:
            self._fail("TopologyPlugin", "must have the file topology.conf, in which its switches are")
        switches = self._switches(files["topology.conf"]) if is_tree else ()
        return SlurmConfiguration(
            nodes=tuple(self._nodes),
            partitions=tuple(self._partitions),
            switches=switches,
            **self._values,
            **self._chosen(),
        )

    def _lines(self, file: str, text: str) -> Iterator[list[tuple[str, str]]]:
        self._file = self._names.get(file, file)
        for self._line, raw in enumerate(text.splitlines(), 1):
            line = raw.split("#", 1)[0].strip()
            if not line:
                continue
            pairs = [(word.partition("=")[0], word.partition("=")[2]) for word in line.split()]
            if any("=" not in word for word in line.split()):
                self._fail(line, "must be NAME=VALUE")
            yield pairs

    def _fail(self, field: str, rule: str) -> NoReturn:
        place = f"line {self._line}: {displayed(field)}" if self._line else displayed(field)
        raise ConfigurationError(self._file, place, rule)

    def _value(self, name: str, text: str, reader: Reader) -> Any:
        try:
            return reader(text)
        except ValueError as error:
            self._fail(name, f"{error}, not {displayed(text)}")

    def _add_parameter(self, name: str, text: str) -> None:
        key = name.lower()
        if key in FIELDS:
            field, reader = FIELDS[key]
            self._values[field] = self._value(name, text, reader)
        elif key == "schedulerparameters":
            self._values["scheduler"] = self._scheduler(name, text)
        elif key in CHOICES:
            self._choices[key] = self._value(name, text, CHOICES[key])
        elif key not in IGNORED:
            self._fail(name, "is an unknown or unsupported parameter")

    def _scheduler(self, name: str, text: str) -> SchedulerOptions:
        options: dict[str, int | bool] = {}
        for part in filter(None, text.split(",")):
            option, _, value = part.partition("=")
            if option not in _OPTIONS:
                self._fail(f"{name}={option}", "is an unknown or unsupported parameter")
            is_flag = _OPTIONS[option] == "bool"
            options[option] = True if is_flag else self._value(f"{name}={option}", value, whole)
        return SchedulerOptions(**options)  # type: ignore[arg-type]  # flags and numbers by the table of fields

    def _is(self, key: str, word: str) -> bool:
        return str(self._choices.get(key, "")).endswith(word)

    def _known(self, key: str, known: set[str]) -> frozenset[str]:
        chosen: frozenset[str] = self._choices.get(key, frozenset())
        for word in sorted(chosen - known):
            self._fail(f"{key}={word}", "is an unknown or unsupported value")
        return chosen

    def _chosen(self) -> dict[str, Any]:
        cr, flags = self._known("selecttypeparameters", _CR_KNOWN), self._known("priorityflags", _FLAGS_KNOWN)
        modes = self._known("preemptmode", _MODES_KNOWN)
        expire = [word.partition("=")[2] for word in self._choices.get("authinfo", ()) if word.startswith("cred_exp")]
        return {
            "backfill": not self._is("schedulertype", "builtin"),
            "linear": self._is("selecttype", "linear"),
            "cr_memory": any(word.endswith("memory") for word in cr),
            "cr_lln": "cr_lln" in cr,
            "multifactor": not self._is("prioritytype", "basic"),
            "fair_tree": "no_fair_tree" not in flags,
            "small_relative_to_time": "small_relative_to_time" in flags,
            "accounting": self._is("accountingstoragetype", "slurmdbd"),
            "preempt": str(self._choices.get("preempttype", "preempt/none")).removeprefix("preempt/"),
            "preempt_mode": next(iter(sorted(modes - {"gang"})), "off").upper(),
            "gang": "gang" in modes,
            "cred_expire": float(self._value("AuthInfo", expire[0], whole)) if expire else 120.0,
        }

    def _fields(self, pairs: list[tuple[str, str]], known: Mapping[str, tuple[str, Reader]]) -> dict[str, Any]:
        return {
            known[name.lower()][0]: self._value(name, text, known[name.lower()][1])
            for name, text in pairs
            if name.lower() in known
        }

    def _add_nodes(self, pairs: list[tuple[str, str]]) -> None:
        values, sizes = self._fields(pairs, NODE_FIELDS), dict[str, int]()
        for name, text in pairs:
            if name.lower() in NODE_SIZES:
                sizes[name.lower()] = self._value(name, text, whole)
            elif name.lower() not in NODE_FIELDS and name.lower() not in NODE_IGNORED:
                self._fail(name, "is an unknown or unsupported parameter of a node")
        threads = values.get("threads", 1)
        cores = sizes.get("sockets", 1) * sizes.get("corespersocket", 0) or sizes.get("cpus", 1) // threads
        for node in self._value("NodeName", pairs[0][1], expand):
            if node in self._index:
                self._fail(node, "is defined twice")
            self._index[node] = len(self._nodes)
            self._nodes.append(SlurmNode(name=node, cores=max(cores, 1), **values))

    def _bits(self, name: str, text: str) -> int:
        if text.upper() == "ALL":
            return (1 << len(self._nodes)) - 1
        bits = 0
        for node in self._value(name, text, expand):
            if node not in self._index:
                self._fail(name, f"must be known nodes, not {displayed(node)}")
            bits |= 1 << self._index[node]
        return bits

    def _partition(self, pairs: list[tuple[str, str]]) -> SlurmPartition:
        values = self._fields(pairs, PARTITION_FIELDS)
        others = {name.lower(): text for name, text in pairs if name.lower() not in PARTITION_FIELDS}
        for name in others:
            if name not in PARTITION_OTHERS:
                self._fail(name, "is an unknown or unsupported parameter of a partition")
        shared, _, count = others.get("oversubscribe", "NO").partition(":")
        mode = self._value("OverSubscribe", shared, lambda text: str(text).upper())
        if mode not in {"NO", "YES"} and (mode, count) != ("FORCE", "1"):
            self._fail("OverSubscribe", f"must be NO, YES or FORCE:1; {displayed(shared)} is not supported")
        return SlurmPartition(
            name=pairs[0][1],
            nodes=self._bits("Nodes", others.get("nodes", "")),
            up=others.get("state", "UP").upper() == "UP",
            **values,
        )

    def _switches(self, text: str) -> tuple[Switch, ...]:
        leaves = []
        for pairs in self._lines("topology.conf", text):
            values = {name.lower(): value for name, value in pairs}
            if unknown := values.keys() - {"switchname", "nodes", "switches", "linkspeed"}:
                self._fail(min(unknown), "is an unknown parameter of a switch")
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

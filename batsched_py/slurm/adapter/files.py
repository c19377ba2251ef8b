"""Files of an operator that options name: slurm.conf, topology.conf, and the accounts of `sacctmgr dump`."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from batsched_py.errors import ConfigurationError
from batsched_py.reading.included_file import NO_INCLUDED_FILES, IncludedFiles
from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.conf_reader import read_configuration, review_configuration
from batsched_py.slurm.conf_values import words
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.sacctmgr_dump import read_dump
from batsched_py.text.display import displayed

_COMMAND: Final = re.compile(r"(\d{1,10}(?:\.\d{1,6})?)\s+((?:scontrol|scancel)\s.+)")


class OperatorFile(NamedTuple):
    """A text file, and its name for messages."""

    name: str
    text: str


class ConfFile(NamedTuple):
    """A slurm.conf, its name for messages, and the files that it includes."""

    name: str
    text: str
    included: IncludedFiles = NO_INCLUDED_FILES


def conf_file(name: str, content: bytes, included: IncludedFiles) -> ConfFile:
    """Return a slurm.conf as text; ConfigurationError if it is not UTF-8."""
    return ConfFile(*operator_file(name, content), included)


def operator_file(name: str, content: bytes) -> OperatorFile:
    """Return a file as text; ConfigurationError if it is not UTF-8."""
    try:
        return OperatorFile(name, content.decode())
    except UnicodeDecodeError:
        raise ConfigurationError(name, "", "must be text in UTF-8") from None


def configuration_of(conf: ConfFile, topology: OperatorFile | None) -> SlurmConfiguration:
    """Return the configuration in these files; ConfigurationError with file, line and rule."""
    return read_configuration(*_texts(conf, topology), conf.included)


def hint_lines(conf: ConfFile, topology: OperatorFile | None) -> tuple[str, ...]:
    """Return warnings: which parameters in these files are approximated, and what others imply."""
    uses, found = review_configuration(*_texts(conf, topology), conf.included), list[str]()
    names = dict.fromkeys(displayed(use.name) for use in uses if use.effect == "approximated")
    if names:
        found.append(f"approximated: {', '.join(names)}; `batsched-py slurm check` says how")
    for use in uses:
        if use.name.lower() == "accountingstorageenforce" and use.effect == "obeyed":
            stated = words(use.value)
            if "associations" not in stated and stated & {"limits", "qos", "safe"}:
                found.append(f"{use.name}={displayed(use.value)} implies associations: each user must have one")
    return tuple(f"{displayed(conf.name)}: {line}" for line in found)


def _texts(conf: ConfFile, topology: OperatorFile | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return texts and names for messages, by the names that Slurm gives the files."""
    files = {"slurm.conf": OperatorFile(conf.name, conf.text)}
    if topology is not None:
        files["topology.conf"] = topology
    return {name: file.text for name, file in files.items()}, {name: file.name for name, file in files.items()}


class TimedCommand(NamedTuple):
    """A command of scontrol or scancel, and the second at which it is given; `line` is its place in the file."""

    at: float
    text: str
    line: int


def commands_of(file: OperatorFile) -> tuple[TimedCommand, ...]:
    """Return the commands in a file, in their order: a line for each, `SECONDS COMMAND`. ConfigurationError."""
    found: list[TimedCommand] = []
    for number, raw in enumerate(file.text.splitlines(), 1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        match = _COMMAND.fullmatch(line)
        if match is None:
            rule = "must be seconds from time 0, and a command of scontrol or scancel"
            raise ConfigurationError(file.name, f"line {number}: {displayed(line)}", rule)
        if found and float(match[1]) < found[-1].at:
            raise ConfigurationError(file.name, f"line {number}: {match[1]}", "must not be before the line above")
        found.append(TimedCommand(float(match[1]), match[2], number))
    return tuple(found)


def check_partitions(configuration: SlurmConfiguration, accounts: Accounts, name: str) -> None:
    """Raise ConfigurationError if the QOS of a partition is not among the accounts; `name` is the file's."""
    for one in configuration.partitions:
        if one.qos is not None and one.qos not in accounts.qos:
            rule = f"must be a QOS of the accounts (option dump), not {displayed(one.qos)}"
            raise ConfigurationError(name, f"PartitionName={displayed(one.name)}: QOS", rule)


def accounts_of(dump: OperatorFile) -> Accounts:
    """Return the accounts in a file; ConfigurationError with file, line and rule."""
    return read_dump(dump.name, dump.text)

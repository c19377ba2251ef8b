"""Files of an operator that options name: slurm.conf, topology.conf, and the accounts of `sacctmgr dump`."""

from __future__ import annotations

from typing import NamedTuple

from batsched_py.errors import ConfigurationError
from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.conf_reader import read_configuration
from batsched_py.slurm.configuration import SlurmConfiguration
from batsched_py.slurm.sacctmgr_dump import read_dump


class OperatorFile(NamedTuple):
    """A text file, and its name for messages."""

    name: str
    text: str


def operator_file(name: str, content: bytes) -> OperatorFile:
    """Return a file as text; ConfigurationError if it is not UTF-8."""
    try:
        return OperatorFile(name, content.decode())
    except UnicodeDecodeError:
        raise ConfigurationError(name, "", "must be text in UTF-8") from None


def configuration_of(conf: OperatorFile, topology: OperatorFile | None) -> SlurmConfiguration:
    """Return the configuration in these files; ConfigurationError with file, line and rule."""
    names = {"slurm.conf": conf.name}
    texts = {"slurm.conf": conf.text}
    if topology is not None:
        names["topology.conf"], texts["topology.conf"] = topology
    return read_configuration(texts, names)


def accounts_of(dump: OperatorFile) -> Accounts:
    """Return the accounts in a file; ConfigurationError with file, line and rule."""
    return read_dump(dump.name, dump.text)

"""Files of Slurm that commands read: slurm.conf, topology.conf and accounts."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.parameters import PATH, option, together
from batsched_py.errors import ConfigurationError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.files.included_files import read_included
from batsched_py.reading.included_file import IncludedFiles
from batsched_py.slurm.accounts import Accounts
from batsched_py.slurm.adapter.files import accounts_of, operator_file
from batsched_py.slurm.conf_lines import included_names

conf_options = together(
    click.argument("conf", type=PATH, metavar="SLURM_CONF"),
    option("--topology", "FILE", "topology.conf, for TopologyPlugin=topology/tree.", type=PATH),
)


class SlurmFiles(Struct, frozen=True):
    """The files of a configuration."""

    conf: Path
    topology: Path | None

    def texts(self) -> dict[str, str]:
        """Return their texts by the names that Slurm gives them. ConfigurationError."""
        paths = {"slurm.conf": self.conf, "topology.conf": self.topology}
        return {name: read_text(path) for name, path in paths.items() if path is not None}

    def included(self) -> IncludedFiles:
        """Return the files that slurm.conf includes. ConfigurationError."""
        with reported(self.conf, ConfigurationError):
            content = read_file(self.conf, current_limits())
        return read_included(self.conf, str(self.conf), content, included_names, current_limits())

    def names(self) -> dict[str, str]:
        """Return their paths by the names that Slurm gives them."""
        return {"slurm.conf": str(self.conf), "topology.conf": str(self.topology)}


def read_text(path: Path) -> str:
    """Return the text of a file of Slurm. ConfigurationError."""
    with reported(path, ConfigurationError):
        return read_file(path, current_limits()).decode(errors="replace")


def read_accounts(path: Path) -> Accounts:
    """Return the accounts in a file, which is read as a run reads it. ConfigurationError."""
    with reported(path, ConfigurationError):
        content = read_file(path, current_limits())
    return accounts_of(operator_file(str(path), content))

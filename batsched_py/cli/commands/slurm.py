"""`batsched-py slurm`: the files of a cluster with Slurm."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import orjson
from msgspec import to_builtins
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import DEBUG, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.slurm_files import SlurmFiles, conf_options, read_accounts
from batsched_py.cli.shared.terminal import put, say, warn
from batsched_py.errors import ConfigurationError, PlatformError
from batsched_py.files.output_file import make_folder
from batsched_py.model.host_capacities import machine_licences, read_capacity
from batsched_py.slurm.conf_reader import read_configuration, review_configuration
from batsched_py.slurm.conf_review import EFFECTS, ParameterUse
from batsched_py.slurm.node_properties import licence_property, node_properties, nodes_of_several_models
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.platform_writer import NamedHost, write_named_hosts

#: The order of effects in the table: what needs attention comes first.
_FIRST = ("refused", "approximated", "obeyed", "ignored")


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Check a configuration of Slurm for the algorithm slurm, and make a platform of its nodes."""


command.params.append(DEBUG)


@typed_command()
@conf_options
@option("--dump", "FILE", "Also check accounts: sacctmgr dump, commands of sacctmgr, or both.", type=PATH)
@flag("--json as_json", "Print JSON: a list of objects.")
def check(files: SlurmFiles, dump: Path | None, *, as_json: bool) -> None:
    """Show whether each parameter in SLURM_CONF is obeyed, approximated, ignored or refused, and why.

    If one is refused, the exit code is 2, and the algorithm slurm ends with the same reason.
    """
    uses = review_configuration(files.texts(), files.names())
    count = Counter(use.effect for use in uses)
    if as_json:
        put(orjson.dumps(to_builtins(uses), option=orjson.OPT_APPEND_NEWLINE), is_json=True)
    else:
        _show(sorted(uses, key=lambda use: _FIRST.index(use.effect)))
        say(", ".join(f"{count[effect]} {effect}" for effect in EFFECTS))
    if dump is not None:
        accounts = read_accounts(dump)
        if not as_json:
            read = counted(len(accounts.by_account), "account"), counted(len(accounts.by_user), "user")
            say(f"{displayed(str(dump))}: {', '.join(read)} and {len(accounts.qos)} QOS, with root and normal")
    _refuse([use for use in uses if use.effect == "refused"])


def _refuse(refused: list[ParameterUse]) -> None:
    """Raise the error of the first parameter, with the number of others."""
    if refused:
        first = refused[0]
        place = f"line {first.line}: {displayed(first.name)}" if first.line else displayed(first.name)
        more = len(refused) - 1
        others = f"; {counted(more, 'other')} {'is' if more == 1 else 'are'} refused, too" if more else ""
        raise ConfigurationError(first.file, place, f"{first.reason}{others}")


def _show(uses: list[ParameterUse]) -> None:
    several = len({use.file for use in uses}) > 1
    table = Table("line", "parameter", "value", "effect", "reason", box=box.SIMPLE, pad_edge=False)
    table.columns[0].justify = "right"
    for use in uses:
        place = str(use.line) if use.line else ""
        if several:
            place = f"{Path(use.file).name}:{place}"
        cells = (place, use.name, use.value, use.effect, use.reason)
        table.add_row(*(displayed(cell, 60) for cell in cells[:-1]), displayed(cells[-1]))
    show_table(table, folded=4)


@typed_command()
@conf_options
@option("-o --output", "FILE", "The platform.", type=PATH, required=True)
def platform(files: SlurmFiles, output: Path) -> None:
    """Write a platform of the nodes in SLURM_CONF, with their cores, memory, GPUs and other resources.

    The hosts have the names of the nodes, and no network.
    """
    check_apart([("SLURM_CONF", files.conf), ("--topology", files.topology)], [("-o", output)])
    check_writable([output])
    configuration = read_configuration(files.texts(), files.names())
    hosts = [NamedHost(node.name, node.cpus, node_properties(node)) for node in configuration.nodes]
    licences = licence_property(configuration)
    try:
        machine_licences([({"licences": licences}, {})])
        for host in hosts:
            read_capacity(host.properties)
    except ValueError as error:
        raise ConfigurationError(str(files.conf), "", str(error)) from error
    if mixed := nodes_of_several_models(configuration):
        warn(f"{counted(len(mixed), 'node')} with GPUs of several types, such as {displayed(mixed[0])}: no gpu_model")
    make_folder(output)
    try:
        write_named_hosts(output, hosts, {"licences": licences} if licences else {})
    except PlatformError as error:
        raise PlatformError(str(output), error.field, error.rule) from error
    say(f"wrote {output}: {counted(len(hosts), 'host')}")


command.add_command(check, "check")
command.add_command(platform, "platform")

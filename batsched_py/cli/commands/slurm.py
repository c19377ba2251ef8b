"""`batsched-py slurm`: the files of a cluster with Slurm, and recorded runs as Slurm's commands show them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click
import orjson
from msgspec import to_builtins
from rich import box
from rich.table import Table

from batsched_py.cli.shared.algorithm import AlgorithmChoice
from batsched_py.cli.shared.command import COMMON, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.output_paths import check_apart, check_writable
from batsched_py.cli.shared.parameters import PATH, Seconds, algorithm_options, flag, option, together
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.slurm_files import SlurmFiles, conf_options, read_accounts
from batsched_py.cli.shared.slurm_fit import fit
from batsched_py.cli.shared.slurm_runs import open_recording
from batsched_py.cli.shared.slurm_tables import priority_table, queue_table, share_table, start_table
from batsched_py.cli.shared.terminal import put, say, warn
from batsched_py.errors import ConfigurationError, PlatformError
from batsched_py.files.output_file import make_folder
from batsched_py.model.host_capacities import machine_licences, read_capacity
from batsched_py.reading.included_file import IncludedFile
from batsched_py.runs.slurm.priorities import job_priorities, require_multifactor
from batsched_py.runs.slurm.queue import expected_starts, queued_jobs
from batsched_py.runs.slurm.shares import share_rows
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
    """Check a configuration of Slurm, make a platform of it, fit a replay to a log, and show runs of slurm."""


command.params += COMMON


@typed_command()
@conf_options
@option("--dump", "FILE", "Also check accounts: sacctmgr dump, commands of sacctmgr, or both.", type=PATH)
@flag("--json as_json", "Print JSON: a list of objects.")
def check(files: SlurmFiles, dump: Path | None, *, as_json: bool) -> None:
    """Show whether each parameter in SLURM_CONF is obeyed, approximated, ignored or refused, and why.

    If one is refused, the exit code is 2, and the algorithm slurm ends with the same reason.
    """
    uses = review_configuration(files.texts(), files.names(), files.included())
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
    included = files.included()
    others = [("SLURM_CONF", Path(one.name)) for one in included.values() if isinstance(one, IncludedFile)]
    check_apart([("SLURM_CONF", files.conf), ("--topology", files.topology), *others], [("-o", output)])
    check_writable([output])
    configuration = read_configuration(files.texts(), files.names(), included)
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


_run_options = together(
    click.argument("source", type=PATH, metavar="RUN.jsonl|DIR"),
    option(
        "--at", "T", "The instant, in seconds since the start. Default: the end of the recording.", type=Seconds(min=0)
    ),
    flag("--json as_json", "Print JSON: a list of objects."),
    algorithm_options,
)


@typed_command()
@_run_options
@flag("--start", "Show pending jobs with the starts that backfill expects.")
def squeue(source: Path, at: float | None, choice: AlgorithmChoice, *, start: bool, as_json: bool) -> None:
    """Show the jobs that pended or ran at an instant, with the reasons or the nodes.

    RUN.jsonl is a recording of the algorithm slurm, DIR the folder of a live site. Give the files of the run
    again, with -o: a recording never names files to open.
    """
    recording = open_recording(source, choice)
    scheduler = recording.scheduler_at(at)
    now = recording.session.now if at is None else at
    if start:
        starts = expected_starts(scheduler, now)
        _print([one.plain for one in starts], start_table(starts), as_json=as_json)
    else:
        rows = queued_jobs(scheduler, now)
        _print([one.plain for one in rows], queue_table(rows), as_json=as_json)


@typed_command()
@_run_options
def sprio(source: Path, at: float | None, choice: AlgorithmChoice, *, as_json: bool) -> None:
    """Show the factors of the priorities of the jobs that pended at an instant.

    Arguments and options are those of `squeue`. The run must have PriorityType=priority/multifactor.
    """
    recording = open_recording(source, choice)
    scheduler = recording.scheduler_at(at)
    require_multifactor(scheduler, str(recording.path))
    rows = job_priorities(scheduler, recording.session.now if at is None else at)
    _print([one.plain for one in rows], priority_table(rows), as_json=as_json)


@typed_command()
@_run_options
def sshare(source: Path, at: float | None, choice: AlgorithmChoice, *, as_json: bool) -> None:
    """Show the shares of accounts and users, their usage and fair-share factors at an instant.

    Arguments and options are those of `squeue`. The run must have PriorityType=priority/multifactor, and accounting.
    """
    recording = open_recording(source, choice)
    scheduler = recording.scheduler_at(at)
    require_multifactor(scheduler, str(recording.path))
    rows = share_rows(scheduler)
    _print([one.plain for one in rows], share_table(rows), as_json=as_json)


def _print(plain: list[dict[str, object]], table: Table, *, as_json: bool) -> None:
    if as_json:
        put(orjson.dumps(plain, option=orjson.OPT_APPEND_NEWLINE), is_json=True)
    else:
        show_table(table)


for _part, _name in (
    (check, "check"),
    (platform, "platform"),
    (fit, "fit"),
    (squeue, "squeue"),
    (sprio, "sprio"),
    (sshare, "sshare"),
):
    command.add_command(_part, _name)

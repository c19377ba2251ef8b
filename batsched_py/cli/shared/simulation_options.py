"""What Batsim is told about the machine and about how it shall behave: options of all commands that simulate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.examples import INPUT
from batsched_py.cli.shared.parameters import HOSTS, PATH, Decorated, read_roles, told_limits
from batsched_py.display import displayed
from batsched_py.errors import PlatformError
from batsched_py.model.platform import DEFAULT_MASTER, Platform
from batsched_py.protocol.dialects import DIALECTS, V4
from batsched_py.simulator.machines.external_events import MACHINE_EVENTS, ExternalEvent, read_events
from batsched_py.traces.simgrid_xml import read_platform
from batsched_py.wording import did_you_mean

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _flag(name: str, setting: str, text: str) -> _Decorator:
    """A switch of Batsim that becomes a field of Settings."""
    return click.option(name, setting, is_flag=True, help=text)


platform_option = click.option(
    "-p", "--platform", type=INPUT, required=True, metavar="FILE", help="Platform, SimGrid XML."
)

workloads_option = click.option(
    "-w", "--workload", "workloads", type=INPUT, required=True, multiple=True, metavar="FILE", help="Batsim JSON."
)

#: Which hosts take part, and what they are.
_MACHINE: Final[tuple[_Decorator, ...]] = (
    click.option("--mmax", "machines", type=HOSTS, metavar="N", help="Only the first N hosts."),
    click.option(
        "-m", "--master-host", default=DEFAULT_MASTER, show_default=True, metavar="NAME", help="Runs no jobs."
    ),
    click.option(
        "-r",
        "--add-role-to-hosts",
        "roles",
        multiple=True,
        callback=read_roles,
        metavar="HOST,...:ROLE",
        help="The role of hosts: storage, master or compute_node; may be given several times.",
    ),
)

#: What Batsim does otherwise than by default.
_BEHAVIOUR: Final[tuple[_Decorator, ...]] = (
    click.option(
        "--protocol",
        type=click.Choice(list(DIALECTS)),
        default=V4.name,
        show_default=True,
        help="Speak as Batsim 4 or 1.4.",
    ),
    _flag("-E", "energy", "Count energy and allow power states to be changed."),
    click.option("--events", type=PATH, metavar="FILE", help="What happens to the machines (JSON lines)."),
    _flag("--enable-compute-sharing", "compute_sharing", "Several jobs may run on one host."),
    click.option(
        "--disable-storage-sharing",
        "storage_sharing",
        flag_value=False,
        default=True,
        help="Only one job at a time may be placed on a storage host.",
    ),
    _flag("--enable-dynamic-jobs", "dynamic_jobs", "The algorithm may register jobs."),
    click.option(
        "--acknowledge-dynamic-jobs/--no-acknowledge-dynamic-jobs",
        default=None,
        help="Registered jobs are submitted back (the default in v1.4), or not (in v4).",
    ),
    _flag("--forward-profiles-on-submission", "forward_profiles", "Submissions carry the profile."),
    _flag("--forward-unknown-events", "forward_unknown_events", "Events of other types reach the algorithm."),
    _flag("--message-latency", "message_latency", "Messages between Batsim's own parts take time, as in Batsim."),
    _flag("--enable-profile-reuse", "profile_reuse", "Profiles outlive their jobs."),
    _flag("--allow-oversized-jobs", "allow_oversized", "Submit jobs larger than the platform, to see them rejected."),
    click.option(
        "--disable-machine-state-tracing",
        "trace_machine_states",
        flag_value=False,
        default=True,
        help="No PREFIX_machine_states.csv.",
    ),
)


def machine_options(command: Decorated) -> Decorated:
    """--mmax, -m and -r under the names of Settings."""
    decorated: Decorated = reduce(_decorate, reversed(_MACHINE), command)
    return decorated


def behaviour_options(command: Decorated) -> Decorated:
    """-E, --message-latency... under the names of Settings; --events as `events`, a file."""
    decorated: Decorated = reduce(_decorate, reversed(_BEHAVIOUR), command)
    return decorated


def check_behaviour(settings: Mapping[str, Any]) -> None:
    """UsageError if one of `behaviour_options` would do nothing without another that was not given."""
    if settings["acknowledge_dynamic_jobs"] is not None and not settings["dynamic_jobs"]:
        name = "--acknowledge-dynamic-jobs" if settings["acknowledge_dynamic_jobs"] else "--no-acknowledge-dynamic-jobs"
        raise click.UsageError(f"'{name}' goes with '--enable-dynamic-jobs'")


def named_platform(path: Path, master: str) -> Platform:
    """Read it. It need not have the master that is named by default, but one that the user named. PlatformError."""
    platform = read_platform(path, limits=told_limits())
    given = click.get_current_context().get_parameter_source("master_host") is ParameterSource.COMMANDLINE
    if given and all(host.name != master for host in platform.hosts):
        raise PlatformError(str(path), "", f"has no host {master!r}, which -m names")
    return platform


def read_external(path: Path | None, hosts: int, *, forwarded: bool) -> tuple[ExternalEvent, ...]:
    """The external events in a file; a warning for each whose type may be a slip of the pen. WorkloadError.

    `hosts` is how many the platform has.
    Events of types that Batsim does not know are only forwarded, and left out if that is not asked for.
    """
    events = () if path is None else read_events(path, hosts=hosts, limits=told_limits())
    warn = Warnings()
    for event in events:
        if event.type not in MACHINE_EVENTS:
            suggestion = did_you_mean(event.type, sorted(MACHINE_EVENTS))
            what = "the event is only forwarded" if forwarded else "the event is left out"
            if suggestion or not forwarded:
                told = f"{event.source}: type: {displayed(event.type)} is no event of machines: {what}"
                warn(f"{told}; {suggestion}" if suggestion else told)
    return events


def _decorate(command: Any, option: _Decorator) -> Any:
    return option(command)

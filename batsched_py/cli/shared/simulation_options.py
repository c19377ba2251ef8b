"""Batsim's options about the machine and its behaviour, for all commands that simulate."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource
from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import Warnings
from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.parameters import HOSTS, INPUT, PATH, flag, option, read_items, read_roles, together
from batsched_py.errors import PlatformError
from batsched_py.model.external_event import MACHINE_EVENTS, ExternalEvent
from batsched_py.model.platform import DEFAULT_MASTER, Platform
from batsched_py.model.settings import MOST_CALLS, NETWORK, ON_FAILURE, Settings
from batsched_py.protocol.dialect import V4
from batsched_py.protocol.dialects import DIALECTS, V5
from batsched_py.reading.limits import LONGEST
from batsched_py.text.display import displayed
from batsched_py.text.wording import did_you_mean
from batsched_py.traces.event_file import read_events
from batsched_py.traces.simgrid_xml import read_platform

#: Upper limit: more are a typing error.
_MOST_CALLS: Final = 10**12

platform_option = option("-p --platform", "FILE", "Platform, SimGrid XML.", type=INPUT, required=True)

workloads_option = option("-w --workload workloads", "FILE", "Batsim JSON.", type=INPUT, required=True, multiple=True)


def _read_starts(
    context: click.Context, parameter: click.Parameter, values: tuple[tuple[Path, float], ...]
) -> tuple[tuple[Path, float], ...]:
    """Check the dates at which workflows begin."""
    for _, start in values:
        if not 0 <= start <= LONGEST:
            raise click.BadParameter(f"the date must be from 0 to {LONGEST} s, not {start:g}", context, parameter)
    return values


#: Workloads and workflows, of which one is needed at least.
work_options = together(
    option("-w --workload workloads", "FILE", "Batsim JSON.", type=INPUT, multiple=True),
    option("-W --workflow workflows", "FILE", "A workflow in DAX.", type=INPUT, multiple=True),
    option(
        "--WS --workflow-start started_workflows",
        "FILE DATE",
        "The same, from a date in seconds.",
        type=(INPUT, float),
        multiple=True,
        callback=_read_starts,
    ),
    option(
        "--workflow-jobs-limit",
        "N",
        "Jobs of a workflow that are submitted and have not ended.  [default: no limit]",
        type=click.IntRange(min=0),
        default=0,
    ),
)

#: Options for the hosts and their roles, under the names of Settings.
machine_options = together(
    option("--mmax machines", "N", "Use only the first N hosts.", type=HOSTS),
    option("-m --master-host", "NAME", "Name of the master host, which runs no jobs.", default=DEFAULT_MASTER),
    option(
        "-r --add-role-to-hosts roles",
        "HOST,...:ROLE",
        "Set the role of hosts: storage, master or compute_node; may be given several times.",
        multiple=True,
        callback=read_roles,
    ),
)

#: Switches of Batsim under the names of Settings, and --events as `events`, a file.
behaviour_options = together(
    option("--protocol", None, "Protocol of Batsim 4, 1.4 or 5.", type=click.Choice(list(DIALECTS)), default=V4.name),
    flag("-E energy", "Measure energy, and allow changes of power states."),
    option("--events", "FILE", "External events, such as host failures (JSON lines).", type=PATH),
    option(
        "--on-failure",
        None,
        "What happens to jobs on hosts that fail: they continue, as in Batsim, end, or are submitted again.",
        type=click.Choice(ON_FAILURE),
        default="ignore",
    ),
    flag("--enable-compute-sharing compute_sharing", "Allow several jobs on one host."),
    click.option(
        "--disable-storage-sharing",
        "storage_sharing",
        flag_value=False,
        default=True,
        help="Allow only one job at a time on a storage host.",
    ),
    flag("--enable-dynamic-jobs dynamic_jobs", "Allow the algorithm to register jobs."),
    option(
        "--acknowledge-dynamic-jobs/--no-acknowledge-dynamic-jobs",
        None,
        "Registered jobs are submitted back (the default in v1.4), or not (in v4).",
        default=None,
    ),
    flag("--forward-profiles-on-submission forward_profiles", "Include the profile in submissions."),
    flag("--forward-unknown-events forward_unknown_events", "Forward events of other types to the algorithm."),
    click.option(
        "--network",
        type=click.Choice(NETWORK),
        default="sharing",
        help="Jobs on the same links and hosts share them (sharing), or each runs as if it were alone (alone).",
    ),
    option(
        "--sg-cfg simgrid_config",
        "ITEM:VALUE",
        "Set an item of SimGrid's configuration; may be given several times.",
        multiple=True,
        callback=read_items,
    ),
    flag("--message-latency message_latency", "Simulate the latency of messages between Batsim's parts."),
    flag("--enable-profile-reuse profile_reuse", "Keep profiles after their jobs have ended."),
    option(
        "--max-calls",
        "N",
        "End a run after N calls in a row if nothing else happens, or will; 0 for never.",
        type=click.IntRange(0, _MOST_CALLS),
        default=MOST_CALLS,
    ),
    flag("--feedback", "Submit jobs with the member submitted_after after the jobs that they follow."),
    flag("--allow-oversized-jobs allow_oversized", "Submit jobs larger than the platform, so that they are rejected."),
    click.option(
        "--disable-machine-state-tracing",
        "trace_machine_states",
        flag_value=False,
        default=True,
        help="Do not write PREFIX_machine_states.csv.",
    ),
)


def read_machine(path: Path, events: Path | None, settings: Settings) -> tuple[Platform, Settings]:
    """Read platform and external events; return the settings with the events. UsageError, InputError.

    The platform must have the master host if the user named it, but need not have the default one.
    """
    if settings.acknowledge_dynamic_jobs is not None and not settings.dynamic_jobs:
        name = "--acknowledge-dynamic-jobs" if settings.acknowledge_dynamic_jobs else "--no-acknowledge-dynamic-jobs"
        raise click.UsageError(f"'{name}' goes with '--enable-dynamic-jobs'")
    platform = read_platform(path, limits=current_limits())
    if settings.on_failure != "ignore" and events is None and not platform.changes:
        raise click.UsageError("'--on-failure' goes with '--events', or a platform that changes: else no host fails")
    given = click.get_current_context().get_parameter_source("master_host") is ParameterSource.COMMANDLINE
    if given and all(host.name != settings.master_host for host in platform.hosts):
        raise PlatformError(str(path), "", f"has no host {settings.master_host!r}, which -m names")
    external = () if events is None else read_events(events, hosts=len(platform.hosts), limits=current_limits())
    forwards_all = settings.forward_unknown_events or settings.protocol == V5.name
    _warn_of_unknown(external, forwarded=forwards_all)
    return platform, replace(settings, external_events=external)


def _warn_of_unknown(events: Iterable[ExternalEvent], *, forwarded: bool) -> None:
    """Warn of events without an effect on machines: they are dropped unless forwarded, and may be typing errors."""
    warn = Warnings()
    what = "the event is only forwarded" if forwarded else "the event is left out"
    for event in events:
        if event.type not in MACHINE_EVENTS:
            suggestion = did_you_mean(event.type, sorted(MACHINE_EVENTS))
            if suggestion or not forwarded:
                line = f"{event.source}: type: {displayed(event.type)} is not a machine event: {what}"
                warn(f"{line}; {suggestion}" if suggestion else line)

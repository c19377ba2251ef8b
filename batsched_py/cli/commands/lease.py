"""`batsched-py lease`: request, list, show, cancel, hold, release and prioritise leases at a live site."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from batsched_py.cli.shared.command import COMMON, current_limits, typed_command
from batsched_py.cli.shared.lease_terms import LeaseTerms, duration_of, lease_term_options
from batsched_py.cli.shared.parameters import PATH, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_lists import ListOptions, list_options
from batsched_py.cli.shared.site_options import DATE, SitePlace, show_leases, site_options
from batsched_py.cli.shared.terminal import say, say_all, warn, warn_all
from batsched_py.scheduling.queue_requests import HIGHEST
from batsched_py.text.display import displayed
from batsched_py.traces.lease_file import read_lease


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Request, list, show, cancel, hold, release and prioritise leases at a live site."""


command.params += COMMON


@typed_command()
@option("-f --file", "FILE", "A request in Haizea's XML, instead of the other terms.", type=PATH)
@lease_term_options
@site_options
def request(place: SitePlace, terms: LeaseTerms, file: Path | None) -> None:
    """Request a lease, and print its number."""
    body = terms.body() if file is None else _read(file, terms)
    if terms.cpu is not None and terms.cpu <= 1:
        warn(f"'-c' is a percentage: {terms.cpu:g} is at most 1 % of a CPU; a whole CPU is 100")
    lease = place.client().post("api", "leases", body=body)
    say("Lease submitted correctly.")
    say(f"Lease ID: {displayed(str(lease['number']))}")
    if DATE.fullmatch(terms.start or "") and lease.get("requested_date"):
        say(f"Start: {displayed(str(lease['requested_date']))}")


@typed_command(limits=False)
@option("-n --nodes", "N", "Number of hosts.", type=click.IntRange(1), required=True)
@option("-w --walltime", "TIME", "Limit on its run time: seconds or [DD:]HH:MM:SS.", required=True)
@option("-d --duration", "TIME", "Actual run time; default: the walltime.")
@site_options
def job(place: SitePlace, nodes: int, walltime: str, duration: str | None) -> None:
    """Request a job without terms, for algorithms of all kinds, and print its number, which is that of a lease."""
    body: dict[str, Any] = {"nodes": nodes, "walltime": duration_of("-w", walltime)}
    if duration is not None:
        body["duration"] = duration_of("-d", duration)
    made = place.client().post("api", "jobs", body=body)
    say("Job submitted correctly.")
    say(f"Job ID: {displayed(str(made['number']))}")


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def cancel(place: SitePlace, number: int) -> None:
    """Cancel the lease ID, in any state."""
    place.client().delete("api", "leases", number)


@typed_command(limits=False)
@flag("--all", "Include leases that have ended.")
@list_options
@site_options
def listed(place: SitePlace, wanted: ListOptions, *, all: bool) -> None:
    """List leases that have not ended, or those in the state of --state."""
    leases = wanted.read(place.client_of_list(), "api", "leases", finished=str(all).lower())
    if leases:
        show_leases(leases)
    else:
        say("There are no leases.")


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def show(place: SitePlace, number: int) -> None:
    """Show the details of the lease ID."""
    lease = place.client().get("api", "leases", number)
    width = max(map(len, lease))
    say_all(f"{displayed(name):{width}}  {displayed(str(value))}" for name, value in lease.items())


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def hold(place: SitePlace, number: int) -> None:
    """Hold the waiting lease ID: it does not start before it is released."""
    place.client().post("api", "leases", number, "hold", body={})


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def release(place: SitePlace, number: int) -> None:
    """Release the held lease ID."""
    place.client().post("api", "leases", number, "release", body={})


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@option(
    "--to",
    "N",
    "The priority; leases with a greater one come first. It is 0 unless changed.",
    type=click.IntRange(-HIGHEST, HIGHEST),
    required=True,
)
@site_options
def prioritise(place: SitePlace, number: int, to: int) -> None:
    """Change the priority of the best-effort lease ID. Users may only lower that of their own leases."""
    place.client().put("api", "leases", number, "priority", body={"priority": to})


command.add_command(request, "request")
command.add_command(job, "job")
command.add_command(cancel, "cancel")
command.add_command(listed, "list")
command.add_command(show, "show")
command.add_command(hold, "hold")
command.add_command(release, "release")
command.add_command(prioritise, "priority")


def _read(file: Path, terms: LeaseTerms) -> dict[str, Any]:
    """Return the request in a file. UsageError if other terms are also given; WorkloadError."""
    if given := terms.supplied():
        raise click.UsageError(f"'-f' cannot be combined with '--{given[0].replace('_', '-')}': the file has all terms")
    lease = read_lease(file, current_limits())
    warn_all(lease.notes)
    return lease.members

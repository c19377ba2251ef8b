"""`batsched-py lease`: ask a live site for leases, list them, look at one, take one back."""

from __future__ import annotations

from typing import Any

import click
from msgspec import Struct

from batsched_py.cli.shared.command import DEBUG, takes
from batsched_py.cli.shared.parameters import Number, flag, option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_options import SitePlace, show_leases, site_options
from batsched_py.cli.shared.terminal import say, warn
from batsched_py.text.display import displayed


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Request, list, show and cancel leases at a live site."""


command.params.append(DEBUG)


class LeaseTerms(Struct, frozen=True):
    """The terms of a lease, as a user gave them."""

    nodes: int
    start: str
    duration: str
    preemptible: bool
    cpu: float | None
    memory: int | None
    image: str | None
    image_size: int | None

    def body(self) -> dict[str, Any]:
        """Return the request for the site. UsageError."""
        if (self.image is None) != (self.image_size is None):
            raise click.UsageError("'-i' and '-z' must be given together")
        body: dict[str, Any] = {"nodes": self.nodes, "duration": _number(self.duration), "start": _number(self.start)}
        body["preemptible"] = self.preemptible
        capacity = {"cpu": self.cpu, "memory": self.memory}
        if any(capacity.values()):
            body["capacity"] = {name: value for name, value in capacity.items() if value is not None}
        if self.image is not None:
            body["software"] = {"image": self.image, "size": self.image_size}
        return body


class RequestLease(Struct, frozen=True):
    """The options of `lease request`."""

    place: SitePlace
    terms: LeaseTerms


@takes(RequestLease, limits=False)
@option("-n --nodes", "N", "Number of machines.", type=click.IntRange(1), required=True)
@option("-d --duration", "TIME", "Duration: seconds, [DD:]HH:MM:SS or unlimited.", required=True)
@option("-t --start", "TIME", "Start: best_effort, now, +HH:MM:SS from now, seconds, or a date.", default="best_effort")
@flag("--preemptible/--non-preemptible", "Whether it may be suspended for other leases.", default=False)
@option(
    "-c --cpu",
    "PERCENT",
    "Share of a CPU for each machine; default: a whole host.",
    type=Number(min=0, min_open=True),
)
@option("-m --memory", "MB", "Memory of each machine.", type=click.IntRange(1))
@option("-i --image", "NAME", "Disk image of the machines.")
@option("-z --image-size", "MB", "Size of the image.", type=click.IntRange(0))
@site_options
def request(request: RequestLease) -> None:
    """Request a lease, and print its number."""
    body = request.terms.body()
    if request.terms.cpu is not None and request.terms.cpu <= 1:
        warn(f"'-c' is a percentage: {request.terms.cpu:g} is at most 1 % of a CPU; a whole CPU is 100")
    lease = request.place.client().post("api", "leases", body=body)
    say("Lease submitted correctly.")
    say(f"Lease ID: {displayed(str(lease['number']))}")


class CancelLease(Struct, frozen=True):
    """The options of `lease cancel`."""

    place: SitePlace
    number: int


@takes(CancelLease, limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def cancel(request: CancelLease) -> None:
    """Cancel the lease ID, in any state."""
    request.place.client().delete("api", "leases", request.number)


class ListLeases(Struct, frozen=True):
    """The options of `lease list`."""

    place: SitePlace
    all: bool


@takes(ListLeases, limits=False)
@flag("--all", "Include leases that have ended.")
@site_options
def listed(request: ListLeases) -> None:
    """List leases that have not ended."""
    client, leases, after = request.place.client(), list[dict[str, Any]](), 0
    while page := client.get("api", "leases", finished=str(request.all).lower(), after=after):
        leases += page
        after = page[-1]["number"]
    if leases:
        show_leases(leases)
    else:
        say("There are no leases.")


class ShowLease(Struct, frozen=True):
    """The options of `lease show`."""

    place: SitePlace
    number: int


@takes(ShowLease, limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def show(request: ShowLease) -> None:
    """Show the details of the lease ID."""
    lease = request.place.client().get("api", "leases", request.number)
    width = max(map(len, lease))
    for name, value in lease.items():
        say(f"{displayed(name):{width}}  {displayed(str(value))}")


command.add_command(request, "request")
command.add_command(cancel, "cancel")
command.add_command(listed, "list")
command.add_command(show, "show")


def _number(text: str) -> float | str:
    """Return seconds as a number, and all else as it is: the site reads it."""
    try:
        return float(text)
    except ValueError:
        return text

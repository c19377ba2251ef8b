"""`batsched-py reservation`: machines that a live site reserves for experiments to come."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import COMMON, current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import PATH, flag
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_lists import ListOptions, list_options
from batsched_py.cli.shared.site_options import SitePlace, post_descriptor, site_options
from batsched_py.cli.shared.terminal import put, say
from batsched_py.text.display import displayed
from batsched_py.text.wording import NOTHING, seconds

#: The resource of the API of a site.
_RESERVATIONS: Final = "reservations"


@click.group(cls=OnceGroup, no_args_is_help=True)
def command() -> None:
    """Create, show, list and delete reservations at a live site."""


command.params += COMMON


@typed_command()
@click.argument("file", type=PATH)
@site_options
def create(place: SitePlace, file: Path) -> None:
    """Reserve the computes of FILE, a descriptor in JSON or OVF, and print the id of the reservation.

    Experiments use it by this id, as their `reservation`.
    """
    made = post_descriptor(place, _RESERVATIONS, file, current_limits())
    say("Reservation created.")
    say(f"Reservation ID: {displayed(str(made['href']))}")


@typed_command(limits=False)
@list_options
@site_options
def listed(place: SitePlace, wanted: ListOptions) -> None:
    """List reservations, with those made for experiments."""
    found = wanted.read(place.client_of_list(), _RESERVATIONS)
    if not found:
        say("There are no reservations.")
        return
    table = Table("ID", "name", "owner", "state", "start", "end", "machines", box=box.SIMPLE, pad_edge=False)
    for one in found:
        times = (NOTHING if one[name] is None else seconds(one[name]) for name in ("start", "end"))
        cells = (one["href"], one["name"], one["owner"], one["state"], *times, str(one["machines"]))
        table.add_row(*map(displayed, cells))
    show_table(table)


@typed_command(limits=False)
@click.argument("id", metavar="ID")
@flag("--json as_json", "Print the answer of the site, JSON.")
@site_options
def show(place: SitePlace, id: str, *, as_json: bool) -> None:
    """Show the reservation ID and its machines."""
    one = place.client().get(_RESERVATIONS, _number(id))
    if as_json:
        put(json.dumps(one, ensure_ascii=False).encode() + b"\n", is_json=True)
        return
    reason = f": {one['reason']}" if one["reason"] else ""
    times = "" if one["start"] is None else f" from {seconds(one['start'])} to {seconds(one['end'])}"
    say(displayed(f"{one['name']}: {one['state']}{times}{reason}"))
    if one["resources"]:
        table = Table("machine", "location", "type", "host", "used by", box=box.SIMPLE, pad_edge=False)
        for each in one["resources"]:
            cells = (each[name] for name in ("href", "location", "type", "host", "resource"))
            table.add_row(*(NOTHING if cell is None else displayed(str(cell)) for cell in cells))
        show_table(table)


@typed_command(limits=False)
@click.argument("id", metavar="ID")
@site_options
def delete(place: SitePlace, id: str) -> None:
    """Delete the reservation ID in any state; experiments that use it fail."""
    place.client().delete(_RESERVATIONS, _number(id))


command.add_command(create, "create")
command.add_command(show, "show")
command.add_command(listed, "list")
command.add_command(delete, "delete")


def _number(id: str) -> int:
    """Return the number of an id such as /reservations/5, or of the number alone. BadParameter."""
    text = id.removeprefix(f"/{_RESERVATIONS}/")
    if not (text.isascii() and text.isdecimal() and 0 < int(text) <= 2**53):
        raise click.BadParameter(f"must be like /{_RESERVATIONS}/5 or 5, not {id!r}", param_hint="ID")
    return int(text)

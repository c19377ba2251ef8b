"""`batsched-py hosts`: the hosts of a live site, and their states; operators drain, fail and return them."""

from __future__ import annotations

from typing import cast

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import flag, option
from batsched_py.cli.shared.repetition import CommandWithParts
from batsched_py.cli.shared.site_lists import ListOptions, after_option, first_option
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.cli.shared.terminal import say
from batsched_py.text.display import displayed


@typed_command(limits=False, kind=CommandWithParts)
@flag("--out", "Only hosts that are unavailable, draining or drained.")
@after_option
@first_option
@site_options
def command(place: SitePlace, wanted: ListOptions, *, out: bool) -> None:
    """Show the hosts of a live site: numbers, names, resources and states."""
    hosts = wanted.read(place.client_of_list(), "api", "hosts", out=str(out).lower())
    if not hosts:
        say("There are no such hosts.")
        return
    names = ["ID", "Hostname", "CPUs", "Mem", "State"]
    out_of_service = any(host.get("by") for host in hosts)
    table = Table(*names, *(["By", "Reason"] if out_of_service else []), box=box.SIMPLE, pad_edge=False)
    for host in hosts:
        properties = host["properties"]
        cells = (
            host["number"],
            host["name"],
            properties.get("cpu", "100"),
            properties.get("mem", "1024"),
            host["state"],
            *((host.get("by", ""), host.get("reason", "")) if out_of_service else ()),
        )
        table.add_row(*(displayed(str(cell)) for cell in cells))
    show_table(table)


#: The hosts of a request.
_hosts = click.argument("hosts", metavar="HOSTS")
_reason = option("--reason", "TEXT", "Why; shown in the list of hosts.", default="")


def _taking(change: str, help: str) -> click.Command:
    """Return the command that takes hosts out of service by a change of the API."""

    @typed_command(limits=False)
    @_hosts
    @_reason
    @site_options
    def take(place: SitePlace, hosts: str, reason: str) -> None:
        place.client().post("api", "hosts", change, body={"hosts": hosts, "reason": reason})

    take.help = help
    return take


drain = _taking("drain", "Start nothing new on HOSTS, such as 0-3,7; what runs there goes on. Only for operators.")
fail = _taking("fail", "Make HOSTS unavailable: leases that run there fail. Only for operators.")


@typed_command(limits=False)
@_hosts
@site_options
def give_back(place: SitePlace, hosts: str) -> None:
    """Return HOSTS that are drained or unavailable to service. Only for operators."""
    place.client().post("api", "hosts", "return", body={"hosts": hosts})


for _part, _name in ((drain, "drain"), (fail, "fail"), (give_back, "return")):
    cast(click.Group, command).add_command(_part, _name)

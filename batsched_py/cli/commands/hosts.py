"""`batsched-py hosts`: the hosts of a live site, and their states."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.text.display import displayed


@typed_command(limits=False)
@site_options
def command(place: SitePlace) -> None:
    """Show the hosts of a live site: numbers, names, resources and states."""
    client, hosts = place.client(), list[dict[str, Any]]()
    while page := client.get("api", "hosts", after=len(hosts) - 1):
        hosts += page
    table = Table("ID", "Hostname", "CPUs", "Mem", "State", box=box.SIMPLE, pad_edge=False)
    for host in hosts:
        properties = host["properties"]
        cells = (
            host["number"],
            host["name"],
            properties.get("cpu", "100"),
            properties.get("mem", "1024"),
            host["state"],
        )
        table.add_row(*(displayed(str(cell)) for cell in cells))
    show_table(table)

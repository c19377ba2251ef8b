"""`batsched-py queue`: the waiting leases and jobs of a live site."""

from __future__ import annotations

from typing import Any

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.site_options import SitePlace, show_leases, site_options
from batsched_py.cli.shared.terminal import say


@typed_command(limits=False)
@site_options
def command(place: SitePlace) -> None:
    """Show the waiting leases and jobs of a live site, in queue order."""
    client, waiting = place.client_of_list(), list[dict[str, Any]]()
    while page := client.get("api", "queue", after=len(waiting)):
        waiting += page
    if waiting:
        show_leases(waiting)
    else:
        say("Queue is empty.")

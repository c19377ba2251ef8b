"""`batsched-py queue`: the waiting leases and jobs of a live site."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.site_options import SitePlace, show_leases, site_options
from batsched_py.cli.shared.terminal import say


class QueueRequest(Struct, frozen=True):
    """The options of `queue`."""

    place: SitePlace


@takes(QueueRequest, limits=False)
@site_options
def command(request: QueueRequest) -> None:
    """Show the waiting leases and jobs of a live site, in queue order."""
    client, waiting = request.place.client(), list[dict[str, Any]]()
    while page := client.get("api", "queue", after=len(waiting)):
        waiting += page
    if waiting:
        show_leases(waiting)
    else:
        say("Queue is empty.")

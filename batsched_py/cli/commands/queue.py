"""`batsched-py queue`: the waiting leases and jobs of a live site."""

from __future__ import annotations

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.parameters import option
from batsched_py.cli.shared.site_lists import ListOptions, first_option
from batsched_py.cli.shared.site_options import SitePlace, show_leases, site_options
from batsched_py.cli.shared.terminal import say


@typed_command(limits=False)
@option("--after", "N", "Leave out the first N.", type=click.IntRange(0, 2**53))
@first_option
@site_options
def command(place: SitePlace, wanted: ListOptions) -> None:
    """Show the waiting leases and jobs of a live site, in queue order."""
    waiting = wanted.read(place.client_of_list(), "api", "queue")
    if waiting:
        show_leases(waiting)
    else:
        say("Queue is empty.")

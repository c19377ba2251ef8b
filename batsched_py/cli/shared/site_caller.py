"""`batsched-py site caller`: who the caller of a live site is, and what is used of the quotas."""

from __future__ import annotations

from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.site_options import SitePlace, site_options
from batsched_py.cli.shared.terminal import say
from batsched_py.text.display import displayed


@typed_command(limits=False)
@site_options
def caller(place: SitePlace) -> None:
    """Show user, group and role of the caller, and what is used of the quotas."""
    found = place.client().get("api", "caller")
    group = f", group {displayed(str(found['group']))}" if found["group"] else ""
    say(f"{displayed(str(found['user']))} ({displayed(str(found['role']))}{group})")
    table = Table("Quota", "Of", "Used", "Limit", box=box.SIMPLE, pad_edge=False)
    for one in found["quotas"]:
        limit = "" if one["limit"] is None else f"{one['limit']:g}"
        table.add_row(displayed(str(one["quota"])), displayed(str(one["of"])), f"{one['used']:g}", limit)
    show_table(table)

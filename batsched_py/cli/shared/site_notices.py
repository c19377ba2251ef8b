"""`batsched-py site notice`: short texts of operators to all users of a live site."""

from __future__ import annotations

import click
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import COMMON, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import option
from batsched_py.cli.shared.repetition import OnceGroup
from batsched_py.cli.shared.site_options import SitePlace, site_options, with_offset
from batsched_py.cli.shared.terminal import say
from batsched_py.text.display import displayed, displayed_line


@click.group(cls=OnceGroup, no_args_is_help=True)
def notice() -> None:
    """Publish, list and remove notices to all users of a live site."""


notice.params += COMMON


@typed_command(limits=False)
@click.argument("text")
@option("--until", "TIME", "End on the wall clock: a date and time, or +HH:MM:SS from now.")
@site_options
def add(place: SitePlace, text: str, until: str | None) -> None:
    """Publish TEXT, one line, on the page and in the commands that list. Only for operators."""
    more = {} if until is None else {"until": with_offset("--until", until)}
    made = place.client().post("api", "notices", body={"text": text, **more})
    say(f"Notice ID: {displayed(str(made['number']))}")


@typed_command(limits=False)
@site_options
def listed(place: SitePlace) -> None:
    """List the notices that have not ended."""
    found = place.client().get("api", "notices")
    if not found:
        say("There are no notices.")
        return
    table = Table("ID", "By", "Published", "Until", "Text", box=box.SIMPLE, pad_edge=False)
    for one in found:
        cells = (displayed(str(one[name] or "")) for name in ("number", "by", "published", "until"))
        table.add_row(*cells, displayed_line(str(one["text"])))
    show_table(table, folded=len(table.columns) - 1)


@typed_command(limits=False)
@click.argument("number", metavar="ID", type=click.IntRange(1))
@site_options
def remove(place: SitePlace, number: int) -> None:
    """Remove the notice ID. Only for operators."""
    place.client().delete("api", "notices", number)


for _part, _name in ((add, "add"), (listed, "list"), (remove, "remove")):
    notice.add_command(_part, _name)

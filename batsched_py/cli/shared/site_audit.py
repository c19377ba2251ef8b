"""`batsched-py site audit`: who did what at a site, from its folder."""

from __future__ import annotations

from collections import deque
from pathlib import Path

import click
import msgspec
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import FOLDER, flag, option
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.site.audit import AuditEntry, read_audit
from batsched_py.site.folder import AUDIT
from batsched_py.text.display import displayed


@typed_command(limits=False)
@click.argument("folder", type=FOLDER, metavar="DIR")
@option("--user", "NAME", "Only the calls of this user.", default="")
@flag("--refused", "Only refused calls.")
@option("--last", "N", "Only the last N of these.", type=click.IntRange(1))
@flag("--json", "Print JSON lines.")
def audit(folder: Path, user: str, last: int | None, *, refused: bool, json: bool) -> None:
    """List who did what at the site with the folder DIR, which may be running: changes and refused calls."""
    entries = (one for one in read_audit(folder / AUDIT) if not user or one.user == user)
    found = deque((one for one in entries if not refused or one.status >= 400), maxlen=last)
    if json:
        say_all(msgspec.json.encode(one).decode() for one in found)
    elif found:
        show_table(_table(found))
    else:
        say("There are no entries.")


def _table(entries: deque[AuditEntry]) -> Table:
    names = ("Date", "Time", "User", "Role", "Call", "Status", "Result")
    table = Table(*names, box=box.SIMPLE, pad_edge=False)
    for one in entries:
        call, result = f"{one.method} {one.path}", one.problem or one.made
        cells = (one.date, f"{one.time:g}", one.user, one.role, call, str(one.status), result)
        table.add_row(*map(displayed, cells))
    return table

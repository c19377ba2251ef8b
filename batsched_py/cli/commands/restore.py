"""`batsched-py restore`: the files of a live site, from a backup."""

from __future__ import annotations

from pathlib import Path

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.parameters import FOLDER, option
from batsched_py.cli.shared.terminal import say
from batsched_py.site.backups import restore
from batsched_py.text.wording import counted, seconds


@typed_command(limits=False)
@click.argument("backup", metavar="BACKUP", type=FOLDER)
@option("--data", "DIR", "Folder of the site, without the files of a site.", type=FOLDER, default="site-data")
def command(backup: Path, data: Path) -> None:
    """Copy journal, transcript, notices and audit log of BACKUP into the folder of a live site, which must not run."""
    copied = restore(backup, data)
    say(f"restored {counted(copied.requests, 'request')}; the site goes on at t={seconds(copied.time)}")

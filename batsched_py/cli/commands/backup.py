"""`batsched-py backup`: a copy of the files of a live site, which may be running."""

from __future__ import annotations

from pathlib import Path

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.parameters import FOLDER, option
from batsched_py.cli.shared.terminal import say
from batsched_py.site.backups import back_up
from batsched_py.text.wording import counted, seconds


@typed_command(limits=False)
@click.argument("target", metavar="BACKUP", type=FOLDER)
@option("--data", "DIR", "Folder of the site.", type=FOLDER, default="site-data")
def command(target: Path, data: Path) -> None:
    """Copy journal, transcript, notices and audit log of a live site into the new folder BACKUP.

    The site may run meanwhile. The copy is checked, and is a site of its own: `restore` puts it back.
    """
    copied = back_up(data, target)
    say(f"backed up {counted(copied.requests, 'request')}, until t={seconds(copied.time)}")

"""`batsched-py restore`: the files of a live site, from a backup."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import Struct

from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.parameters import FOLDER, option
from batsched_py.cli.shared.terminal import say
from batsched_py.site.backups import restore
from batsched_py.text.wording import counted, seconds


class RestoreRequest(Struct, frozen=True):
    """The options of `restore`."""

    backup: Path
    data: Path


@takes(RestoreRequest, limits=False)
@click.argument("backup", metavar="BACKUP", type=FOLDER)
@option("--data", "DIR", "Folder of the site, without the files of a site.", type=FOLDER, default="site-data")
def command(request: RestoreRequest) -> None:
    """Copy the journal and the transcript of BACKUP into the folder of a live site, which must not run."""
    copied = restore(request.backup, request.data)
    say(f"restored {counted(copied.requests, 'request')}; the site goes on at t={seconds(copied.time)}")

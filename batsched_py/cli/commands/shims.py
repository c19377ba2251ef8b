"""`batsched-py shims`: commands under the names of other programs, for what starts these."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Final

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import FOLDER
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import InputError
from batsched_py.files.atomic_file import create_files_atomically
from batsched_py.files.output_file import make_folder, naming_errors

#: Name of a command -> its module.
SHIMS: Final = {"batsched": "batsched_py.cli.batsched", "batsim": "batsched_py.cli.batsim"}
#: The permission to execute, for all.
_EXECUTABLE: Final = 0o111


@typed_command(limits=False)
@click.argument("folder", metavar="DIR", type=FOLDER)
def command(folder: Path) -> None:
    """Write the commands `batsched` and `batsim` into DIR, with the options of batsched 1.4 and Batsim 4.2.1.

    Programs that start these, such as WRENCH and batsim-py, find them if DIR comes first in PATH. They use the Python
    of this call. A file that exists is not overwritten.
    """
    texts = {folder / name: _script(module) for name, module in SHIMS.items()}
    check_writable(texts)
    for path, text in texts.items():
        make_folder(path)
        with naming_errors(path):
            try:
                create_files_atomically({path: text.encode()})
            except FileExistsError as error:
                raise InputError(str(path), "", "exists already, and is not overwritten") from error
            path.chmod(path.stat().st_mode | _EXECUTABLE)
        say(f"wrote {path}")
    say("next:")
    say(f'  export PATH={shlex.quote(str(folder.absolute()))}:"$PATH"')


def _script(module: str) -> str:
    """Return a script of the shell. Python must not look for modules in the folder in which it is called (-P)."""
    return f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -P -m {module} "$@"\n'

"""The platforms and workloads that come with an installation, for where there is no clone to take them from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import click

import batsched_py
from batsched_py.cli.shared.terminal import say

#: In a clone, links to platforms/ and workloads/; in an installation, copies of them.
_EXAMPLES: Final = Path(batsched_py.__file__).parent / "examples"
_FOLDERS: Final = ("platforms", "workloads")


def find_example(path: Path) -> Path | None:
    """Return the installed file for a path like platforms/cluster32.xml, or None if there is no such example."""
    if len(path.parts) != 2 or path.parts[0] not in _FOLDERS or path.parts[1] == "..":
        return None
    example = _EXAMPLES / path
    return example if example.is_file() else None


class InputPath(click.Path):
    """A file to read. An example's path leads to the installed file if no such file exists here, with a note."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return the path as it is, or that of the example."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        example = None if path.exists() else find_example(path)
        if example is None:
            return path
        say(f"note: {path} is not here; reading the example that comes with batsched-py", err=True)
        return example


#: A platform or a workload: the reader of the file says what is wrong with it, and names it.
INPUT: Final = InputPath()

"""The example platforms and workloads of batsched-py, under their names in a clone."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import batsched_py

#: In a clone, links to platforms/ and workloads/; in an installation, copies of them.
_EXAMPLES: Final = Path(batsched_py.__file__).parent / "examples"
_FOLDERS: Final = ("platforms", "workloads")


def find_example(path: Path) -> Path | None:
    """Return the installed file for a path like platforms/cluster32.xml; None if there is no such example."""
    if len(path.parts) != 2 or path.parts[0] not in _FOLDERS or path.parts[1] == "..":
        return None
    example = _EXAMPLES / path
    return example if example.is_file() else None


def path_or_example(path: Path) -> Path:
    """Return the path if the file exists, else that of the example with this name, else the path unchanged."""
    return path if path.exists() else find_example(path) or path


def display_path(path: Path) -> str:
    """Return the path of a file as text; for an example of batsched-py, its name independent of the installation."""
    return str(path.relative_to(_EXAMPLES) if path.is_relative_to(_EXAMPLES) else path)

"""The files of an algorithm: its code, that of its options, and documents that these name, told by their content."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import batsched_py
from batsched_py.reporting.imported_files import find_module, imported_files
from batsched_py.results.run_file import OtherFile, content_hash

#: A file of Python code, with what is meant in it.
_CODE: Final = re.compile(r"(.+\.py)(?::\w+)?")


def files_of_algorithm(
    algorithm: str,
    options: Mapping[str, Any],
    options_file: Path | None = None,
    *,
    folder: Path | None = None,
    loaded: Collection[str] = (),
) -> tuple[OtherFile, ...]:
    """Return the files of an algorithm: its code and that of its options, and documents that these name. InputError.

    The code is what a text names, and what that imports from its own folder or from `folder`, where modules are looked
    for (the current one, if None); `loaded` are names of modules that were loaded with it. Built-in things and
    installed packages are told by their versions.
    """
    place = folder or Path.cwd()
    given = {name: value for name, value in options.items() if isinstance(value, str)}
    code = {"algorithm": _code(algorithm, place)}
    found = {**code, "options file": options_file}
    for name, text in given.items():
        role = f"option {name}"
        code[role] = _code(text, place)
        found[role] = code[role] or _document(text)
    for path in code.values():
        if path is not None:
            found |= {f"module {name}": _told(one) for name, one in imported_files(path, place, loaded).items()}
    return tuple(OtherFile(str(path), content_hash(path), role) for role, path in found.items() if path is not None)


def _code(text: str, folder: Path) -> Path | None:
    """Return the file of the code that a text like file.py:Class or package.module:Class names; None for a name."""
    found = _CODE.fullmatch(text)
    if found is not None:
        return Path(found[1]) if os.path.isfile(found[1]) else None
    path = find_module(text.partition(":")[0], folder) if ":" in text else None
    if path is None or path.is_relative_to(os.path.dirname(batsched_py.__file__)):
        return None
    return _told(path)


def _told(path: Path) -> Path:
    """Return the path as it is told: relative to the current folder, if it is in there."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _document(text: str) -> Path | None:
    """Return the file that an option names, if there is one of that name, which has an ending."""
    return Path(text) if os.path.splitext(text)[1] and os.path.isfile(text) else None  # False for any text, long or odd

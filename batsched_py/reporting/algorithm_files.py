"""The files of an algorithm, with hashes: its code, the code of its options, and documents that options name."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import batsched_py
from batsched_py.files.bounded_file import read_content
from batsched_py.files.included_files import read_included
from batsched_py.loading import PYBATSIM_PREFIX
from batsched_py.plugins import is_built_in, load
from batsched_py.reading.included_file import IncludedFile
from batsched_py.reporting.imported_files import find_module, imported_files
from batsched_py.results.run_file import OtherFile, content_hash

#: A file of Python code, with an optional name in it.
_CODE: Final = re.compile(r"(.+\.py)(?::\w+)?")


def files_of_algorithm(
    algorithm: str,
    options: Mapping[str, Any],
    options_file: Path | None = None,
    *,
    folder: Path | None = None,
    loaded: Collection[str] = (),
) -> tuple[OtherFile, ...]:
    """Return the files of an algorithm: its code, the code of its options, and documents that options name. InputError.

    The code is the named file, and all that it imports from its folder or from `folder`, where modules are searched
    (None for the current folder), and for a scheduler of pybatsim from the folder above; `loaded` are names of modules
    that were loaded with it. Built-in algorithms and installed packages are not included: their versions identify them.
    """
    place = folder or Path.cwd()
    given = {name: value for name, value in options.items() if isinstance(value, str)}
    code = {"algorithm": _code(algorithm, place)}
    found = {**code, "options file": options_file}
    for name, text in given.items():
        role = f"option {name}"
        code[role] = _code(text, place)
        found[role] = code[role] or _document(text)
    for role, path in code.items():
        if path is not None:
            # Schedulers of pybatsim also import from the folder above their own.
            searches_above = role == "algorithm" and algorithm.startswith(PYBATSIM_PREFIX)
            further = [path.resolve().parent.parent] if searches_above else []
            modules = imported_files(path, place, loaded, further)
            found |= {f"module {name}": _relative(one) for name, one in modules.items()}
    found |= _included(algorithm, {name: path for name in given if (path := found[f"option {name}"]) is not None})
    return tuple(OtherFile(str(path), content_hash(path), role) for role, path in found.items() if path is not None)


def _included(algorithm: str, documents: Mapping[str, Path]) -> dict[str, Path]:
    """Return the files that the documents of options include, by role. InputError."""
    if not (documents and is_built_in(algorithm)):
        return {}
    includes = {field.name: field.metadata.get("includes") for field in fields(load(algorithm).options_type)}
    found: dict[str, Path] = {}
    for name, path in documents.items():
        if names_in := includes.get(name):
            included = read_included(path, str(path), read_content(path), names_in)
            names = sorted({one.name for one in included.values() if isinstance(one, IncludedFile)})
            found |= {f"option {name}: {os.path.relpath(one, path.parent)}": Path(one) for one in names}
    return found


def _code(text: str, folder: Path) -> Path | None:
    """Return the code file of a text like file.py:Class or package.module:Class; None for another.

    After "pybatsim:" also that of one like package.module.
    """
    name = text.removeprefix(PYBATSIM_PREFIX)
    found = _CODE.fullmatch(name)
    if found is not None:
        return Path(found[1]) if os.path.isfile(found[1]) else None
    module, colon, _ = name.partition(":")
    path = find_module(module, folder) if colon or (name != text and "." in module) else None
    if path is None or path.is_relative_to(os.path.dirname(batsched_py.__file__)):
        return None
    return _relative(path)


def _relative(path: Path) -> Path:
    """Return the path for the description: relative to the current folder, if inside it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _document(text: str) -> Path | None:
    """Return the file that an option's value names; None if no file has this name, or it has no suffix."""
    return Path(text) if os.path.splitext(text)[1] and os.path.isfile(text) else None  # False for any text, long or odd

"""The files of an algorithm, with hashes: its code, the code of its options, and documents that options name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import batsched_py
from batsched_py.files.bounded_file import read_content
from batsched_py.files.included_files import read_included
from batsched_py.loading import PYBATSIM_PREFIX
from batsched_py.plugins import load
from batsched_py.reading.included_file import IncludedFile
from batsched_py.reporting.imported_files import find_module, imported_files
from batsched_py.results.run_file import OtherFile, content_hash
from batsched_py.scheduling.base import Scheduler

#: A file of Python code, with an optional name in it.
_CODE: Final = re.compile(r"(.+\.py)(?::\w+)?")


def files_of_algorithm(
    algorithm: str,
    options: Mapping[str, Any],
    options_file: Path | None = None,
    *,
    folder: Path | None = None,
    loaded: Collection[str] = (),
    find_class: Callable[[str], type[Scheduler[Any]]] = load,
) -> tuple[OtherFile, ...]:
    """Return the files of an algorithm: its code, the code of its options, and documents that options name.

    The code is the named file, and all that it imports from its folder or from `folder`, where modules are searched
    (None for the current folder), and for a scheduler of pybatsim from the folder above; `loaded` are names of modules
    that were loaded with it. Built-in algorithms and installed packages are not included: their versions identify them.
    Documents come with the files that they include, as the options of the class declare; `find_class` is asked for the
    class only if there are documents. InputError, PluginError.
    """
    place = folder or Path.cwd()
    given = {name: value for name, value in options.items() if isinstance(value, str)}
    code = {"algorithm": _code(algorithm, place)}
    found = {**code, "options file": options_file}
    for name, text in given.items():
        role = f"option {name}"
        found[role] = code[role] = _code(text, place)
    for role, path in code.items():
        if path is not None:
            # Schedulers of pybatsim also import from the folder above their own.
            searches_above = role == "algorithm" and algorithm.startswith(PYBATSIM_PREFIX)
            further = [path.resolve().parent.parent] if searches_above else []
            modules = imported_files(path, place, loaded, further)
            found |= {f"module {name}": _relative(one) for name, one in modules.items()}
    # Values that are code are no documents; other values are, if files have these names.
    paths = {name: Path(text) for name, text in given.items() if not code[f"option {name}"] and os.path.isfile(text)}
    if paths:
        found |= _documents(paths, find_class(algorithm).options_type)
    return tuple(OtherFile(str(path), content_hash(path), role) for role, path in found.items() if path is not None)


def _documents(paths: Mapping[str, Path], options_type: type[Any]) -> dict[str, Path]:
    """Return, by role, the files that options name, and those that these include. InputError.

    A file without a suffix is a document only of an option that reads one: other values are names that a file has, too.
    """
    declared: dict[str, Mapping[str, Any]] = {field.name: field.metadata for field in fields(options_type)}
    found: dict[str, Path] = {}
    for name, path in paths.items():
        metadata = declared.get(name, {})
        if path.suffix or "parse" in metadata:
            found[f"option {name}"] = path
        if names_in := metadata.get("includes"):
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

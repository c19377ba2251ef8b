"""The files of an algorithm: its code, that of its options, and documents that these name, told by their content."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import batsched_py
from batsched_py.traces.run_file import OtherFile, content_hash

#: A file of Python code, with what is meant in it.
_CODE: Final = re.compile(r"(.+\.py)(?::\w+)?")


def files_of_algorithm(
    algorithm: str, options: Mapping[str, Any], options_file: Path | None = None
) -> tuple[OtherFile, ...]:
    """Return the files of an algorithm: its code and that of its options, and documents that these name. InputError.

    Code of a module is looked up where it was loaded from; built-in things are told by the version.
    """
    given = {name: value for name, value in options.items() if isinstance(value, str)}
    found = {"algorithm": _code(algorithm), "options file": options_file}
    found |= {f"option {name}": _code(text) or _document(text) for name, text in given.items()}
    return tuple(OtherFile(str(path), content_hash(path), role) for role, path in found.items() if path is not None)


def _code(text: str) -> Path | None:
    """Return the file of the code that a text like file.py:Class or package.module:Class names; None for a name."""
    found = _CODE.fullmatch(text)
    if found is not None:
        return Path(found[1]) if os.path.isfile(found[1]) else None
    module = sys.modules.get(text.partition(":")[0]) if ":" in text else None
    file = getattr(module, "__file__", None)
    if file is None or file.startswith(os.path.dirname(batsched_py.__file__) + os.sep):
        return None
    path = Path(file)
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _document(text: str) -> Path | None:
    """Return the file that an option names, if there is one of that name, which has an ending."""
    return Path(text) if os.path.splitext(text)[1] and os.path.isfile(text) else None  # False for any text, long or odd

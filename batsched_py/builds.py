"""The build of the package: its code, and if its performance-critical modules are compiled, as in some wheels."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from importlib.machinery import SOURCE_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import batsched_py

#: Packages for display, web sites or tests, which do not affect the result of a run.
_WITHOUT_EFFECT: Final = frozenset({"campaigns", "cli", "examples", "haizea", "site", "testing"})

#: One of the modules, which are either all compiled or none.
_ONE_OF_THEM: Final = "batsched_py.bits"


def describe_build() -> str:
    """Return the kind of the build: "compiled" or "pure Python"."""
    found = find_spec(_ONE_OF_THEM)
    source = found is not None and (found.origin or "").endswith(tuple(SOURCE_SUFFIXES))
    return "pure Python" if source else "compiled"


@cache
def code_digest() -> str:
    """Return the SHA-256 of the modules that affect results: simulator, algorithms, metrics and their dependencies.

    The version alone is not enough: in a clone, algorithms change between releases.
    """
    digest = hashlib.sha256()
    root = os.path.dirname(batsched_py.__file__)
    for path in sorted(_modules(root)):
        digest.update(os.path.relpath(path, root).encode() + b"\0" + Path(path).read_bytes() + b"\0")
    return digest.hexdigest()


def _modules(root: str) -> Iterator[str]:
    for folder, folders, files in os.walk(root, followlinks=True):  # in a clone, schedulers is a link
        if folder == root:
            folders[:] = [name for name in folders if name not in _WITHOUT_EFFECT]
        yield from (os.path.join(folder, name) for name in files if name.endswith(".py"))

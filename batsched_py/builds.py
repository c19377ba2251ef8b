"""How the package was built: some wheels have the modules in which runs spend their time as machine code."""

from __future__ import annotations

from importlib.machinery import SOURCE_SUFFIXES
from importlib.util import find_spec
from typing import Final

#: One of the modules that are compiled together, or not at all.
_ONE_OF_THEM: Final = "batsched_py.bits"


def describe_build() -> str:
    """Return "compiled" or "pure Python"."""
    found = find_spec(_ONE_OF_THEM)
    source = found is not None and (found.origin or "").endswith(tuple(SOURCE_SUFFIXES))
    return "pure Python" if source else "compiled"

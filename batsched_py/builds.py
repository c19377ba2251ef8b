"""The build of the package: some wheels have compiled versions of the performance-critical modules."""

from __future__ import annotations

from importlib.machinery import SOURCE_SUFFIXES
from importlib.util import find_spec
from typing import Final

#: One of the modules, which are either all compiled or none.
_ONE_OF_THEM: Final = "batsched_py.bits"


def describe_build() -> str:
    """Return the kind of the build: "compiled" or "pure Python"."""
    found = find_spec(_ONE_OF_THEM)
    source = found is not None and (found.origin or "").endswith(tuple(SOURCE_SUFFIXES))
    return "pure Python" if source else "compiled"

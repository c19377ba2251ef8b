"""Packages that come with an extra: asked for before work begins, imported only when used."""

from __future__ import annotations

from importlib.util import find_spec

from batsched_py.errors import ExtraError


def require(package: str, use: str, extra: str) -> None:
    """ExtraError unless the package is installed; it is not imported. `use` is what needs it, "gantt -o" say."""
    if find_spec(package) is None:
        raise ExtraError(use, package, extra)

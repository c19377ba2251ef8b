"""Modules of user code, which each run loads anew, so that no state is carried from run to run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.campaigns.variant import Variant
from batsched_py.plugins import is_built_in

#: The folder that was last added to Python's path; it is kept because an algorithm may be loaded again.
_LOOKED_INTO: Final = set[str]()


@contextmanager
def forgotten_modules(variant: Variant, folder: str) -> Iterator[None]:
    """Unload, at the end, the modules that user code has loaded; modules of installed packages stay loaded.

    If an option or the algorithm names code, `folder` is searched for modules, as other commands search the current
    folder.
    """
    if not runs_user_code(variant):
        yield
        return
    if any(":" in text or text.endswith(".py") for text in _texts(variant)):
        _look_into(folder)
    before = set(sys.modules)
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name not in before and not _is_installed(name)]:
            del sys.modules[name]


def runs_user_code(variant: Variant) -> bool:
    """Return True if an algorithm or one of its options names code that is not built in."""
    names, texts = not isinstance(variant.algorithm, str), _texts(variant)
    return names or not is_built_in(texts[0]) or any(":" in text or text.endswith(".py") for text in texts)


def _texts(variant: Variant) -> list[str]:
    return [text for text in (variant.algorithm, *variant.options.values()) if isinstance(text, str)]


def _look_into(folder: str) -> None:
    """Add a folder to Python's path, and remove that of another campaign, whose modules may have the same names."""
    for other in _LOOKED_INTO - {folder}:
        if other in sys.path:
            sys.path.remove(other)
        _LOOKED_INTO.discard(other)
    if folder not in sys.path:
        sys.path.append(folder)
        _LOOKED_INTO.add(folder)


def _is_installed(name: str) -> bool:
    """Return True for modules of Python, of installed packages and of batsched-py."""
    file = getattr(sys.modules[name], "__file__", None)
    if file is None:
        return True
    package = Path(batsched_py.__file__).parent
    return "site-packages" in Path(file).parts or any(
        Path(file).is_relative_to(root)
        for root in (package, package.parent / "schedulers", os.path.dirname(os.__file__))
    )

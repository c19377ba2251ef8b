"""Modules of users, which each run loads anew, so that no run sees what another left in them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.campaigns.study import Variant
from batsched_py.plugins import is_built_in

#: The folder that was put on Python's path last, if it was not there; it stays for those who load an algorithm again.
_LOOKED_INTO: Final = set[str]()


@contextmanager
def forgotten_modules(variant: Variant, folder: str) -> Iterator[None]:
    """Forget, at the end, the modules that an algorithm of the user's has loaded; those of installed packages stay.

    `folder` is looked into for modules, as the current folder is by other commands, if a text names code.
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
    """Return True if an algorithm, or what its options name, is not ours alone."""
    names, texts = not isinstance(variant.algorithm, str), _texts(variant)
    return names or not is_built_in(texts[0]) or any(":" in text or text.endswith(".py") for text in texts)


def _texts(variant: Variant) -> list[str]:
    return [text for text in (variant.algorithm, *variant.options.values()) if isinstance(text, str)]


def _look_into(folder: str) -> None:
    """Let Python look for modules in a folder, and no more in the one of another campaign: it may have namesakes."""
    for other in _LOOKED_INTO - {folder}:
        if other in sys.path:
            sys.path.remove(other)
        _LOOKED_INTO.discard(other)
    if folder not in sys.path:
        sys.path.append(folder)
        _LOOKED_INTO.add(folder)


def _is_installed(name: str) -> bool:
    """Return True for modules of Python, of installed packages and of ours."""
    file = getattr(sys.modules[name], "__file__", None)
    if file is None:
        return True
    ours = Path(batsched_py.__file__).parent
    return "site-packages" in Path(file).parts or any(
        Path(file).is_relative_to(root) for root in (ours, ours.parent / "schedulers", os.path.dirname(os.__file__))
    )

"""Checks of the output files of a command, before the work begins."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from batsched_py.files.output_file import naming_errors

#: The option or argument that names a file, and the file; None if it was not given.
Named = tuple[str, Path | None]


def check_apart(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """Check that no file is both read and written, or written twice. UsageError."""
    seen: dict[object, str] = {}
    for name, path in inputs:
        if path is not None:
            seen.setdefault(_identity(path), name)
    for name, path in outputs:
        if path is None or _takes_anything(path):
            continue
        other = seen.setdefault(_identity(path), name)
        if other != name:
            raise click.UsageError(f"'{other}' and '{name}' name the same file, {path}")


def check_writable(paths: Iterable[Path | None]) -> None:
    """Check that files can be written, as far as this is possible without changing anything. InputError."""
    for path in paths:
        if path is not None:
            with naming_errors(path):
                _check(path)


def _identity(path: Path) -> object:
    """Return a key that is equal for all paths of a file."""
    real = Path(os.path.realpath(path))  # the meaning of out/../file after the creation of the folder out
    try:
        found = real.stat()
    except OSError:
        return real
    return found.st_dev, found.st_ino


def _takes_anything(path: Path) -> bool:
    """Return whether it is a device or pipe, which may be written twice: nothing in it is replaced."""
    return path.exists() and not path.is_file()


def _check(path: Path) -> None:
    real = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = stat.S_IFREG
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        _ask(path, os.W_OK)
        return
    folder = next(folder for folder in real.parents if folder.exists())
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    _ask(folder, os.W_OK | os.X_OK)


def _ask(path: Path, right: int) -> None:
    if not os.access(path, right):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

"""The output files of a command: checks before the work begins, and writing with errors that name the file."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from batsched_py.errors import InputError

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


def existing_folder(path: Path) -> Path:
    """Return the folder of a file, or the nearest existing folder above it."""
    return next(folder for folder in Path(os.path.realpath(path)).parents if folder.is_dir())


def make_folder(path: Path) -> None:
    """Create the folder of a file. InputError."""
    with naming_errors(path):
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Create the folder of a file, and convert errors in writing it into InputErrors."""
    make_folder(path)
    with naming_errors(path):
        yield


@contextmanager
def naming_errors(path: Path) -> Iterator[None]:
    """Convert OSErrors into InputErrors of one line with the file's name."""
    try:
        yield
    except OSError as error:
        raise InputError(str(path), "", f"cannot be written: {error.strerror or error}") from error


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

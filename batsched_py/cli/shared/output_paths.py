"""Files that a command is going to write: none of them is another file of the command, and each can be written."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

from batsched_py.errors import InputError

#: How a user named a file (an option, an argument), and the file; None if it was not named.
Named = tuple[str, Path | None]


def check_apart(inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """UsageError if a file to be written is also one to be read, or is to be written twice."""
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
    """InputError if one of the files cannot be written, as far as can be known before; nothing is made or changed."""
    for path in paths:
        if path is None:
            continue
        try:
            _check(path)
        except OSError as error:
            raise write_failure(path, error) from error


def make_folder(path: Path) -> None:
    """Make the folder of a file that will be written; InputError if that is not possible."""
    try:
        Path(os.path.realpath(path)).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_failure(path, error) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Around what writes a file: its folder is made, and what fails is an InputError."""
    make_folder(path)
    try:
        yield
    except OSError as error:
        raise write_failure(path, error) from error


def _identity(path: Path) -> object:
    """Equal for two names of one file, however they are spelled."""
    real = Path(os.path.realpath(path))  # what out/../file is once the folder out was made
    try:
        found = real.stat()
    except OSError:
        return real
    return found.st_dev, found.st_ino


def _takes_anything(path: Path) -> bool:
    """Devices and pipes may be written twice: nothing in them is replaced."""
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


def write_failure(path: Path, error: OSError) -> InputError:
    """The error in one line, with the file's name."""
    return InputError(str(path), "", f"cannot be written: {error.strerror or error}")

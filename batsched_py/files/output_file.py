"""Writing of output files: folders are created, and errors name the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from batsched_py.errors import InputError


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

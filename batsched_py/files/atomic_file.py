"""Atomic writes: files are replaced or created completely, or not at all."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

from batsched_py.signals import held_back

#: Characters of a file's name in that of its temporary file, whose whole name has a limit.
_PREFIX: Final = 32
#: Errors of file systems without hard links.
_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK)


def write_atomically(path: Path, content: bytes, *, synced: bool = False) -> None:
    """Replace the file atomically, as `write_pieces_atomically` does. OSError."""
    write_pieces_atomically(path, (content,), synced=synced)


def write_pieces_atomically(path: Path, pieces: Iterable[bytes], *, synced: bool = False) -> None:
    """Replace the file atomically: a reader sees the old content or the new one, never a part. OSError.

    The pieces are written one by one: a large file is never in memory as a whole. With `synced` they are on disk before
    the file is replaced, so that it is never empty after a crash of the machine.

    A symbolic link is kept and its target replaced; a replaced file keeps its mode. Devices and pipes are written to.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        with path.open("wb") as file:
            file.writelines(pieces)
        return
    target = Path(os.path.realpath(path))
    permissions = _new_mode() if mode is None else stat.S_IMODE(mode)
    with _temporary(target, pieces, permissions, synced=synced) as temporary:
        os.replace(temporary, target)


def create_files_atomically(contents: Mapping[Path, bytes]) -> None:
    """Create all of these files, or none; FileExistsError if one exists already, OSError.

    On a file system without hard links some of them may remain if the machine stops in the middle.
    """
    with ExitStack() as stack:
        temporaries = {
            path: stack.enter_context(_temporary(path, (content,), _new_mode())) for path, content in contents.items()
        }
        made: list[Path] = []
        with held_back():  # few and small files: signals are not delayed for long
            try:
                for path, temporary in temporaries.items():
                    _create(path, temporary)
                    made.append(path)
            except BaseException:
                for path in made:
                    path.unlink(missing_ok=True)
                raise


@contextmanager
def _temporary(path: Path, pieces: Iterable[bytes], permissions: int, *, synced: bool = False) -> Iterator[Path]:
    """Create a file in the folder of `path`, and remove it at the end of the context unless it was renamed."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name[:_PREFIX]}.", delete=False) as file:
        temporary = Path(file.name)
        try:
            file.writelines(pieces)
            file.flush()
            temporary.chmod(permissions)
            if synced:
                os.fsync(file.fileno())
            yield temporary
        finally:
            temporary.unlink(missing_ok=True)


def _create(path: Path, temporary: Path) -> None:
    """Create `path`, which must not exist, from the temporary file; completely or not at all."""
    try:
        os.link(temporary, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        with path.open("xb") as file:
            try:
                file.write(temporary.read_bytes())
                file.flush()
            except BaseException:
                path.unlink(missing_ok=True)
                raise


def _mode(path: Path) -> int | None:
    """Return type and permissions of `path`, or of the target of that link; None if nothing exists."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _new_mode() -> int:
    """Return the permissions of a new file: temporary files are private at first."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask

"""A file that is replaced at once or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile


def write_atomically(path: Path, content: bytes) -> None:
    """Replace the file at once, as `write_pieces_atomically` does. OSError."""
    write_pieces_atomically(path, (content,))


def write_pieces_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace the file at once: a reader sees the old content or the new one, never a part. OSError.

    The pieces are written one after the other, so that a large file is never in memory as a whole.

    A link stays and its target is replaced; a file that is replaced keeps its mode. A device or a pipe is written into.
    """
    mode = _mode(path)
    if mode is not None and not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        with path.open("wb") as file:
            file.writelines(pieces)
        return
    _replace(Path(os.path.realpath(path)), pieces, _new_mode() if mode is None else stat.S_IMODE(mode))


def _replace(path: Path, pieces: Iterable[bytes], permissions: int) -> None:
    """Write beside `path` and rename over it."""
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as temporary:
        temporary_path = Path(temporary.name)
        try:
            temporary.writelines(pieces)
            temporary.flush()
            temporary_path.chmod(permissions)
            os.replace(temporary_path, path)
        except BaseException:
            temporary_path.unlink(missing_ok=True)
            raise


def _mode(path: Path) -> int | None:
    """What `path` or the target of that link is, with its permissions; None if there is nothing yet."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _new_mode() -> int:
    """Permissions of a new file: temporary files are born private."""
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask

"""Temporary storage of text on disk, which saves memory."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Self

from batsched_py.files.atomic_file import write_pieces_atomically

#: Number of bytes in one write.
_BLOCK: Final = 1 << 20


class TextSpool:
    """Lines in an anonymous temporary file, which the system removes even if this process is killed. OSError."""

    def __init__(self, folder: Path) -> None:
        """Open the temporary file in `folder`, which must exist."""
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  (closed with this object)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Discard the lines."""
        self._file.close()

    def put(self, text: str) -> None:
        """Append lines, each with its line end."""
        self._file.write(text.encode())

    def write_below(self, header: str, path: Path) -> None:
        """Write a header and all lines to a file, which is replaced completely or not at all."""
        self._file.seek(0)
        blocks = iter(partial(self._file.read, _BLOCK), b"")
        write_pieces_atomically(path, chain((f"{header}\n".encode(),), blocks))

"""Text that is put aside on disk until it is wanted, so that it takes no memory."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final, Self

from batsched_py.traces.atomic_file import write_pieces_atomically

#: Bytes that are written at once.
_BLOCK: Final = 1 << 20


class TextAside:
    """Lines in a file without a name, which is gone when it is closed, whatever becomes of this process. OSError."""

    def __init__(self, folder: Path) -> None:
        """`folder` is where the text waits, which must exist."""
        self._file = TemporaryFile(dir=folder)  # noqa: SIM115  (closed with this object)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, text: str) -> None:
        """Add lines, each with its end."""
        self._file.write(text.encode())

    def write_below(self, header: str, path: Path) -> None:
        """Write a header and all lines; the file is replaced whole or not at all."""
        self._file.seek(0)
        blocks = iter(partial(self._file.read, _BLOCK), b"")
        write_pieces_atomically(path, chain((f"{header}\n".encode(),), blocks))

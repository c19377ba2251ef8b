"""Notes on the files of a run: contents that are ignored, and files that are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from batsched_py.reading.notes import Notes

#: The reason why a table is left out.
OTHER_COLUMNS: Final = "columns of batsched-py's table are missing"


class FileNotes:
    """The notes on the files of a run, in the order in which they are read."""

    def __init__(self) -> None:
        self._notes: list[Notes | str] = []

    def add(self, *lines: str) -> None:
        """Add complete lines."""
        self._notes += lines

    def of(self, path: Path) -> Notes:
        """Return new notes on one file, whose lines are included here."""
        notes = Notes(path.name)
        self._notes.append(notes)
        return notes

    def lines(self) -> tuple[str, ...]:
        """Return all notes, one per line."""
        return tuple(line for one in self._notes for line in ((one,) if isinstance(one, str) else one.lines()))

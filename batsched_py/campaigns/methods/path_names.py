"""The names of input files in texts for others, which do not show where the files are on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePath

from msgspec import Struct


class PathNames(Struct, frozen=True):
    """The names of files below a folder, relative to it, and of other absolute paths, by their last part.

    Attributes:
        folder: the folder; "" for none.
        known: files that texts may name, such as errors and warnings.
    """

    folder: str = ""
    known: tuple[str, ...] = ()

    @staticmethod
    def below(folder: Path, known: Iterable[Path | str]) -> PathNames:
        """Return the names for a folder; `known` are files with a path, absolute or from the current folder."""
        paths = {form for path in known for form in (str(path), os.path.abspath(path)) if PurePath(form).name != form}
        return PathNames(str(folder), tuple(sorted(paths, key=lambda path: (-len(path), path))))

    def of(self, path: str) -> str:
        """Return the name of a file, which may be followed by ":Class"; any other text is returned unchanged."""
        file, colon, rest = path.partition(":")
        for folder in (self.folder, os.path.abspath(self.folder)) if self.folder else ():
            if folder != "." and PurePath(file).is_relative_to(folder):
                return str(PurePath(file).relative_to(folder)) + colon + rest
        return PurePath(file).name + colon + rest if os.path.isabs(file) else path

    def text(self, text: str) -> str:
        """Return a text in which all known files, and files in the folder, have their names."""
        for path in self.known:
            text = text.replace(path, self.of(path))
        return text.replace(os.path.join(os.path.abspath(self.folder), ""), "") if self.folder else text

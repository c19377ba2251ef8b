"""Files that a file includes: those in its folder and below, each of which is read once.

The names are text of a file, which may come from anyone: none of them opens a file elsewhere.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from batsched_py.errors import WorkloadError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.included_file import IncludedFile, IncludedFiles
from batsched_py.reading.limits import LIMITS, Limits

#: Returns the names of files that a content includes.
NamesIn = Callable[[bytes], Iterable[str]]
#: A relative path without links upwards and without characters that need quotes.
_NAME: Final = re.compile(r"(?!.*(?:^|/)\.{1,2}(?:/|$))[\w.@+-]{1,100}(?:/[\w.@+-]{1,100}){0,9}", re.ASCII)
#: Maximum number of files.
_MOST: Final = 100
_NAME_RULE: Final = "must be a file in the same folder or below, such as nodes.conf or conf.d/nodes.conf"


def read_included(path: Path, name: str, content: bytes, names_in: NamesIn, limits: Limits = LIMITS) -> IncludedFiles:
    """Return the files that a file includes, and those that they include; for each name that breaks a rule, the rule.

    A name is relative to the folder of the file that has it. `name` is that of the first file for messages. At most
    100 files are read, of at most the size of one together, and none that includes itself.
    """
    collected = _IncludedFiles(path, names_in, limits)
    collected.visit(name, path.parent, content)
    return collected.found


class _IncludedFiles:
    """The files that one file includes."""

    def __init__(self, path: Path, names_in: NamesIn, limits: Limits) -> None:
        self._names_in, self._limits, self._left = names_in, limits, limits.file_size
        self._root = os.path.realpath(path.parent)
        #: The files that include the present one, it among them.
        self._above = [os.path.realpath(path)]
        self._known: dict[str, IncludedFile] = {}
        self.found: dict[tuple[str, str], IncludedFile | str] = {}

    def visit(self, name: str, folder: Path, content: bytes) -> None:
        """Note what a file of this name includes."""
        for included in self._names_in(content):
            if (name, included) not in self.found:
                self.found[name, included] = self._read(folder, included)

    def _read(self, folder: Path, name: str) -> IncludedFile | str:
        if not _NAME.fullmatch(name):
            return _NAME_RULE
        path = folder / name
        real = os.path.realpath(path)
        if not Path(real).is_relative_to(self._root):
            return _NAME_RULE
        if not os.path.isfile(real):
            return f"names {path}, which is no file"
        if real in self._above:
            return "must not include the file itself, also by others"
        return self._known.get(real) or self._open(real, path)

    def _open(self, real: str, path: Path) -> IncludedFile | str:
        if len(self._known) == _MOST:
            return f"must not be of more than {_MOST} files"
        try:
            content = read_content(Path(real), self._limits)
        except WorkloadError as error:
            return f"names {path}, which {error.rule}"
        self._left -= len(content)
        if self._left < 0:
            return self._limits.rule("file_size")
        made = self._known[real] = IncludedFile(str(path), content)
        self._above.append(real)
        self.visit(made.name, path.parent, content)
        self._above.pop()
        return made

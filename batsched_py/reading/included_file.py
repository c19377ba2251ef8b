"""A file that another one includes, by the name that the other one has for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class IncludedFile(NamedTuple):
    """The content of a file, and its path for messages."""

    name: str
    content: bytes


#: Path of a file, and a name in it -> the file that it includes, or the rule that the name breaks.
IncludedFiles = Mapping[tuple[str, str], IncludedFile | str]
NO_INCLUDED_FILES: Final[IncludedFiles] = MappingProxyType({})

"""The use of the columns of a file of jobs: each one is read, or named as unread."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class ColumnUse(Struct, frozen=True):
    """The columns of a file, or the fields of its lines.

    Attributes:
        read: name of a column -> its use, such as "submission time" or "member queue".
        unread: the names of the other columns, in the order of the file.
        preset: the public data whose columns these are; "" if the user said what they mean.
    """

    read: Mapping[str, str]
    unread: tuple[str, ...]
    preset: str = ""

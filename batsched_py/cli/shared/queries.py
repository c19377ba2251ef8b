"""Queries on a command line."""

from __future__ import annotations

from typing import Final

from batsched_py.cli.shared.terminal import warn
from batsched_py.collection.mil.expression import Expression
from batsched_py.collection.mil.parser import parse
from batsched_py.errors import QueryError
from batsched_py.text.display import displayed

#: Characters of a query that are shown before and behind a mistake.
_AROUND: Final = 30


def parse_query(text: str) -> Expression:
    """Return the query; its mistake is shown with a caret before the error is raised."""
    try:
        return parse(text)
    except QueryError as error:
        begin = max(0, error.position - _AROUND)
        before = displayed(text[begin : error.position])
        warn(before + displayed(text[error.position : error.position + _AROUND]))
        warn(" " * len(before) + "^")
        raise

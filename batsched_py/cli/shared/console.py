"""Tables and pictures on standard output: in full width in a pipe, never cut silently on a terminal."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from typing import Any, Final, NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from batsched_py.cli.shared.long_table import LongTable, is_long
from batsched_py.text.display import escaped
from batsched_py.text.wording import counted

#: Characters that a line of a table in a pipe or a file may have: enough for any.
WIDEST: Final = 100_000
#: Characters for a column that is folded.
_NARROWEST: Final = 12


class Output(Console):
    """A console that obeys nothing in what it prints, and raises BrokenPipeError when its reader goes away.

    In text from outside rich would obey its own markup and most control characters, and end the program with exit code
    1 for a closed pipe.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        """Render the text as it is, on one line, without markup."""
        return super().render_str(escaped(text), **{**options, "markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape the text of segments; rich's own control segments, which move the cursor, stay as they are."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(escaped, segment.text.split("\n"))), segment.style)

    def on_broken_pipe(self) -> NoReturn:
        """Raise BrokenPipeError, which the program answers."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def show_table(table: Table, folded: int | None = None) -> None:
    """Print the table: in full width in a pipe, on a terminal without the columns that do not fit.

    Columns that are left out are named below. The column with the number `folded` takes as many lines as it needs. The
    table may be changed.
    """
    console = Output()
    if not console.is_terminal:
        show_whole(table)
        return
    if is_long(table) and needed_width(table) <= console.width:
        show_whole(table)
        return
    left_out = _leave_out(table, console.width, None if folded is None else table.columns[folded])
    console.print(table)
    if left_out:
        names = f": {', '.join(left_out)}" if all(left_out) else ""
        note = f"{counted(len(left_out), 'column')} left out, for which {console.width} characters are too few{names}"
        console.print(note, highlight=False)


def show_whole(table: Table) -> None:
    """Print the table in full width; a terminal folds what does not fit."""
    if is_long(table):
        console = Output()
        for line in LongTable(table).lines():
            console.out(line, highlight=False)
        return
    Output(width=needed_width(table)).print(table)


def show_picture(console: Console, picture: RenderableType) -> None:
    """Print lines that were made for the console's width; a terminal folds those that are longer all the same."""
    console.print(picture, soft_wrap=True)


def needed_width(table: Table) -> int:
    """Return the number of characters of the widest line if nothing is folded."""
    if is_long(table):
        return LongTable(table).width
    console = Output()
    return console.measure(table, options=console.options.update(width=WIDEST)).maximum


def _leave_out(table: Table, width: int, folded: Column | None) -> list[str]:
    """Remove columns, the last first, until the others fit, and return their headings. The first column stays."""
    left_out: list[str] = []
    for column in table.columns:  # rich folds or cuts what it may: it may fold one
        column.no_wrap, column.overflow = column is not folded, "fold"
    while len(table.columns) > 1 and _least_width(table, folded) > width:
        others = [column for column in table.columns[1:] if column is not folded]
        column = (others or table.columns)[-1]
        left_out.insert(0, str(column.header))
        table.columns.remove(column)
    if len(table.columns) == 1:
        table.columns[0].no_wrap, table.columns[0].min_width = False, None
    return left_out


def _least_width(table: Table, folded: Column | None) -> int:
    """Return the width that the table needs if this column is as narrow as it can be read."""
    if folded is None or folded not in table.columns:
        return needed_width(table)
    before = folded.max_width
    folded.max_width = max(_NARROWEST, folded.min_width or 0)
    try:
        return needed_width(table)
    finally:
        folded.max_width = before

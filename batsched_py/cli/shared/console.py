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

#: Maximum length of a table's line in a pipe or a file: enough for any table.
WIDEST: Final = 100_000
#: Minimum width of a folded column.
_NARROWEST: Final = 12


class Output(Console):
    """A console that interprets no markup or control characters, and raises BrokenPipeError for a closed pipe.

    rich would interpret markup and most control characters in text from outside, and exit with code 1 for a closed
    pipe.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        """Render the text literally, on one line, without markup."""
        return super().render_str(escaped(text), **{**options, "markup": False, "emoji": False})

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Escape the text of segments, but not rich's own control segments, which move the cursor."""
        for segment in super().render(renderable, options):
            if segment.control or segment.text.isprintable():
                yield segment
            else:
                yield Segment("\n".join(map(escaped, segment.text.split("\n"))), segment.style)

    def on_broken_pipe(self) -> NoReturn:
        """Raise BrokenPipeError, which the program handles."""
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def show_table(table: Table, folded: int | None = None) -> None:
    """Print the table in full width in a pipe, or without the columns that do not fit on a terminal.

    Omitted columns are listed below the table. The column with the number `folded` is wrapped. The table may be
    modified.
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
    """Print the table in full width; a terminal wraps lines that do not fit."""
    if is_long(table):
        console = Output()
        for line in LongTable(table).lines():
            console.out(line, highlight=False)
        return
    Output(width=needed_width(table)).print(table)


def show_picture(console: Console, picture: RenderableType) -> None:
    """Print lines made for the console's width; a terminal wraps longer ones."""
    console.print(picture, soft_wrap=True)


def needed_width(table: Table) -> int:
    """Return the length of the widest line if nothing is folded."""
    if is_long(table):
        return LongTable(table).width
    console = Output()
    return console.measure(table, options=console.options.update(width=WIDEST)).maximum


def _leave_out(table: Table, width: int, folded: Column | None) -> list[str]:
    """Remove columns from the last on until the others fit, and return their headings. The first column is kept."""
    left_out: list[str] = []
    for column in table.columns:  # rich folds or truncates columns unless forbidden: only one may be folded
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
    """Return the width of the table with the minimum readable width of this column."""
    if folded is None or folded not in table.columns:
        return needed_width(table)
    before = folded.max_width
    folded.max_width = max(_NARROWEST, folded.min_width or 0)
    try:
        return needed_width(table)
    finally:
        folded.max_width = before

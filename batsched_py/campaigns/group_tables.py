"""Groups of jobs as tables for terminals and pages: a row for each group and algorithm, then who gains and loses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import islice
from typing import Final

from rich import box
from rich.table import Table
from rich.text import Text

from batsched_py.campaigns.group_waits import GroupedWaits, GroupWaits
from batsched_py.reporting.pictures.html import markup
from batsched_py.text.display import displayed
from batsched_py.text.wording import NARROW_BLANK, NOTHING, aligned, counted, grouped

#: The largest numbers of groups in a table of a terminal, and of a page.
MOST_GROUPS: Final = 30
MOST_ON_PAGE: Final = 20
#: Columns after the algorithm.
_HEADINGS: Final = ("jobs", "mean wait", "median", "95th pct.", "slowdown", "change", "earlier/same/later")
#: Usual digits of waits in seconds, and of slowdowns.
_WAIT_DIGITS: Final = 1
_SLOWDOWN_DIGITS: Final = 2


def group_table(comparison: GroupedWaits) -> Table:
    """Return a table with the first MOST_GROUPS groups; the last line has the number of the others."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column(Text(displayed(comparison.by)), no_wrap=True)
    table.add_column("algorithm", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for cells in _rows(comparison, MOST_GROUPS):
        table.add_row(*(Text(displayed(cell)) for cell in cells))
    left_out = len(comparison.groups) - MOST_GROUPS
    if left_out > 0:
        table.caption, table.caption_justify = f"{counted(left_out, 'group')} more in --groups and --json", "left"
    return table


def group_parts(comparison: GroupedWaits) -> Iterator[str]:
    """Yield the same as parts of a page, with the first MOST_ON_PAGE groups."""
    count = len(comparison.groups)
    more = f", the first {MOST_ON_PAGE} of {grouped(count, NARROW_BLANK)}" if count > MOST_ON_PAGE else ""
    name = displayed(comparison.by)
    rows = [[escape(displayed(cell)) for cell in cells] for cells in _rows(comparison, MOST_ON_PAGE)]
    yield markup.plain_table(f"Waits in seconds by {name}{more}", [name, "algorithm", *_HEADINGS], rows, "groups")
    yield from map(markup.paragraph, comparison.verdicts())


def explain_groups(baseline: str) -> str:
    """Return the legend of the tables."""
    return (
        "Waits of groups of jobs in seconds, over the jobs of all workloads. change: mean over the jobs that ran under"
        f" both of the wait minus that under {displayed(baseline)}; earlier/same/later: how many of them waited less,"
        " as long, longer."
    )


def _rows(comparison: GroupedWaits, most: int) -> Iterator[list[str]]:
    """Yield the cells of the first groups; the numbers of a column have the same number of decimals."""
    groups = list(islice(comparison.groups.values(), most))
    rows = [row for group in groups for row in group]
    columns = [
        [str(row.jobs) for row in rows],
        *_aligned_times(rows),
        aligned([row.mean_bounded_slowdown for row in rows], _SLOWDOWN_DIGITS),
        _signed(aligned([None if row.change is None else row.change.wait for row in rows], _WAIT_DIGITS)),
        [_balance(row) for row in rows],
    ]
    firsts = {id(group[0]) for group in groups}
    for row, *cells in zip(rows, *columns, strict=True):
        yield [row.group if id(row) in firsts else "", row.variant, *cells]


def _aligned_times(rows: Sequence[GroupWaits]) -> Iterator[list[str]]:
    for values in zip(*((row.mean_wait, row.median_wait, row.p95_wait) for row in rows), strict=True):
        yield aligned(values, _WAIT_DIGITS)


def _signed(texts: Sequence[str]) -> list[str]:
    return [text if text == NOTHING or text.startswith("-") else f"+{text}" for text in texts]


def _balance(row: GroupWaits) -> str:
    change = row.change
    return NOTHING if change is None else f"{change.earlier}/{change.same}/{change.later}"

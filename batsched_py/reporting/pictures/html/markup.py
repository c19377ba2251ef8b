"""HTML elements, in which all text from outside is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

from msgspec import Struct

#: Dash patterns of lines in a legend, as in the charts, in pixels.
_DASHES: Final = ("", "7 4", "2 3", "7 3 2 3", "11 4", "11 3 2 3")
_COLOURS: Final = 6
#: The opacity of the hottest cell's colour, on which text is still readable.
_MOST_HEAT: Final = 0.6

#: The mark before the best value of a metric: a star, and a word for screen readers.
BEST: Final = '<span class="mark" aria-hidden="true">★</span><span class="heard">best: </span>'


def section(name: str, title: str, *parts: str) -> str:
    """Return a section with a heading; `name` is the target of links."""
    inside = "\n".join(part for part in parts if part)
    heading = f'<h2 id="{name}-title">{escape(title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">\n{heading}\n{inside}\n</section>'


def paragraph(text: str, kind: str = "quiet") -> str:
    """Return a paragraph of text."""
    return f'<p class="{kind}">{escape(text)}</p>'


def grouped(parts: Iterable[str]) -> str:
    """Return small tables side by side, as far as there is room."""
    inside = "\n".join(parts)
    return f'<div class="tables">{inside}</div>'


def plain_table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[str]], kind: str = "") -> str:
    """Return a table with cells of HTML; the first cell of a row is its heading. `kind` is its class, for its style."""
    return table(caption, _heads(heads), _plain_rows(rows), kind)


def grouped_table(
    caption: str, first: str, heads: tuple[str, ...], groups: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    """Return a plain table whose columns are repeated for each group, with the names of the groups above."""
    width = len(heads)
    above = "".join(f'<th scope="colgroup" colspan="{width}">{escape(name)}</th>' for name in groups)
    columns = f"<colgroup></colgroup>{f'<colgroup span={width}></colgroup>' * len(groups)}"
    return table(
        caption,
        f"<tr><td></td>{above}</tr>{_heads([first, *heads * len(groups)])}",
        _plain_rows(rows),
        "groups",
        columns,
    )


def _heads(names: Sequence[str]) -> str:
    head = "".join(f'<th scope="col">{escape(name)}</th>' if name else "<td></td>" for name in names)
    return f"<tr>{head}</tr>"


def _plain_rows(rows: Iterable[Sequence[str]]) -> Iterable[str]:
    return (
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
        for first, *cells in rows
    )


class HeatCell(Struct, frozen=True):
    """A cell of a heat map: its text, its tooltip, and the strength of its colour from 0 to 1."""

    text: str
    tooltip: str
    heat: float


def heat_table(caption: str, heads: Sequence[str], rows: Iterable[tuple[str, Sequence[HeatCell]]]) -> str:
    """Return a table with coloured cells."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    lines = (f'<tr><th scope="row">{escape(name)}</th>{"".join(map(_heat, cells))}</tr>' for name, cells in rows)
    return table(caption, f"<tr>{head}</tr>", lines, kind="heat")


def _heat(cell: HeatCell) -> str:
    if not cell.text:
        return "<td></td>"
    title = f' title="{escape(cell.tooltip)}"' if cell.tooltip else ""
    return f'<td style="--heat: {_MOST_HEAT * cell.heat:.2f}"{title}>{escape(cell.text)}</td>'


def words(text: str) -> str:
    """Return a cell of a plain table for text, which may wrap."""
    return f'<span class="words">{escape(text)}</span>'


def table(caption: str, head: str, rows: Iterable[str], kind: str = "", columns: str = "") -> str:
    """Return a table of rows of HTML, which may be wider than the page."""
    body, attribute = "\n".join(rows), f' class="{kind}"' if kind else ""
    return (
        f'<div class="wide"><table{attribute}><caption>{escape(caption)}</caption>{columns}\n'
        f"<thead>{head}</thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


def job_button(name: str, number: int) -> str:
    """Return a button that shows a job in the Gantt charts."""
    return f'<button type="button" data-job="{number}" title="show it in the Gantt charts">{escape(name)}</button>'


def _line(number: int, *, dashed: bool) -> str:
    """Return the line of a run, as in the charts."""
    pattern = _DASHES[number % len(_DASHES)] if dashed else ""
    dashes = f' stroke-dasharray="{pattern}"' if pattern else ""
    return (
        '<svg class="dash" width="34" height="10" aria-hidden="true">'
        f'<line x1="0" y1="5" x2="34" y2="5" stroke="var(--run-{number % _COLOURS})" stroke-width="2.5"{dashes}/></svg>'
    )


def run_legend(names: Sequence[str], *, dashed: bool) -> str:
    """Return a legend of the lines of runs; empty for a single run."""
    if len(names) < 2:
        return ""
    items = "".join(f"<li>{_line(number, dashed=dashed)}{escape(name)}</li>" for number, name in enumerate(names))
    return f'<ul class="legend">{items}</ul>'


def pattern_legend(marks: Iterable[tuple[str, str]]) -> str:
    """Return a legend of patterns, given as (kind, name); empty without any."""
    items = "".join(f'<li><span class="swatch mark-{escape(kind)}"></span>{escape(name)}</li>' for kind, name in marks)
    return f'<ul class="legend" id="patterns">{items}</ul>' if items else ""


def chart(name: str, title: str, note: str, alternative: str) -> str:
    """Return a placeholder for a chart of Plotly; `alternative` describes it in words."""
    place = (
        f'<div class="chart" id="{name}" role="group" aria-roledescription="chart" '
        f'aria-label="{escape(alternative)}"></div>'
    )
    return _figure_of(name, title, note, place)


def gantt(number: int, name: str, note: str, alternative: str) -> str:
    """Return a placeholder for the Gantt chart of a run; `alternative` describes it in words."""
    place = (
        f'<canvas id="gantt-{number}" tabindex="0" role="application" aria-roledescription="Gantt chart" '
        f'aria-label="{escape(alternative)}" aria-describedby="keys"></canvas>'
    )
    return _figure_of(f"gantt-{number}", name, note, place)


def _figure_of(name: str, title: str, note: str, place: str) -> str:
    caption = f'<figcaption><h3 id="{name}-title">{escape(title)}</h3><p>{escape(note)}</p></figcaption>'
    return f'<figure aria-labelledby="{name}-title">{caption}{place}</figure>'

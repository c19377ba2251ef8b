"""The report on a conversion: what was kept, dropped and assumed, as JSON for programs and as Markdown for people.

A paper that uses a converted log states where its jobs come from: the file by its hash, the rules that left out rows,
the columns that were not read, the defaults where nothing was said, and the version of the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import orjson
from msgspec import Struct, to_builtins

import batsched_py
from batsched_py.results.run_file import InputFile
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted
from batsched_py.traces.cleaning_report import CleaningReport
from batsched_py.traces.column_use import ColumnUse


class CountedRule(Struct, frozen=True):
    """A rule that counted rows, with the places of the first ones."""

    rule: str
    effect: str
    count: int
    line: str
    examples: Sequence[str]


class ConversionReport(Struct, frozen=True):
    """The outcome of `convert`.

    Attributes:
        input: the file that was read.
        format: name of its format.
        rows: number of its rows; each one is kept, or counted under a rule that is "dropped", "left out" or "passed
            over".
        kept: number of rows that became jobs or leases.
        rules: the rules that counted something, in the order of the catalogue.
        columns: the use of its columns; None for files without columns.
        assumed: a sentence for each default that was used.
        notes: a line for each part of the file without effect.
        options: options as given, without those that name output files.
        outputs: the files that were written; none if no job was kept.
        further: the other files of the log, in order.
        version: version of batsched-py.
    """

    input: InputFile
    format: str
    rows: int
    kept: int
    rules: Sequence[CountedRule]
    columns: ColumnUse | None
    assumed: Sequence[str]
    notes: Sequence[str]
    options: Mapping[str, str]
    outputs: Sequence[InputFile]
    further: Sequence[InputFile] = ()
    version: str = batsched_py.__version__

    def json(self) -> bytes:
        """Return the report as JSON: the same conversion gives the same bytes."""
        return orjson.dumps(to_builtins(self), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    def markdown(self) -> bytes:
        """Return the report as a page in Markdown."""
        return "\n".join([*self._lines(), ""]).encode()

    def _lines(self) -> Iterator[str]:
        yield f"# Conversion of {_shown(self.input.path)}"
        yield ""
        yield f"By batsched-py {self.version}, as {self.format}: {counted(self.rows, 'row')}, {self.kept} kept."
        yield ""
        files = (self.input, *self.further, *self.outputs)
        yield from _table(("file", "SHA-256"), [(one.path, one.sha256 or "unknown: no file") for one in files])
        yield from _section("Rules", ("rule", "effect", "rows", "meaning", "first ones"), self._rule_rows())
        yield from _section("Assumed", ("default",), [(text,) for text in self.assumed])
        if self.columns is not None:
            preset = f" of the preset {self.columns.preset}" if self.columns.preset else ""
            read = [(name, use) for name, use in self.columns.read.items()]
            rows = [*read, *((name, "not read") for name in self.columns.unread)]
            yield from _section(f"Columns{preset}", ("column", "use"), rows)
        yield from _section("Not obeyed", ("note",), [(text,) for text in self.notes])
        yield from _section("Options", ("option", "value"), self.options.items())

    def _rule_rows(self) -> Iterator[tuple[str, ...]]:
        for one in self.rules:
            yield one.rule, one.effect, str(one.count), one.line, "; ".join(one.examples)


def counted_rules(report: CleaningReport) -> list[CountedRule]:
    """Return the rules that counted something, with the places of the first rows."""
    return [
        CountedRule(rule.name, rule.effect, count, rule.line, report.places.get(rule.name, ()))
        for rule, count in report.applied()
    ]


def _section(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    cells = list(rows)
    if cells:
        yield from (f"## {title}", "")
        yield from _table(heads, cells)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table, and an empty one."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(map(_shown, row))} |"
    yield ""


def _shown(text: str) -> str:
    """Return a text of a file inside a cell: on one line, without marks of Markdown and HTML."""
    fit = displayed(text)
    for mark in "\\|<`*[":
        fit = fit.replace(mark, f"\\{mark}")
    return fit

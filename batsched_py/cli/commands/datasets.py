"""`batsched-py datasets`: public data on jobs, with its address, terms and citation, and the command to convert it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click
import orjson
from msgspec import to_builtins
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import flag
from batsched_py.cli.shared.terminal import put, say_all
from batsched_py.text.wording import counted
from batsched_py.traces.public_data import PublicData, citations_of, find_data, public_data


@typed_command(limits=False)
@click.argument("name", required=False)
@flag("--json as_json", "Print JSON: one object, or with all data a list.")
@flag("--bibtex", "Print entries for a bibliography.")
def command(name: str | None, *, as_json: bool, bibtex: bool) -> None:
    """List public data on jobs, or show that of NAME: its address, terms, citation and the command that converts it.

    Nothing is downloaded.
    """
    if as_json and bibtex:
        raise click.UsageError("'--json' and '--bibtex' are two formats")
    chosen = list(public_data().values()) if name is None else [find_data(name)]
    if as_json:
        objects = [_described(data) for data in chosen]
        content = objects if name is None else objects[0]
        put(orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE), is_json=True)
    elif bibtex:
        say_all("\n\n".join(citation.bibtex for citation in citations_of(*chosen)).splitlines())
    elif name is None:
        _list(chosen)
    else:
        say_all(_lines(chosen[0]))


def _described(data: PublicData) -> dict[str, object]:
    """Return the members of an object, with whole citations."""
    described: dict[str, object] = to_builtins(data)
    return {**described, "citations": to_builtins(citations_of(data))}


def _list(chosen: Iterable[PublicData]) -> None:
    table = Table("name", "jobs", "period", "data", box=box.SIMPLE, pad_edge=False)
    table.columns[1].justify = "right"
    for data in chosen:
        table.add_row(data.name, "" if data.jobs is None else str(data.jobs), data.period, data.title)
    show_table(table, folded=3)


def _lines(data: PublicData) -> Iterator[str]:
    yield data.title
    yield ""
    facts = {
        "machine": data.system,
        "period": data.period,
        "size": "" if data.jobs is None else counted(data.jobs, "job"),
        "address": data.address,
        "file": data.file,
        "sha256": data.sha256,
        "terms": data.terms,
    }
    width = max(map(len, facts))
    for fact, text in facts.items():
        if text:
            yield f"{fact:{width}}  {text}"
    yield ""
    yield f"batsched-py {data.command}" if data.command else "convert has no reader for this format."
    for citation in citations_of(data):
        yield ""
        yield from citation.bibtex.splitlines()

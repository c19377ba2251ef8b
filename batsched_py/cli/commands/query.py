"""`batsched-py query`: the hosts of a platform that match a query, and the reasons why others do not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import click
from msgspec import Struct
from rich import box
from rich.table import Table

from batsched_py.cli.shared.command import current_limits, typed_command
from batsched_py.cli.shared.console import show_table
from batsched_py.cli.shared.parameters import INPUT, flag, option
from batsched_py.cli.shared.query_arguments import QueryCommand, parse_query
from batsched_py.cli.shared.terminal import say, say_all, warn, warn_all
from batsched_py.collection.collection import Collection
from batsched_py.queries.explanation import explain, failures
from batsched_py.queries.expression import Expression
from batsched_py.queries.host_attributes import DYNAMIC, platform_records
from batsched_py.queries.records import Record, Requester, admits
from batsched_py.queries.values import NumericText, Value
from batsched_py.text.display import displayed
from batsched_py.text.wording import counted, did_you_mean
from batsched_py.traces.record_file import read_records
from batsched_py.traces.simgrid_xml import read_platform

#: Maximum length of a reason.
_LONGEST_REASON: Final = 400


class QueryRequest(Struct, frozen=True):
    """The options of `query`."""

    expression: str
    platform: Path | None
    records: Path | None
    plain: bool
    explain: bool
    attributes: bool
    user: str | None


@typed_command(kind=QueryCommand)
@click.argument("expression", metavar="EXPR", default="true")
@option("-p --platform", "FILE", "Platform, SimGrid XML, whose hosts are asked.", type=INPUT)
@option("--records", "FILE", "Records instead: a JSON list of objects with a name.", type=INPUT)
@flag("--plain", "Print nothing but names, one a line.")
@flag("--explain", "Explain why the other hosts are not found.")
@flag("--attributes", "Show which attributes there are.")
@option("--as user", "USER", "Leave out hosts that are certain to refuse this user.")
def command(request: QueryRequest) -> None:
    """List the hosts that match the query EXPR, such as '$arch == "x86" and $mem >= 512'.

    The page "Queries" of the documentation describes the query language.
    """
    if (request.platform is None) is (request.records is None):
        raise click.UsageError("one of '-p' and '--records' says whose records are asked")
    collection = _read(request)
    known = collection.attributes()
    if request.attributes:
        _show_attributes(known)
        return
    query = parse_query(request.expression)
    for name in sorted(query.names - known.keys()):
        suggestion = did_you_mean(name, known)
        warn(f"no record has ${displayed(name)}" + (f"; {suggestion}" if suggestion else ""))
    found = collection.query(query, requester=Requester(user=request.user))
    if request.plain:
        say_all(displayed(record.name) for record in found)
    else:
        _show(found, query)
        say(f"{len(found)} of {counted(len(collection.names()), 'record')}")
    if request.explain:
        _explain(collection, found, query, Requester(user=request.user))


def _read(request: QueryRequest) -> Collection:
    collection, limits = Collection(), current_limits()
    if request.records is not None:
        records: Iterator[tuple[str, Mapping[str, Value]]] = iter(read_records(request.records, limits))
    else:
        assert request.platform is not None  # noqa: S101  # one of both is given
        platform = read_platform(request.platform, limits=limits)
        warn_all(platform.notes)
        records = platform_records(platform)
    for name, attributes in records:
        collection.join(name, attributes)
    return collection


def _show(found: Sequence[Record], query: Expression) -> None:
    """Show records, with the attributes that the query reads."""
    names = sorted(query.names)
    table = Table("name", *map(displayed, names), box=box.SIMPLE, pad_edge=False)
    for record in found:
        table.add_row(displayed(record.name), *(_written(record.attributes.get(name)) for name in names))
    if found:
        show_table(table)


def _explain(collection: Collection, found: Sequence[Record], query: Expression, requester: Requester) -> None:
    there = {record.name for record in found}
    for record in collection.query():
        if record.name not in there:
            refuses = not admits(record.attributes, requester)
            why = "it would refuse who asks" if refuses else explain(query, record.attributes)
            say(f"{displayed(record.name)}: {displayed(why, _LONGEST_REASON)}")
    failed = Counter(failure for record in collection.query() for failure in failures(query, record.attributes).items())
    for (part, why_not), count in failed.items():
        say(f"{displayed(part, _LONGEST_REASON)} could not be computed of {counted(count, 'record')}: {why_not.value}")


def _show_attributes(known: Mapping[str, Sequence[Value]]) -> None:
    table = Table("attribute", "type", "records", "", "example", box=box.SIMPLE, pad_edge=False)
    for name, values in known.items():
        types = ", ".join(sorted({_type(value) for value in values}))
        kind = "changes in a run" if name in DYNAMIC else ""
        table.add_row(f"${displayed(name)}", types, str(len(values)), kind, _written(values[0]))
    show_table(table)


def _type(value: Value) -> str:
    if isinstance(value, bool):
        return "truth value"
    if isinstance(value, NumericText):
        return "text with a number"
    return "text" if isinstance(value, str) else "number"


def _written(value: Value | None) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else displayed(str(value))

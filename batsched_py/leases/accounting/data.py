"""Data of a run: all that its probes have counted, as a file in JSON, and its conversion to tables (H82, H94)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from msgspec import Struct

from batsched_py.leases.accounting.accounting import Figure
from batsched_py.leases.accounting.tables import COUNTERS, LEASES, STATS, fixed_columns
from batsched_py.model.table import Table
from batsched_py.text.display import displayed, shown

#: Name of the format, by which a file is recognised.
FORMAT: Final = "batsched-py lease data 1"
#: Digits of the number of a lease.
_DIGITS: Final = 15


class CounterEntry(NamedTuple):
    """A value from an instant on, and the average so far; None where the counter has none."""

    time: float
    lease: int | None
    value: int | float
    average: float | None


class RunData(Struct, frozen=True, forbid_unknown_fields=True):
    """What was counted in a run.

    Attributes:
        format: FORMAT.
        attributes: what tells the run from others, in order.
        stats: name -> figure of the run.
        lease_stats: name -> lease -> figure; numbers of leases as text, as JSON wants them.
        counters: name -> entries.
    """

    format: str
    attributes: dict[str, str]
    stats: dict[str, Figure]
    lease_stats: dict[str, dict[str, Figure]]
    counters: dict[str, tuple[CounterEntry, ...]]


def run_data(tables: Iterable[Table], attributes: Iterable[tuple[str, str]] = ()) -> RunData:
    """Return the data of a run from the tables that its ledger has given."""
    by_name = {table.name: table for table in tables}
    none = Table("", (), ())
    counters: dict[str, list[CounterEntry]] = {}
    for name, *entry in by_name.get(COUNTERS, none).rows:
        counters.setdefault(name, []).append(CounterEntry(*entry))
    leases = by_name.get(LEASES, none)
    rows = list(leases.rows)
    figures = {
        name: {str(row[0]): row[place] for row in rows if row[place] is not None}
        for place, name in enumerate(leases.header)
        if place >= fixed_columns()
    }
    return RunData(
        FORMAT,
        dict(attributes),
        dict(by_name.get(STATS, none).rows),  # type: ignore[arg-type]  # rows of two
        figures,
        {name: tuple(entries) for name, entries in counters.items()},
    )


def encode_data(data: RunData) -> bytes:
    """Return the content of a data file; the same data give the same bytes."""
    return msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n"


def decode_data(content: bytes) -> RunData:
    """Return the data in a file; ValueError with the rule that it breaks."""
    try:
        data = msgspec.json.decode(content, type=RunData)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"holds no data of leases: {error}") from None
    if data.format != FORMAT:
        raise ValueError(f"format: must be {FORMAT!r}")
    for name, values in data.lease_stats.items():
        for lease in values:
            if not (lease.isascii() and lease.isdecimal() and len(lease) <= _DIGITS):
                raise ValueError(f"lease_stats.{displayed(name)}: must have numbers of leases, not {shown(lease)}")
    return data


def counter_names(runs: Sequence[RunData]) -> list[str]:
    """Return the names of all counters, in their order."""
    return list(dict.fromkeys(name for run in runs for name in run.counters))


def per_run(runs: Sequence[RunData]) -> Table:
    """Return a table with a row for each run: its attributes, and its figures."""
    names = _names(run.stats for run in runs)
    return _table("per-run", runs, names, lambda run: iter([[run.stats.get(name) for name in names]]))


def per_lease(runs: Sequence[RunData]) -> Table:
    """Return a table with a row for each lease of each run: attributes, number and figures."""
    names = _names(run.lease_stats for run in runs)

    def rows(run: RunData) -> Iterator[list[Any]]:
        leases = sorted({int(lease) for values in run.lease_stats.values() for lease in values})
        for lease in leases:
            yield [lease, *(run.lease_stats.get(name, {}).get(str(lease)) for name in names)]

    return _table("per-lease", runs, ["lease_id", *names], rows)


def per_entry(runs: Sequence[RunData], counter: str) -> Table:
    """Return a table with a row for each entry of a counter in each run; averages if it has some.

    ValueError if a run has no such counter.
    """
    if any(counter not in run.counters for run in runs):
        raise ValueError(f"The specified datafile does not have a counter called '{displayed(counter)}'")
    averaged = any(entry.average is not None for run in runs for entry in run.counters[counter])
    header = ["time", "value", *(["average"] if averaged else [])]

    def rows(run: RunData) -> Iterator[list[Any]]:
        for entry in run.counters[counter]:
            yield [entry.time, entry.value, *([entry.average] if averaged else [])]

    return _table("counter", runs, header, rows)


def _table(
    name: str, runs: Sequence[RunData], header: Sequence[str], rows: Callable[[RunData], Iterator[list[Any]]]
) -> Table:
    """Return a table of the rows of all runs, each after the attributes of its run; one that it lacks is empty."""
    attributes = _names(run.attributes for run in runs)
    whole = [[*(run.attributes.get(one) for one in attributes), *row] for run in runs for row in rows(run)]
    return Table(name, (*attributes, *header), whole)


def _names(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))

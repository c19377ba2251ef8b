"""Queries: what one costs over many records, asked for the first time, after a change, and once more."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from batsched_py.collection.collection import Collection
from batsched_py.queries.parser import parse
from tests.constrained import KINDS

RECORDS: Final = 16_384
#: Queries, from plain to many parts.
QUERIES: Final = (
    '$arch == "x86"',
    '$arch == "x86" and $mem >= 1024 and $load < 0.5',
    'match("^(arm|power)", $arch) and $mem * 2 + 1 > 3000 or $id mod 7 == 0',
)


class Asked(NamedTuple):
    """A query, how many records it finds, and CPU seconds: the first time, after a change of one value, unchanged."""

    query: str
    found: int
    first: float
    changed: float
    unchanged: float


def measure_queries(records: int = RECORDS, repeats: int = 9) -> list[Asked]:
    """Ask all queries; the least of so many times counts."""
    rows = []
    for text in QUERIES:
        query = parse(text)
        best = [float("inf")] * 3
        for turn in range(repeats):
            hosts = _records(records)
            ask = partial(hosts.count, query)
            first = _seconds(ask)
            hosts.update("h0", {"load": 0.25 + turn / 1000})
            changed = _seconds(ask)
            unchanged = _seconds(ask)
            best = [min(pair) for pair in zip(best, (first, changed, unchanged), strict=True)]
        rows.append(Asked(text, hosts.count(query), *best))
    return rows


def _records(count: int) -> Collection:
    hosts = Collection()
    for number in range(count):
        arch, memory = KINDS[number % len(KINDS)]
        hosts.join(f"h{number}", {"id": number, "arch": arch, "mem": memory, "load": number % 10 / 10})
    return hosts


def _seconds(ask: Callable[[], int]) -> float:
    began = time.process_time()
    ask()
    return time.process_time() - began


def markdown(rows: Sequence[Asked], records: int = RECORDS) -> Iterator[str]:
    """The lines of the page's table."""
    yield f"| query over {records} records | found | first, ms | after a change, ms | unchanged, ms |"
    yield "|---|---|---|---|---|"
    for row in rows:
        text = row.query.replace("|", "\\|")
        times = " | ".join(f"{1e3 * seconds:.3g}" for seconds in (row.first, row.changed, row.unchanged))
        yield f"| `{text}` | {row.found} | {times} |"

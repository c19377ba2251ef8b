"""Tables of a run with leases: leases, reservations, images, and the counters and statistics of probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from batsched_py.leases.accounting.accounting import Accounting
from batsched_py.leases.accounting.built_in import BestEffortProbe
from batsched_py.leases.accounting.ledger import Ledger
from batsched_py.model.table import Table
from batsched_py.results.lease_rows import ImageRow, LeaseRow, ReservationRow

#: Statistics that the table of leases already has, for leases of all kinds.
_ANYWAY: Final = (BestEffortProbe.WAIT, BestEffortProbe.SLOWDOWN)
_NO_JOBS: Final[Mapping[int, str]] = MappingProxyType({})


def ledger_tables(ledger: Ledger, jobs: Mapping[int, str] = _NO_JOBS, images: Sequence[ImageRow] = ()) -> list[Table]:
    """Return the tables `leases` and `reservations`, and `images` if any image was cached.

    Probes add the tables `counters` and `stats`, and columns to `leases`.

    Args:
        ledger: the ledger of the run.
        jobs: number of a lease -> ids of its jobs.
        images: the images in the caches of hosts, now or earlier.
    """
    accounting = ledger.accounting
    tables = [_leases(ledger, jobs), Table("reservations", ReservationRow._fields, ledger.reservation_rows())]
    if images:
        tables.append(Table("images", ImageRow._fields, images))
    if accounting.counters:
        tables.append(Table("counters", ("counter", "time", "lease", "value", "average"), _entries(accounting)))
    if accounting.run_stats:
        tables.append(Table("stats", ("name", "value"), list(accounting.run_stats.items())))
    return tables


def _leases(ledger: Ledger, jobs: Mapping[int, str]) -> Table:
    figures = {name: values for name, values in ledger.accounting.lease_stats.items() if name not in _ANYWAY}
    rows = (
        (*row, jobs.get(row.lease), *(values.get(row.lease) for values in figures.values()))
        for row in ledger.lease_rows()
    )
    return Table("leases", (*LeaseRow._fields, "job", *figures), rows)


def _entries(accounting: Accounting) -> Iterator[tuple[Any, ...]]:
    for name, counter in accounting.counters.items():
        averages = counter.averages()
        for number, entry in enumerate(counter.entries):
            average = None if averages is None else averages[number]
            yield name, entry.time, entry.lease, entry.value, average

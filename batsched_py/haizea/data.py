"""Data files: the figures of a run's probes, as JSON, and tables of several of them (H82, H94)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from batsched_py.errors import InputError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.leases.accounting.accounting import Accounting, Figure
from batsched_py.leases.accounting.counters import Average, Counter, CounterChange, Number
from batsched_py.model.table import Table
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.text.display import displayed


class CounterData(Struct, frozen=True, forbid_unknown_fields=True):
    """A counter: its kind of average, and its entries as [time, lease, value]."""

    average: Average
    entries: list[tuple[float, int | None, Number]]

    def averages(self) -> Sequence[float] | None:
        """Return the average at each entry; None if it has none."""
        return Counter(self.average, [CounterChange(*entry) for entry in self.entries]).averages()


class RunData(Struct, frozen=True, forbid_unknown_fields=True):
    """The data of a run.

    Attributes:
        attributes: attributes that identify it.
        run: name of a figure of the run -> its value.
        leases: name of a figure -> lease -> its value, if it has one.
        counters: by name.
    """

    attributes: dict[str, str]
    run: dict[str, Figure]
    leases: dict[str, dict[int, Figure]]
    counters: dict[str, CounterData]


_DECODER: Final = msgspec.json.Decoder(RunData)


def write_data(path: Path, accounting: Accounting, attributes: Mapping[str, str]) -> None:
    """Write the figures; missing folders are created, the file is replaced atomically. OSError."""
    counters = {
        name: CounterData(counter.average, [(entry.time, entry.lease, entry.value) for entry in counter.entries])
        for name, counter in accounting.counters.items()
    }
    data = RunData(dict(attributes), accounting.run_stats, accounting.lease_stats, counters)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, msgspec.json.format(msgspec.json.encode(data), indent=1) + b"\n")


def read_data(path: Path, limits: Limits = LIMITS) -> RunData:
    """Read a data file. InputError names the file, and the member that breaks a rule."""
    with reported(path, InputError):
        content = read_file(path, limits)
    try:
        data = _DECODER.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(path), "", f"is not a data file: {displayed(str(error))}") from error
    for name, counter in data.counters.items():
        times = [time for time, _, _ in counter.entries]
        if times[:1] != [0] or any(after <= before for before, after in pairwise(times)):
            rule = "must have entries from 0 on, in order of time, one for each instant"
            raise InputError(str(path), f"counters.{displayed(name)}", rule)
    return data


def run_table(runs: Sequence[RunData]) -> Table:
    """Return a row for each run: its attributes, then its figures."""
    names = _names(run.run for run in runs)
    rows = [[*_cells(run, runs), *(run.run.get(name) for name in names)] for run in runs]
    return Table("run", [*_attributes(runs), *names], rows)


def lease_table(runs: Sequence[RunData]) -> Table:
    """Return a row for each lease of each run that has a figure: attributes, the lease, its figures."""
    names = _names(run.leases for run in runs)
    return Table("lease", [*_attributes(runs), "lease_id", *names], list(_lease_rows(runs, names)))


def counter_table(runs: Sequence[RunData], name: str) -> Table:
    """Return a row for each entry of a counter in each run: attributes, time, value, and the average if it has one.

    KeyError if a run has no counter of that name.
    """
    averaged = any(run.counters[name].average is not Average.NONE for run in runs)
    rows = list[list[Any]]()
    for run in runs:
        counter = run.counters[name]
        averages = chain(counter.averages() or (), repeat(None))
        for (time, _, value), average in zip(counter.entries, averages, strict=False):
            rows.append([*_cells(run, runs), time, value, *([average] if averaged else [])])
    return Table("counter", [*_attributes(runs), "time", "value", *(["average"] if averaged else [])], rows)


def _lease_rows(runs: Sequence[RunData], names: Sequence[str]) -> Iterator[list[Any]]:
    for run in runs:
        for lease in sorted({lease for figures in run.leases.values() for lease in figures}):
            yield [*_cells(run, runs), lease, *(run.leases.get(name, {}).get(lease) for name in names)]


def _attributes(runs: Sequence[RunData]) -> list[str]:
    return _names(run.attributes for run in runs)


def _cells(run: RunData, runs: Sequence[RunData]) -> list[str | None]:
    return [run.attributes.get(name) for name in _attributes(runs)]


def _names(mappings: Iterable[Mapping[str, object]]) -> list[str]:
    """Return the keys of all, each once, in the order in which they first appear."""
    return list(dict.fromkeys(chain.from_iterable(mappings)))

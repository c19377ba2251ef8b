"""The files of a run whose jobs request parts of hosts: where tasks ran, and what hosts have.

Batsim knows neither; they are written only if a job has a demand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import orjson

from batsched_py.bits import bits_of, format_bits
from batsched_py.files.atomic_file import write_atomically
from batsched_py.model.demand import WHOLE, HostCapacity, NamedAmounts
from batsched_py.model.table import Table, csv_text
from batsched_py.results.places import JobPlaces, MachineCapacity

#: Suffixes of the file names.
PLACES: Final = "_places.csv"
CAPACITIES: Final = "_capacities.csv"

PLACES_HEADER: Final = (
    "job_id,workload_name,host,tasks,whole,gpu_numbers,cores,memory,gpus,gpu_share,gpu_models,others,licences"
)
CAPACITIES_HEADER: Final = "hosts,cores,memory,gpus,gpu_model,others,licences"


def place_lines(jobs: Iterable[tuple[str, JobPlaces]]) -> str:
    """Return a line for each host of each job (id, places)."""
    rows = [row for job_id, places in jobs for row in _place_rows(job_id, places)]
    return csv_text(Table("places", PLACES_HEADER.split(","), rows)).partition("\n")[2]


def write_places(path: Path, jobs: Iterable[tuple[str, JobPlaces]]) -> None:
    """Write the places of jobs; the file is replaced completely or not at all. OSError."""
    write_atomically(path, f"{PLACES_HEADER}\n{place_lines(jobs)}".encode())


def write_capacities(path: Path, machine: MachineCapacity) -> None:
    """Write one row for each kind of host; the file is replaced completely or not at all. OSError."""
    numbers: dict[HostCapacity, list[int]] = {}
    for number, host in enumerate(machine.hosts):
        numbers.setdefault(host, []).append(number)
    licences = _named(machine.licences)
    rows = [
        (
            format_bits(bits_of(some)),
            thousandths_text(host.cores),
            host.memory,
            host.gpus,
            host.model,
            _named(host.others),
            licences,
        )
        for host, some in numbers.items()
    ]
    write_atomically(path, csv_text(Table("capacities", CAPACITIES_HEADER.split(","), rows)).encode())


def thousandths_text(amount: int) -> str:
    """Return thousandths as a number without trailing zeros: "0.5"."""
    whole, rest = divmod(amount, WHOLE)
    return f"{whole}.{rest:03}".rstrip("0") if rest else str(whole)


def _place_rows(job_id: str, found: JobPlaces) -> Iterator[Sequence[str | int]]:
    workload, _, name = job_id.partition("!")
    task = found.task
    models = orjson.dumps(task.models).decode() if task.models else ""
    amounts = (
        thousandths_text(task.cores),
        task.memory,
        task.gpus,
        thousandths_text(task.share),
        models,
        _named(task.others),
        _named(found.licences),
    )
    for place in found.places:
        yield name, workload, place.host, place.tasks, int(found.whole), " ".join(map(str, place.gpus)), *amounts


def _named(amounts: NamedAmounts) -> str:
    return " ".join(f"{name}:{amount}" for name, amount in amounts)

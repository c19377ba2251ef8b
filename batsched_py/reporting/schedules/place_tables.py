"""Readers of `_places.csv` and `_capacities.csv`: where the tasks of jobs ran, and what hosts have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.model.demand import MOST, MOST_CORES, MOST_GPUS, WHOLE, HostCapacity, NamedAmounts, TaskDemand
from batsched_py.model.host_room import TaskPlace
from batsched_py.model.resources import read_resources
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.results.place_files import CAPACITIES_HEADER, PLACES_HEADER
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.results.records import JobRecord
from batsched_py.text.display import shown

#: Largest difference of an amount in thousandths from a whole number that is due to rounding.
_ROUNDED: Final = 1e-3


def read_places(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> Mapping[str, JobPlaces] | None:
    """Read a `_places.csv`; return job id -> places. InputError names file, line, column and rule.

    None if columns are missing, because another program may use this file name. `notes` receives a line for each
    unknown column.
    """
    table = Tabular(path, limits)
    at = _columns(table, "places", PLACES_HEADER, notes)
    if at is None:
        return None
    found: dict[str, JobPlaces] = {}
    for row in table.rows():
        job_id = f"{row[at['workload_name']]}!{row[at['job_id']]}"
        one = _job_places(table, row, at)
        before = found.get(job_id)
        if before is None:
            found[job_id] = one
            continue
        if one.places[0].host <= before.places[-1].host:
            raise table.error(f"must be in the order of hosts, each once for {shown(job_id)}", column=at["host"])
        if replace(one, places=before.places) != before:
            raise table.error(f"has other amounts than the line before it, of {shown(job_id)} too")
        found[job_id] = replace(before, places=before.places + one.places)
    return found


def read_capacities(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> MachineCapacity | None:
    """Read a `_capacities.csv`. InputError names file, line, column and rule. None if columns are missing."""
    table = Tabular(path, limits)
    at = _columns(table, "capacities", CAPACITIES_HEADER, notes)
    if at is None:
        return None
    hosts: dict[int, HostCapacity] = {}
    licences: NamedAmounts = ()
    for row in table.rows():
        capacity = _capacity(table, row, at)
        for host in table.hosts(row, at["hosts"]):
            if hosts.setdefault(host, capacity) is not capacity:
                raise table.error(f"has host {host} of another line, too", column=at["hosts"])
        licences = _named(table, row, at["licences"])
    if sorted(hosts) != list(range(len(hosts))):
        raise InputError(str(path), "", f"must have all hosts from 0 to {max(hosts)}")
    return MachineCapacity(tuple(capacity for _, capacity in sorted(hosts.items())), licences)


def are_on(places: Mapping[str, JobPlaces], machine: MachineCapacity) -> bool:
    """Return whether the machine has the hosts and the GPUs of these places."""
    hosts = machine.hosts
    every = (place for one in places.values() for place in one.places)
    return all(place.host < len(hosts) and max(place.gpus, default=-1) < hosts[place.host].gpus for place in every)


def are_of(places: Mapping[str, JobPlaces], jobs: Sequence[JobRecord]) -> bool:
    """Return whether the places are those of jobs of a run: on their hosts, and of one of them at least, if any ran."""
    ran = {record.job.id: record for record in jobs if not record.rejected}
    pairs = [(ran[job_id], one) for job_id, one in places.items() if job_id in ran]
    fit = all(not one.hosts.bits & ~record.hosts.bits for record, one in pairs)
    return fit and bool(pairs or not places or not ran)


def _columns(table: Tabular, what: str, header: str, notes: Notes | None) -> Mapping[str, int] | None:
    """Return name -> column; None if one is missing. `notes` receives a line for each unknown column."""
    names = header.split(",")
    if not set(names) <= set(table.header):
        return None
    at = {name: table.column(name) for name in names}
    table.report_unknown(what, notes)
    return at


def _job_places(table: Tabular, row: Sequence[str], at: Mapping[str, int]) -> JobPlaces:
    """Return the places of a job on the host of one row."""
    host, tasks = table.count(row, at["host"]), table.count(row, at["tasks"])
    if host >= table.limits.hosts:
        raise table.error(table.limits.rule("hosts"), column=at["host"])
    if tasks < 1:
        raise table.error("must be at least 1, not 0", column=at["tasks"])
    whole = table.count(row, at["whole"])
    if whole > 1:
        raise table.error(f"must be 0 or 1, not {whole}", column=at["whole"])
    task = _task(table, row, at)
    gpus = _gpu_numbers(table, row, at["gpu_numbers"])
    if gpus and len(gpus) != tasks * task.gpus:
        raise table.error(f"must have {tasks * task.gpus} numbers, not {len(gpus)}", column=at["gpu_numbers"])
    if any(len(set(gpus[first : first + task.gpus])) < task.gpus for first in range(0, len(gpus), max(task.gpus, 1))):
        raise table.error("must have different GPUs for each task", column=at["gpu_numbers"])
    return JobPlaces(task, (TaskPlace(host, gpus, tasks),), bool(whole), _named(table, row, at["licences"]))


def _task(table: Tabular, row: Sequence[str], at: Mapping[str, int]) -> TaskDemand:
    share, models = _thousandths(table, row, at["gpu_share"], 1), _models(table, row, at["gpu_models"])
    amounts, others = _amounts(table, row, at), _named(table, row, at["others"])
    try:
        return TaskDemand(
            **amounts, share=share, models=models, others=others, exclusive=not (others or any(amounts.values()))
        )
    except ValueError as error:
        raise table.error(str(error)) from None


def _capacity(table: Tabular, row: Sequence[str], at: Mapping[str, int]) -> HostCapacity:
    amounts, others = _amounts(table, row, at), _named(table, row, at["others"])
    try:
        return HostCapacity(**amounts, model=row[at["gpu_model"]], others=others)
    except ValueError as error:
        raise table.error(str(error)) from None


def _amounts(table: Tabular, row: Sequence[str], at: Mapping[str, int]) -> dict[str, int]:
    return {
        "cores": _thousandths(table, row, at["cores"], MOST_CORES),
        "memory": _amount(table, row, at["memory"], MOST),
        "gpus": _amount(table, row, at["gpus"], MOST_GPUS),
    }


def _amount(table: Tabular, row: Sequence[str], column: int, most: int) -> int:
    amount = table.count(row, column)
    if amount > most:
        raise table.error(f"must be at most {most}, not {amount}", column=column)
    return amount


def _thousandths(table: Tabular, row: Sequence[str], column: int, most: int) -> int:
    """Return an amount with at most three decimals, in thousandths."""
    value = table.number(row, column)
    if not 0 <= value <= most or abs(value * WHOLE - round(value * WHOLE)) > _ROUNDED:
        rule = f"must be a number from 0 to {most} with at most three decimals, not {shown(row[column])}"
        raise table.error(rule, column=column)
    return round(value * WHOLE)


def _gpu_numbers(table: Tabular, row: Sequence[str], column: int) -> tuple[int, ...]:
    numbers = row[column].split()
    if not all(one.isdecimal() and one.isascii() and len(one) < 5 and int(one) < MOST_GPUS for one in numbers):
        rule = f"must be numbers of GPUs below {MOST_GPUS}, with blanks between them, not {shown(row[column])}"
        raise table.error(rule, column=column)
    return tuple(map(int, numbers))


def _models(table: Tabular, row: Sequence[str], column: int) -> tuple[str, ...]:
    if not row[column]:
        return ()
    try:
        found: Any = orjson.loads(row[column])
    except ValueError:
        found = None
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise table.error(f"must be a list of texts in JSON, not {shown(row[column])}", column=column)
    return tuple(found)


def _named(table: Tabular, row: Sequence[str], column: int) -> NamedAmounts:
    """Return amounts by name, from texts such as "fpga:2 nvme:800"."""
    try:
        found = read_resources(row[column])
        whole = {name: int(amount) for name, amount in found.items() if isinstance(amount, int) and amount <= MOST}
        if len(whole) < len(found):
            raise ValueError(f"must be whole numbers up to {MOST}")
    except ValueError as error:
        raise table.error(str(error), column=column) from None
    return tuple(sorted(whole.items()))

"""Readers of Batsim's other result files: figures of the run, energy, power states."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from batsched_py.errors import InputError
from batsched_py.files.bounded_file import read_content
from batsched_py.reading.json_document import parse_object
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.reporting.schedules.tabular import LARGEST, Tabular
from batsched_py.results.tracing import EnergyRows, PstateChange
from batsched_py.text.display import displayed, shown

#: Columns of a `_schedule.csv` that must be whole numbers, and those that are text.
_COUNTS: Final = frozenset({"nb_computing_machines", "nb_jobs"})
_TEXTS: Final = frozenset({"batsim_version"})
#: All columns of all versions of Batsim, and of batsim-py's `SimulationMonitor`.
_FIGURES: Final = frozenset(
    {"batsim_version", "consumed_joules", "makespan", "max_slowdown", "max_turnaround_time", "max_waiting_time"}
    | {"mean_slowdown", "mean_turnaround_time", "mean_waiting_time", "nb_computing_machines", "nb_grouped_switches"}
    | {"nb_jobs", "nb_jobs_finished", "nb_jobs_killed", "nb_jobs_rejected", "nb_jobs_success", "nb_machine_switches"}
    | {"scheduling_time", "simulation_time", "success_rate", "time_computing", "time_idle", "time_sleeping"}
    | {"time_switching_off", "time_switching_on", "time_unavailable"}
    | {"energy_waste", "max_stretch", "mean_pp_slowdown", "mean_stretch", "nb_switches"}
)
#: A member of Batsim 5's output with a value that is not valid JSON: nan or inf.
_NO_NUMBER: Final = re.compile(rb'(": *)-?(?:nan|inf)\b')


def read_schedule_row(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> Mapping[str, str]:
    """Return column -> value of a `_schedule.csv`, as written; InputError unless it has one row of numbers.

    `notes` receives a line for each unknown column.

    A file with the suffix `.json` is that of Batsim 5, an object of numbers. Means of a run without jobs, which Batsim
    5 writes as `-nan`, are left out.
    """
    if path.suffix == ".json":
        return _read_schedule_object(path, limits, notes)
    table = Tabular(path, limits)
    table.report_unknown("figures", notes, _FIGURES)
    rows = list(table.rows())
    if len(rows) != 1:
        raise InputError(table.file, "", f"must have one row below the names of the columns, not {len(rows)}")
    for column, name in enumerate(table.header):
        if name in _COUNTS:
            table.count(rows[0], column)
        elif name not in _TEXTS:
            table.number(rows[0], column)
    return dict(zip(table.header, rows[0], strict=True))


def _read_schedule_object(path: Path, limits: Limits, notes: Notes | None) -> Mapping[str, str]:
    content = _NO_NUMBER.sub(rb"\1null", read_content(path, limits))
    row, members = {}, parse_object(str(path), content)
    if notes is not None:
        Members("figures", _FIGURES, unknown=UnknownNames.REPORTED).check(members, notes)
    for name, value in members.items():
        if value is None:
            continue
        if name in _TEXTS:
            fits, expected = type(value) is str, "a text"
        elif name in _COUNTS:
            fits, expected = type(value) is int and 0 <= value <= LARGEST, "a whole number from 0"
        else:
            fits, expected = type(value) in (int, float) and abs(value) <= LARGEST, "a number"
        if not fits:
            raise InputError(str(path), displayed(name), f"must be {expected}, not {shown(value)}")
        row[name] = f"{value:.6f}" if type(value) is float else str(value)
    return row


def read_consumed_energy(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> EnergyRows:
    """Read a `_consumed_energy.csv`. InputError. In files of an old Batsim, `least_watts` are nan.

    `notes` receives a line for each unknown column.
    """
    table = Tabular(path, limits)
    time, energy, kind = (table.column(name) for name in ("time", "energy", "event_type"))
    least = table.optional_column("wattmin")
    table.report_unknown("consumed energy", notes, {"epower"})  # the mean power since the row above: redundant
    rows = EnergyRows()
    for row in table.rows():
        rows.times.append(table.number(row, time))
        rows.joules.append(table.number(row, energy))
        rows.kinds.append(row[kind])
        rows.least_watts.append(math.nan if least is None else table.number(row, least))
    return rows


def read_pstate_changes(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> list[PstateChange]:
    """Read a `_pstate_changes.csv`; `notes` receives a line for each unknown column. InputError."""
    table = Tabular(path, limits)
    time, hosts, pstate = (table.column(name) for name in ("time", "machine_id", "new_pstate"))
    table.report_unknown("changes of pstates", notes)
    changes = []
    for row in table.rows():
        number = table.number(row, pstate)
        if not number.is_integer():
            raise table.error(f"must be a whole number, not {row[pstate][:40]!r}", column=pstate)
        changes.append((table.number(row, time), table.hosts(row, hosts).bits, int(number)))
    return changes

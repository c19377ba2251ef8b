"""A schedule: what happened to the jobs of one run, wherever it was read from."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from batsched_py.errors import InputError
from batsched_py.reporting.jobs_file import read_jobs
from batsched_py.reporting.log_schedule import records_of
from batsched_py.reporting.run_files import (
    PstateChange,
    read_consumed_energy,
    read_figures,
    read_machine_states,
    read_pstate_changes,
)
from batsched_py.simulator.outputs import (
    CONSUMED_ENERGY,
    JOBS,
    MACHINE_STATES,
    PSTATE_CHANGES,
    SCHEDULE,
    schedule_columns,
)
from batsched_py.simulator.records import JobRecord, Result
from batsched_py.simulator.tracing import EnergyRows, StateRows
from batsched_py.traces.swf import read_swf

_LOGS: Final = (".swf", ".swf.gz")
#: Prefixes that say nothing, Batsim's default among them: the folder's name is the run's name.
_NAMELESS: Final = ("", "out")


class Schedule(Struct, frozen=True):
    """What happened to the jobs of one run.

    Attributes:
        name: what tables call it: the prefix of its files, or their folder.
        jobs: in the file's order. In a log their hosts are unknown and empty: see `width`.
        hosts: number of compute hosts.
        figures: the row of Batsim's `_schedule.csv`, column -> value as it is written; empty if there is none.
        stretches: of the jobs that ran, in their order, as the file tells them; empty if it does not.
        machine_states: how many hosts were in which state over time; None if that was not traced.
        consumed_energy: joules over time; None if they were not traced.
        pstate_changes: in the order of the file; None if they were not traced.
        unlisted: number of jobs that are in no row: Batsim 1.4 leaves out those that were rejected.
        notes: what had to be assumed or was left out, a line each.
        source: the path it was read from, for messages.
    """

    name: str
    jobs: tuple[JobRecord, ...]
    hosts: int
    figures: Mapping[str, str]
    stretches: tuple[float, ...] = ()
    machine_states: StateRows | None = None
    consumed_energy: EnergyRows | None = None
    pstate_changes: list[PstateChange] | None = None
    unlisted: int = 0
    notes: tuple[str, ...] = ()
    source: str = ""

    @property
    def ran(self) -> tuple[JobRecord, ...]:
        """The jobs that were not rejected."""
        return tuple(record for record in self.jobs if not record.rejected)

    @property
    def hosts_known(self) -> bool:
        """True if it is told which hosts each job had, and not only how many."""
        return all(record.hosts for record in self.jobs if not record.rejected and record.job.size)

    def width(self, record: JobRecord) -> int:
        """How many compute hosts a job had: its size where its hosts are unknown. Storage hosts do not count."""
        if not record.hosts:
            return 0 if record.rejected else record.job.size
        return (record.hosts.bits & ((1 << self.hosts) - 1)).bit_count()


def schedule_of(result: Result, name: str) -> Schedule:
    """The schedule of a simulation in this process."""
    trace = result.trace
    traced_energy = trace is not None and trace.energy is not None
    return Schedule(
        name=name,
        jobs=result.jobs,
        hosts=result.host_count,
        figures=schedule_columns(result),
        machine_states=trace.states if trace is not None else None,
        consumed_energy=trace.energy if trace is not None else None,
        pstate_changes=trace.pstates if trace is not None and traced_energy else None,
        source=name,
    )


def read_schedule(path: str | Path, *, hosts: int | None = None, name: str | None = None) -> Schedule:
    """Read the results of a run of Batsim or of ours, or a log; InputError names file, line, column and rule.

    `path` is a `_jobs.csv`, the prefix of Batsim's option -e (`out/easy`), a folder with one `_jobs.csv` in it, or a
    log (`.swf`, `.swf.gz`). The other files of the run are read if they lie beside the jobs.

    `hosts` is the number of compute hosts. By default it is the number of those that have a state in
    `_machine_states.csv`, else `nb_computing_machines` of `_schedule.csv` (which counts storage hosts, too), else
    what a log's header says, else all up to the highest that a job had, which `notes` tells.
    """
    path = Path(path)
    if path.is_file() and path.name.endswith(_LOGS):
        return _read_log(path, hosts, name)
    jobs_path, prefix = _locate(path)
    jobs = read_jobs(jobs_path)
    figures = read_figures(file) if (file := _beside(prefix, SCHEDULE)) else {}
    told = _Figures(str(file or jobs_path), figures)
    states = read_machine_states(file) if (file := _beside(prefix, MACHINE_STATES)) else None
    count, notes = _host_count(hosts, jobs.jobs, told, states)
    unlisted = max((told.count("nb_jobs") or 0) - len(jobs.jobs), 0)
    if unlisted:
        notes = (*notes, f"{unlisted} jobs are in no row of the jobs file: Batsim 1.4 leaves out those it rejected")
    return Schedule(
        name=_name(jobs_path) if name is None else name,
        jobs=jobs.jobs,
        hosts=count,
        figures=figures,
        stretches=jobs.stretches,
        machine_states=states,
        consumed_energy=read_consumed_energy(file) if (file := _beside(prefix, CONSUMED_ENERGY)) else None,
        pstate_changes=read_pstate_changes(file) if (file := _beside(prefix, PSTATE_CHANGES)) else None,
        unlisted=unlisted,
        notes=notes,
        source=str(jobs_path),
    )


def _read_log(path: Path, hosts: int | None, name: str | None) -> Schedule:
    log = read_swf(path)
    jobs, notes = records_of(log)
    size = hosts or log.machine_size
    if not size:
        size = max(record.job.size for record in jobs)
        notes = (*notes, f"{size} hosts, the size of the largest job: the log does not say how many there were")
    stem = path.name.partition(".")[0] or path.name
    return Schedule(
        name=stem if name is None else name, jobs=jobs, hosts=size, figures={}, notes=notes, source=str(path)
    )


def _locate(path: Path) -> tuple[Path, str | None]:
    """The jobs file that a path means, and the prefix of the files beside it; None if it has a name of its own."""
    if path.is_file():
        found = path
    elif path.is_dir() and (files := sorted(path.glob(f"*{JOBS}"))):
        if len(files) > 1:
            names = ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")
            raise InputError(str(path), "", f"must hold one file *{JOBS}, not {len(files)} ({names}): name one of them")
        found = files[0]
    else:
        found = Path(f"{path}{JOBS}")
        if not found.is_file():
            raise InputError(str(path), "", f"there is no such file, no file {found.name} and no folder with a *{JOBS}")
    text = str(found)
    return found, text.removesuffix(JOBS) if text.endswith(JOBS) else None


def _beside(prefix: str | None, ending: str) -> Path | None:
    """Another file of the run, if there is one."""
    path = None if prefix is None else Path(prefix + ending)
    return path if path is not None and path.is_file() else None


def _name(jobs: Path) -> str:
    stem = jobs.name.removesuffix(JOBS) if jobs.name.endswith(JOBS) else jobs.stem
    return stem if stem not in _NAMELESS else Path(os.path.abspath(jobs)).parent.name or stem


class _Figures(Struct, frozen=True):
    """The columns of a `_schedule.csv`, and the file for messages."""

    file: str
    columns: Mapping[str, str]

    def count(self, name: str) -> int | None:
        """A whole number; None if there is no such column. InputError."""
        text = self.columns.get(name)
        if text is None:
            return None
        if not (text.isdecimal() and text.isascii() and len(text) < 20):
            raise InputError(self.file, f"line 2, column {name}", f"must be a whole number, not {text[:40]!r}")
        return int(text)


def _host_count(
    told: int | None, jobs: Iterable[JobRecord], figures: _Figures, states: StateRows | None
) -> tuple[int, tuple[str, ...]]:
    """The number of compute hosts, and notes on how it was found."""
    highest = max((record.hosts.bits.bit_length() for record in jobs), default=0)
    if told is not None:
        return told, _storage_note(told, highest)
    if states is not None and states.times:
        counted = max(map(sum, zip(*(states.counts[column::5] for column in range(5)), strict=True)))
        return counted, _storage_note(counted, highest)
    machines = figures.count("nb_computing_machines")
    if machines is not None:
        return machines, ()
    return highest, (f"{highest} hosts, up to the highest that a job had: no file says how many there were",)


def _storage_note(hosts: int, highest: int) -> tuple[str, ...]:
    if highest <= hosts:
        return ()
    return (f"hosts from {hosts} on are not counted: there are {hosts} compute hosts, the others are storage",)

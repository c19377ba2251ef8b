"""Readers of runs: a schedule from result files, from a log, or from a simulation in this process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.file_notes import FileNotes
from batsched_py.reporting.schedules.jobs_file import read_jobs
from batsched_py.reporting.schedules.lease_schedule import lease_jobs
from batsched_py.reporting.schedules.lease_tables import (
    IMAGES,
    LEASES,
    PREDICTIONS,
    RESERVATIONS,
    lease_tables_of,
    read_lease_tables,
)
from batsched_py.reporting.schedules.log_schedule import records_of
from batsched_py.reporting.schedules.members import with_users
from batsched_py.reporting.schedules.outages import find_outages
from batsched_py.reporting.schedules.placement_tables import PLACEMENTS, placements_of
from batsched_py.reporting.schedules.run_location import (
    LOGS,
    RunLocation,
    distinct_names,
    find_sibling,
    has_jobs,
    locate,
    named_path,
)
from batsched_py.reporting.schedules.run_parts import (
    Traces,
    check_hosts,
    count_unlisted,
    host_count,
    read_description,
    read_leases,
    read_placed,
    read_predicted,
    read_rooms,
    read_slowed,
    read_timelines,
    read_users,
)
from batsched_py.reporting.schedules.run_time_tables import RUN_TIMES, run_times_of
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.reporting.schedules.timeline_tables import (
    chart_of_tables,
)
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import split_jobs_name
from batsched_py.results.job_users import USERS
from batsched_py.results.place_files import CAPACITIES, PLACES
from batsched_py.results.places import JobPlaces
from batsched_py.results.records import JobRecord, Result
from batsched_py.results.result_files import (
    CONTENTION,
    schedule_columns,
)
from batsched_py.results.run_file import RUN
from batsched_py.text.wording import counted
from batsched_py.traces.formats import SWF, Format, ReadOptions, format_of
from batsched_py.traces.swf_log import SwfLog

#: Suffixes of batsched-py's other files of a run.
_OWN_FILES: Final = (
    LEASES,
    RESERVATIONS,
    IMAGES,
    PREDICTIONS,
    PLACEMENTS,
    RUN_TIMES,
    USERS,
    RUN,
    DECISIONS,
    CONTENTION,
    PLACES,
    CAPACITIES,
)


def schedule_of(result: Result, name: str) -> Schedule:
    """Return the schedule of a simulation in this process."""
    trace = result.trace
    schedule = Schedule(
        name=name,
        jobs=result.jobs,
        hosts=result.host_count,
        batsim_row=schedule_columns(result),
        machine_states=trace.states if trace is not None else None,
        consumed_energy=trace.energy if trace is not None else None,
        pstate_changes=trace.pstates if trace is not None and trace.energy is not None else None,
        leases=lease_tables_of(result.tables),
        timelines=chart_of_tables(result.tables),
        placements=placements_of(result.tables),
        run_times=run_times_of(result.tables),
        alone=None if result.slowed is None else {job.job_id: job.alone for job in result.slowed},
        capacity=result.capacity,
        notes=tuple(f"approximation: {line}" for line in result.approximations),
        source=name,
    )
    rows = result.unavailable
    return replace(schedule, outages=find_outages(rows, schedule.end)) if rows else schedule


def read_schedules(paths: Sequence[str | Path], *, hosts: int | None = None, limits: Limits = LIMITS) -> list[Schedule]:
    """Read several runs with `read_schedule`; equal names are prefixed with the names of their folders."""
    schedules = [read_schedule(path, hosts=hosts, limits=limits) for path in paths]
    names = distinct_names([named_path(Path(schedule.source)) for schedule in schedules])
    return [replace(schedule, name=name) for schedule, name in zip(schedules, names, strict=True)]


def files_of(path: str | Path) -> list[Path]:
    """Return the files that `read_schedule` reads, which must not be overwritten. InputError."""
    path = Path(path)
    if _format_of_log(path) is not None:
        return [path]
    if alone := _lease_files(path):
        return alone
    found = locate(path)
    names = found.files
    batsims = (names.schedule, names.machine_states, names.consumed_energy, names.pstate_changes)
    others = (found.sibling(ending) for ending in (*batsims, *_OWN_FILES))
    return [found.jobs, *(file for file in others if file is not None)]


def read_schedule(
    path: str | Path,
    *,
    hosts: int | None = None,
    name: str | None = None,
    limits: Limits = LIMITS,
    every: bool = False,
) -> Schedule:
    """Read the results of a run of Batsim or batsched-py, or a log; InputError names file, line, column and rule.

    `path` is a `_jobs.csv`, the prefix of Batsim's option -e (`out/easy`), a folder with one `_jobs.csv` in it, or a
    log: `.swf`, `.swf.gz`, or any other file whose first line names fields of `sacct --parsable2`. Files of Batsim 5,
    whose names have no underscore, are found in the same way. The other files of the run are read if they are in the
    same folder. A prefix may have lease tables alone, as written by `batsched-py haizea`: their runs are the jobs.

    `hosts` is the number of compute hosts. By default it is the number of hosts with a state in `_machine_states.csv`,
    else `nb_computing_machines` of `_schedule.csv` (which includes storage hosts), else the number in a log's header,
    else all hosts up to the highest one used, with a line in `notes`.

    With `every`, invalid rows of a jobs file are skipped and listed in `rows_found`.
    """
    path = Path(path)
    if (form := _format_of_log(path, limits)) is not None:
        return _read_log(path, form, hosts, name, limits)
    if alone := _lease_files(path):
        return _read_leases_alone(alone, hosts, name, limits)
    return _read_files(locate(path), hosts, name, limits, every=every)


def _read_files(found: RunLocation, hosts: int | None, name: str | None, limits: Limits, *, every: bool) -> Schedule:
    prefix, file_notes = found.prefix, FileNotes()
    jobs = read_jobs(found.jobs, limits=limits, every=every)
    file_notes.add(*jobs.notes)
    traces = Traces.read(found, limits, file_notes)
    count, notes = host_count(hosts, jobs.jobs, traces.row, traces.states)
    check_hosts(found.jobs, count, limits)
    file_notes.add(*notes)
    unlisted = count_unlisted(jobs.jobs, traces.row)
    if unlisted:
        file_notes.add(
            f"{counted(unlisted, 'job')} in no row of the jobs file: Batsim 1.4 leaves out what was rejected"
        )
    run = read_description(prefix, {"jobs": found.jobs}, limits, file_notes)
    leases = read_leases(prefix, jobs.jobs, run, limits, file_notes)
    slowed = read_slowed(prefix, jobs.jobs, limits, file_notes)
    rooms = read_rooms(prefix, jobs.jobs, count, limits, file_notes)
    records = with_users(jobs.jobs, read_users(prefix, limits, file_notes))
    return Schedule(
        name=named_path(found.jobs).name if name is None else name,
        jobs=tuple(_with_places(record, rooms.places) for record in records) if rooms.places else records,
        hosts=count,
        batsim_row=traces.row,
        stretches=jobs.stretches,
        machine_states=traces.states,
        consumed_energy=traces.energy,
        pstate_changes=traces.pstates,
        leases=leases,
        timelines=read_timelines(prefix, limits, file_notes),
        placements=read_placed(prefix, limits, file_notes),
        run_times=read_predicted(prefix, limits, file_notes),
        alone=slowed,
        capacity=rooms.capacity,
        unlisted=unlisted,
        notes=file_notes.lines(),
        rows_found=jobs.found,
        lines=jobs.lines,
        source=str(found.jobs),
        run=run,
        log_start=None if run is None else run.log_start,
    )


def _with_places(record: JobRecord, places: Mapping[str, JobPlaces]) -> JobRecord:
    found = places.get(record.job.id)
    return record if found is None or record.rejected else replace(record, places=found)


def _format_of_log(path: Path, limits: Limits = LIMITS) -> Format | None:
    """Return the format of a log, which is detected by its content; None for another path.

    InputError for a file that is not a run.
    """
    if not path.is_file() or split_jobs_name(str(path)) is not None:
        return None
    found = format_of(path, limits)
    if found is not None and found.content is SwfLog:
        return found
    if path.name.casefold().endswith(LOGS):
        return SWF
    if found is None or found.content is None:
        return None
    raise InputError(str(path), "", f"must be a log, or a table of Batsim's jobs; it looks like {found.description}")


def _read_log(path: Path, form: Format, hosts: int | None, name: str | None, limits: Limits) -> Schedule:
    log = form.read(path, ReadOptions(limits))
    assert isinstance(log, SwfLog)  # noqa: S101 - the content of this format
    jobs, notes = records_of(log)
    size = hosts or log.machine_size
    if not size:
        size = max(record.job.size for record in jobs)
        notes = (*notes, f"{counted(size, 'host')}, the size of the largest job: the log does not say how many")
    check_hosts(path, size, limits)
    return Schedule(
        name=(path.name.partition(".")[0] or path.name) if name is None else name,
        jobs=jobs,
        hosts=size,
        batsim_row={},
        notes=notes,
        source=str(path),
        log_start=log.start,
        zero=log.zero,
    )


def _lease_files(path: Path) -> list[Path]:
    """Return the lease tables with a prefix that has no jobs file; empty if it has one, or no lease tables."""
    leases, spans = find_sibling(str(path), LEASES), find_sibling(str(path), RESERVATIONS)
    if leases is None or spans is None or path.is_dir() or has_jobs(path):
        return []
    others = (find_sibling(str(path), ending) for ending in (IMAGES, PREDICTIONS, RUN))
    return [leases, spans, *(file for file in others if file is not None)]


def _read_leases_alone(files: Sequence[Path], hosts: int | None, name: str | None, limits: Limits) -> Schedule:
    images, predictions = (
        next((file for file in files if file.name.endswith(ending)), None) for ending in (IMAGES, PREDICTIONS)
    )
    file_notes = FileNotes()
    tables = read_lease_tables(files[0], files[1], images, predictions, limits=limits, notes=file_notes)
    if tables is None:
        raise InputError(str(files[0]), "", "is no table of leases, and there is no jobs file in its folder")
    jobs = lease_jobs(tables)
    count, notes = host_count(hosts, jobs, {}, None)
    check_hosts(files[1], count, limits)
    file_notes.add(*notes)
    run = read_description(str(files[0]).removesuffix(LEASES), {"leases": files[0]}, limits, file_notes)
    return Schedule(
        name=named_path(files[0]).name if name is None else name,
        jobs=jobs,
        hosts=count,
        batsim_row={},
        leases=replace(tables, jobs={f"w0!{lease}": lease for lease in tables.leases}),
        notes=file_notes.lines(),
        source=str(files[0]),
        run=run,
        log_start=None if run is None else run.log_start,
    )

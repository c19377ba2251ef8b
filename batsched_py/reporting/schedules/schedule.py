"""A schedule: the ended jobs of one run and its traces, from result files, a log or a simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from batsched_py.errors import InputError
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reporting.schedules.attempts import Attempts, put_together
from batsched_py.reporting.schedules.contradictions import Contradictions
from batsched_py.reporting.schedules.file_notes import FileNotes
from batsched_py.reporting.schedules.jobs_file import read_jobs
from batsched_py.reporting.schedules.lease_schedule import lease_jobs
from batsched_py.reporting.schedules.lease_tables import (
    IMAGES,
    LEASES,
    RESERVATIONS,
    LeaseTables,
    lease_tables_of,
    read_lease_tables,
)
from batsched_py.reporting.schedules.log_schedule import records_of
from batsched_py.reporting.schedules.occupancy import Occupancy, occupancy_of
from batsched_py.reporting.schedules.outages import Outage, find_outages
from batsched_py.reporting.schedules.placement_tables import PLACEMENTS, PlacementRow, placements_of
from batsched_py.reporting.schedules.run_files import (
    PstateChange,
)
from batsched_py.reporting.schedules.run_location import (
    LOGS,
    RunLocation,
    beside,
    distinct_names,
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
    read_slowed,
    read_timelines,
)
from batsched_py.reporting.schedules.timeline_tables import (
    TimelineChart,
    chart_of_tables,
)
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import split_jobs_name
from batsched_py.results.records import JobRecord, Result, attempts_among
from batsched_py.results.result_files import (
    CONTENTION,
    schedule_columns,
)
from batsched_py.results.run_file import RUN, RunFile
from batsched_py.results.tracing import EnergyRows, StateRows
from batsched_py.text.representation import Brief
from batsched_py.text.wording import counted
from batsched_py.traces.log_format import LogFormat, format_of
from batsched_py.traces.sacct import read_sacct, sacct_unit
from batsched_py.traces.swf import SwfLog, read_swf

#: Suffixes of batsched-py's other files of a run.
_OURS: Final = (LEASES, RESERVATIONS, IMAGES, PLACEMENTS, RUN, DECISIONS, CONTENTION)


class Schedule(Brief, frozen=True, dict=True):  # dict: for cached properties
    """The jobs of one run, and its traces.

    Attributes:
        name: the name in tables: the prefix of its files, or their folder.
        jobs: the jobs in the order of the file. In a log their hosts are unknown and empty: see `size`.
        hosts: the number of compute hosts.
        batsim_row: column -> value as written, for the row of Batsim's `_schedule.csv`, or the members of Batsim 5's
            `schedule.json`; empty without this file.
        stretches: job id -> stretch as written in the file, for jobs that ran; empty if the file has none.
        machine_states: the number of hosts in each state over time; None if not traced.
        consumed_energy: joules over time; None if not traced.
        pstate_changes: changes of power states in the order of the file; None if not traced.
        leases: the leases; None if the algorithm has none.
        timelines: the timelines of VMs; None if the algorithm has none.
        placements: job id -> work to place the job; None if the run has no placements.
        alone: job id -> run time in seconds without other jobs on its links and hosts, for jobs that were slowed down;
            None if there is none, or if unknown.
        outages: hosts that were unavailable for a time, if they were determined: see `with_outages`.
        unlisted: the number of jobs without a row: Batsim 1.4 omits rejected jobs.
        notes: assumptions and omissions, a line each.
        source: the path it was read from, for messages.
        run: the description of the run; None if there is none.
        log_start: the date at time 0 of the clock; None if unknown.
        zero: the time in the clock of a log that corresponds to 0 here.
        rows_found: rows of the jobs file that contradict themselves; None without a jobs file.
        lines: job id -> line of the jobs file, if all errors in it were collected.
    """

    name: str
    jobs: tuple[JobRecord, ...]
    hosts: int
    batsim_row: Mapping[str, str]
    stretches: Mapping[str, float] = {}
    machine_states: StateRows | None = None
    consumed_energy: EnergyRows | None = None
    pstate_changes: list[PstateChange] | None = None
    leases: LeaseTables | None = None
    timelines: TimelineChart | None = None
    placements: Mapping[str, PlacementRow] | None = None
    alone: Mapping[str, float] | None = None
    outages: tuple[Outage, ...] = ()
    unlisted: int = 0
    notes: tuple[str, ...] = ()
    source: str = ""
    run: RunFile | None = None
    log_start: datetime | None = None
    zero: float = 0.0
    rows_found: Contradictions | None = None
    lines: Mapping[str, int] = {}

    @property
    def end(self) -> float:
        """Return the last end of a job or a lease, 0 if nothing ran."""
        last = max((record.finish for record in self.ran), default=0.0)
        return last if self.leases is None else max(last, self.leases.end)

    @cached_property
    def ran(self) -> tuple[JobRecord, ...]:
        """Return the jobs that were not rejected."""
        return tuple(record for record in self.jobs if not record.rejected)

    @cached_property
    def attempts(self) -> Attempts:
        """Return the attempts of each job; their rows are indices into `jobs`."""
        return put_together(attempts_among(self.jobs, self.hosts), self.leases)

    @property
    def job_count(self) -> int:
        """Return the number of submitted jobs, with all attempts of a job counted once."""
        return len(self.jobs) - len(self.attempts.firsts) + self.unlisted

    @property
    def ran_attempts(self) -> tuple[JobRecord, ...]:
        """Return the attempts of jobs that ran, without overheads."""
        beside = {one.job_id for job in self.attempts.jobs.values() for one in job.overheads}
        return tuple(record for record in self.ran if record.job.id not in beside) if beside else self.ran

    def first_id(self, job_id: str) -> str:
        """Return the id of a job's first attempt; usually its own."""
        return self.attempts.firsts.get(job_id, job_id)

    @cached_property
    def occupancy(self) -> Occupancy:
        """Return the occupancy of compute hosts over time; meaningless if the hosts of jobs are unknown."""
        return occupancy_of(self.ran, self.hosts)

    def first_submission(self, record: JobRecord) -> float:
        """Return the submission time of a job's first attempt."""
        first = self.attempts.firsts.get(record.job.id)
        return record.job.submit_time if first is None else self.attempts.jobs[first].first.submitted

    @cached_property
    def hosts_known(self) -> bool:
        """Return True if the hosts of all jobs are known, not only their numbers."""
        return all(record.hosts for record in self.ran if record.job.size)

    def size(self, record: JobRecord) -> int:
        """Return the number of compute hosts that a job had; its size if its hosts are unknown."""
        return record.size_on(self.hosts)

    def stretch(self, record: JobRecord) -> float:
        """Return turnaround / run of a job that ran, as written, else from its times; infinite if it took no time."""
        written = self.stretches.get(record.job.id)
        return record.stretch if written is None else written


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
        alone={job.job_id: job.alone for job in result.slowed}
        or None,  # as in files, which do not exist without slowed jobs
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
    if _find_log_reader(path) is not None:
        return [path]
    if alone := _lease_files(path):
        return alone
    found = locate(path)
    names = found.files
    batsims = (names.schedule, names.machine_states, names.consumed_energy, names.pstate_changes)
    others = (found.beside(ending) for ending in (*batsims, *_OURS))
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
    if (read_log := _find_log_reader(path, limits)) is not None:
        return _read_log(path, read_log(), hosts, name, limits)
    if alone := _lease_files(path):
        return _read_leases_alone(alone, hosts, name, limits)
    return _read_files(locate(path), hosts, name, limits, every=every)


def _read_files(found: RunLocation, hosts: int | None, name: str | None, limits: Limits, *, every: bool) -> Schedule:
    prefix, _names, told = found.prefix, found.files, FileNotes()
    jobs = read_jobs(found.jobs, limits=limits, every=every)
    told.add(*jobs.notes)
    traces = Traces.read(found, limits, told)
    count, notes = host_count(hosts, jobs.jobs, traces.row, traces.states)
    check_hosts(found.jobs, count, limits)
    told.add(*notes)
    unlisted = count_unlisted(jobs.jobs, traces.row)
    if unlisted:
        told.add(f"{counted(unlisted, 'job')} in no row of the jobs file: Batsim 1.4 leaves out what was rejected")
    leases = read_leases(prefix, jobs.jobs, limits, told)
    slowed = read_slowed(prefix, jobs.jobs, limits, told)
    run = read_description(prefix, {"jobs": found.jobs}, limits, told)
    return Schedule(
        name=named_path(found.jobs).name if name is None else name,
        jobs=jobs.jobs,
        hosts=count,
        batsim_row=traces.row,
        stretches=jobs.stretches,
        machine_states=traces.states,
        consumed_energy=traces.energy,
        pstate_changes=traces.pstates,
        leases=leases,
        timelines=read_timelines(prefix, limits, told),
        placements=read_placed(prefix, limits, told),
        alone=slowed,
        unlisted=unlisted,
        notes=told.lines(),
        rows_found=jobs.found,
        lines=jobs.lines,
        source=str(found.jobs),
        run=run,
        log_start=None if run is None else run.log_start,
    )


def _find_log_reader(path: Path, limits: Limits = LIMITS) -> Callable[[], SwfLog] | None:
    """Return the reader of a log, whose format is detected by its content; None for another path.

    InputError for a file that is not a run.
    """
    if not path.is_file() or split_jobs_name(str(path)) is not None:
        return None
    found = format_of(path, limits)
    if found is LogFormat.SACCT:
        return partial(read_sacct, path, sacct_unit(path, limits) or "cpus", limits=limits)
    if found is LogFormat.SWF or path.name.casefold().endswith(LOGS):
        return partial(read_swf, path, limits=limits)
    if found in (LogFormat.JSON, LogFormat.XML):
        raise InputError(str(path), "", f"must be a log, or a table of Batsim's jobs; it looks like {found.value}")
    return None


def _read_log(path: Path, log: SwfLog, hosts: int | None, name: str | None, limits: Limits) -> Schedule:
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
    leases, spans = beside(str(path), LEASES), beside(str(path), RESERVATIONS)
    if leases is None or spans is None or path.is_dir() or has_jobs(path):
        return []
    others = (beside(str(path), ending) for ending in (IMAGES, RUN))
    return [leases, spans, *(file for file in others if file is not None)]


def _read_leases_alone(files: Sequence[Path], hosts: int | None, name: str | None, limits: Limits) -> Schedule:
    images = next((file for file in files if file.name.endswith(IMAGES)), None)
    told = FileNotes()
    tables = read_lease_tables(files[0], files[1], images, limits=limits, told=told)
    if tables is None:
        raise InputError(str(files[0]), "", "is no table of leases, and there is no jobs file in its folder")
    jobs = lease_jobs(tables)
    count, notes = host_count(hosts, jobs, {}, None)
    check_hosts(files[1], count, limits)
    told.add(*notes)
    run = read_description(str(files[0]).removesuffix(LEASES), {"leases": files[0]}, limits, told)
    return Schedule(
        name=named_path(files[0]).name if name is None else name,
        jobs=jobs,
        hosts=count,
        batsim_row={},
        leases=replace(tables, jobs={f"w0!{lease}": lease for lease in tables.leases}),
        notes=told.lines(),
        source=str(files[0]),
        run=run,
        log_start=None if run is None else run.log_start,
    )

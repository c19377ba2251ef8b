"""The optional files of a run: each is read if it exists, or a note has the reason why it is not used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from batsched_py.errors import InputError
from batsched_py.reading.limits import Limits
from batsched_py.reporting.schedules.contention_file import describes, read_contention
from batsched_py.reporting.schedules.experiment_tables import EXPERIMENT_RESOURCES, add_phases
from batsched_py.reporting.schedules.file_notes import OTHER_COLUMNS, FileNotes
from batsched_py.reporting.schedules.lease_tables import (
    IMAGES,
    LEASES,
    PREDICTIONS,
    RESERVATIONS,
    LeaseTables,
    read_lease_tables,
)
from batsched_py.reporting.schedules.machine_states import read_machine_states
from batsched_py.reporting.schedules.place_tables import are_of, are_on, read_capacities, read_places
from batsched_py.reporting.schedules.placement_tables import PLACEMENTS, PlacementRow, read_placements
from batsched_py.reporting.schedules.run_files import (
    read_consumed_energy,
    read_pstate_changes,
    read_schedule_row,
)
from batsched_py.reporting.schedules.run_location import RunLocation, find_sibling
from batsched_py.reporting.schedules.run_time_tables import RUN_TIMES, RunTimeRow, read_run_times
from batsched_py.reporting.schedules.tabular import Tabular
from batsched_py.reporting.schedules.timeline_tables import TIMELINE, TIMELINE_VMS, TimelineChart, read_timeline_tables
from batsched_py.results.job_users import USERS, USERS_COLUMNS
from batsched_py.results.place_files import CAPACITIES, PLACES
from batsched_py.results.places import JobPlaces, MachineCapacity
from batsched_py.results.records import JobRecord
from batsched_py.results.result_files import CONTENTION
from batsched_py.results.run_file import RUN, RunFile, belongs, read_run
from batsched_py.results.tracing import EnergyRows, PstateChange, StateRows
from batsched_py.text.wording import counted

#: The name of the table of leases in the description of a run.
_NAME: Final = "leases"
#: The reason why a file is not used.
_OTHER_JOBS: Final = "it contains other jobs than those of this run"


class Traces(NamedTuple):
    """The contents of Batsim's other files of a run, for Schedule."""

    row: Mapping[str, str]
    states: StateRows | None
    energy: EnergyRows | None
    pstates: list[PstateChange] | None

    @classmethod
    def read(cls, found: RunLocation, limits: Limits, notes: FileNotes) -> Traces:
        """Read the files that exist. InputError."""
        names = found.files
        row, states, energy, pstates = (
            found.sibling(ending)
            for ending in (names.schedule, names.machine_states, names.consumed_energy, names.pstate_changes)
        )
        return cls(
            read_schedule_row(row, limits=limits, notes=notes.of(row)) if row else {},
            read_machine_states(states, limits=limits, notes=notes.of(states)) if states else None,
            read_consumed_energy(energy, limits=limits, notes=notes.of(energy)) if energy else None,
            read_pstate_changes(pstates, limits=limits, notes=notes.of(pstates)) if pstates else None,
        )


def count_unlisted(jobs: Sequence[JobRecord], row: Mapping[str, str]) -> int:
    """Return the number of jobs without a row, because Batsim 1.4 omits rejected jobs."""
    missing = int(float(row.get("nb_jobs", 0))) - len(jobs)
    rejected = row.get("nb_jobs_rejected")  # Batsim 1.4 has no such column
    if missing <= 0 or any(record.rejected for record in jobs):
        return 0
    return missing if rejected is None or float(rejected) == missing else 0


def read_description(
    prefix: str | None, results: Mapping[str, Path], limits: Limits, notes: FileNotes
) -> RunFile | None:
    """Return the description of the run; None, with a note, if it belongs to another run."""
    path = find_sibling(prefix, RUN)
    if path is None:
        return None
    run = read_run(path, limits=limits, notes=notes.of(path))
    if belongs(run, results):
        return run
    notes.add(f"{path.name} is ignored: it describes a run with other results")
    return None


def read_slowed(
    prefix: str | None, jobs: Sequence[JobRecord], limits: Limits, notes: FileNotes
) -> Mapping[str, float] | None:
    """Return job id -> run time without contention, for slowed jobs; None, with a note, if of another run."""
    path = find_sibling(prefix, CONTENTION)
    if path is None:
        return None
    slowed = read_contention(path, limits=limits, notes=notes.of(path))
    if slowed is None or not describes(slowed, jobs):
        notes.add(f"{path.name} is left out: " + (OTHER_COLUMNS if slowed is None else _OTHER_JOBS))
        return None
    return {job.job_id: job.alone for job in slowed}


class SharedHosts(NamedTuple):
    """The places of jobs by id, and what hosts have; nothing for a run with whole hosts."""

    places: Mapping[str, JobPlaces]
    capacity: MachineCapacity | None


def read_rooms(
    prefix: str | None, jobs: Sequence[JobRecord], hosts: int, limits: Limits, notes: FileNotes
) -> SharedHosts:
    """Return the parts of hosts that jobs had; nothing, with a note, if the files belong to another run. InputError."""
    placed, described = find_sibling(prefix, PLACES), find_sibling(prefix, CAPACITIES)
    if placed is None or described is None:
        for path, other in ((placed, CAPACITIES), (described, PLACES)):
            if path is not None:
                notes.add(f"{path.name} is left out: it belongs to a file {other}, which is missing")
        return SharedHosts({}, None)
    places = read_places(placed, limits=limits, notes=notes.of(placed))
    capacity = read_capacities(described, limits=limits, notes=notes.of(described))
    if places is None or capacity is None:
        notes.add(f"{(placed if places is None else described).name} is left out: {OTHER_COLUMNS}")
    elif not (are_of(places, jobs) and are_on(places, capacity)):
        notes.add(f"{placed.name} is left out: {_OTHER_JOBS}")
    elif len(capacity.hosts) != hosts:
        number = counted(len(capacity.hosts), "host")
        notes.add(f"{described.name} is left out: it has {number}, the run has {hosts}")
    else:
        return SharedHosts(places, capacity)
    return SharedHosts({}, None)


def read_placed(prefix: str | None, limits: Limits, notes: FileNotes) -> Mapping[str, PlacementRow] | None:
    """Return job id -> work to place the job; None if the run has no placements. InputError."""
    path = find_sibling(prefix, PLACEMENTS)
    if path is None:
        return None
    found = read_placements(path, limits=limits, notes=notes.of(path))
    if found is None:
        notes.add(f"{path.name} is left out: {OTHER_COLUMNS}")
    return found


def read_predicted(prefix: str | None, limits: Limits, notes: FileNotes) -> Mapping[str, RunTimeRow] | None:
    """Return job id -> predicted run time; None if the run has no predictions. InputError."""
    path = find_sibling(prefix, RUN_TIMES)
    if path is None:
        return None
    found = read_run_times(path, limits=limits, notes=notes.of(path))
    if found is None:
        notes.add(f"{path.name} is left out: {OTHER_COLUMNS}")
    return found


def read_users(prefix: str | None, limits: Limits, notes: FileNotes) -> Mapping[str, str]:
    """Return job id -> user, from the table of users; empty if the run has none. InputError."""
    path = find_sibling(prefix, USERS)
    if path is None:
        return {}
    table = Tabular(path, limits)
    if not set(USERS_COLUMNS) <= set(table.header):
        notes.add(f"{path.name} is left out: {OTHER_COLUMNS}")
        return {}
    job, user = map(table.column, USERS_COLUMNS)
    table.report_unknown("users", notes.of(path))
    return {row[job]: row[user] for row in table.rows()}


def read_leases(
    prefix: str | None, jobs: Sequence[JobRecord], run: RunFile | None, limits: Limits, notes: FileNotes
) -> LeaseTables | None:
    """Return the leases of the run; None, with a note, if the files belong to another run.

    They belong to this one if its description names them, though none of their jobs has ended; without that, if they
    have one of its jobs.
    """
    leases, spans = find_sibling(prefix, LEASES), find_sibling(prefix, RESERVATIONS)
    if leases is None or spans is None:
        return None
    images, predictions = find_sibling(prefix, IMAGES), find_sibling(prefix, PREDICTIONS)
    tables = read_lease_tables(leases, spans, images, predictions, limits=limits, notes=notes)
    if tables is None:
        notes.add(f"{leases.name} is left out: {OTHER_COLUMNS}")
    elif run is not None and _NAME in run.results and belongs(run, {_NAME: leases}):
        return tables
    elif tables.jobs and tables.jobs.keys().isdisjoint(record.job.id for record in jobs):
        notes.add(f"{leases.name} is left out: it has none of the jobs of this run")
        return None
    return tables


def read_timelines(prefix: str | None, limits: Limits, notes: FileNotes) -> TimelineChart | None:
    """Return the timelines of VMs and experiments; None if there are none. InputError."""
    entries, vms = find_sibling(prefix, TIMELINE), find_sibling(prefix, TIMELINE_VMS)
    chart = None if entries is None or vms is None else read_timeline_tables(entries, vms, limits=limits, notes=notes)
    resources = find_sibling(prefix, EXPERIMENT_RESOURCES)
    return chart if resources is None else add_phases(chart, resources, limits=limits, notes=notes)


def host_count(
    known_hosts: int | None, jobs: Iterable[JobRecord], row: Mapping[str, str], states: StateRows | None
) -> tuple[int, tuple[str, ...]]:
    """Return the number of compute hosts, and notes on its source."""
    highest = max((record.hosts.bits.bit_length() for record in jobs), default=0)
    if known_hosts is not None:
        return known_hosts, _beyond(known_hosts, highest, "the number of compute hosts that was given leaves them out")
    if states is not None and states.times:
        known = max(map(sum, zip(*states.columns().values(), strict=True)))
        return known, _beyond(known, highest, f"they are storage, in addition to {counted(known, 'compute host')}")
    if "nb_computing_machines" in row:
        return int(float(row["nb_computing_machines"])), ()
    return highest, (f"{counted(highest, 'host')}, up to the highest that a job had: no file says how many there were",)


def check_hosts(path: Path, hosts: int, limits: Limits) -> None:
    """Raise InputError if the machine exceeds the limit: pictures and metrics need memory for each host."""
    if hosts > limits.hosts:
        raise InputError(str(path), "", f"describes a machine of {hosts} hosts, which {limits.rule('hosts')}")


def _beyond(hosts: int, highest: int, why: str) -> tuple[str, ...]:
    if highest <= hosts:
        return ()
    return (f"hosts from {hosts} on are not counted: {why}",)

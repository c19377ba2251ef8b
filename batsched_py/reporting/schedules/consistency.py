"""Consistency checks of results: between rows, and against the machine and the figures of the whole run."""

from __future__ import annotations

import math
from typing import Final

from batsched_py.reporting.schedules.contradictions import FIRST, ContradictionKind, Contradictions
from batsched_py.reporting.schedules.moves import TOUCHING, moves
from batsched_py.reporting.schedules.occupancy import TakenHosts
from batsched_py.reporting.schedules.resource_checks import check_resources
from batsched_py.reporting.schedules.schedule import Schedule
from batsched_py.results.file_forms import BATSIM_5, split_jobs_name
from batsched_py.results.records import JobRecord

#: The relative and the absolute error of figures with six digits.
_RELATIVE: Final = 1e-9
_RESOLUTION: Final = 3e-6
#: The largest number of contradictions whose other job is searched among the running jobs.
_MOST_NAMED: Final = 100
#: The name of the setting that lets jobs share hosts.
_SHARING: Final = "compute_sharing"


def find_contradictions(schedule: Schedule, most: int | None = FIRST, *, sharing: bool | None = None) -> Contradictions:
    """Return the contradictions in the results of a run, with `most` details of each kind; None for all.

    The running time is linear in the number of jobs, except for sorting. `sharing` is whether jobs may share hosts;
    None takes it from the description of the run; without one, sharing is reported as a contradiction with a caveat.
    """
    found, known = Contradictions(most), schedule.hosts_known
    if schedule.rows_found is not None:
        found.extend(schedule.rows_found)
    _check_hosts(schedule, found)
    found.unless[ContradictionKind.SIZE] = "right only if executors were mapped to hosts"
    shared = may_share(schedule) if sharing is None else sharing
    if shared is None and schedule.capacity is None:
        found.unless |= dict.fromkeys(
            (ContradictionKind.SHARED, ContradictionKind.UTILISATION), "right only if jobs were allowed to share hosts"
        )
    if schedule.capacity is not None:
        check_resources(schedule, schedule.capacity, found)
    elif not shared:
        if not known:
            _check_busy(schedule, found)
        elif schedule.occupancy.shared:
            _check_shared(schedule, found)
        if not known or schedule.occupancy.shared:
            _check_utilisation(schedule, found)
    _check_makespan(schedule, found)
    _check_figures(schedule, found)
    return found


def may_share(schedule: Schedule) -> bool | None:
    """Return whether jobs may share hosts, as always with lease tables alone; None if no file determines it."""
    if schedule.run is not None and _SHARING in schedule.run.settings:
        return schedule.run.settings[_SHARING] is True
    if split_jobs_name(schedule.source) is None and schedule.leases is not None:
        return True  # tables of leases alone
    return None


def _check_hosts(schedule: Schedule, found: Contradictions) -> None:
    """Check the hosts of each job against its size and the machine."""
    highest, lines = schedule.hosts, schedule.lines
    storage = schedule.machine_states is not None  # then the number of compute hosts is known
    suspects = [
        record
        for record in schedule.ran
        if (bits := record.hosts.bits).bit_count() != record.job.size or bits.bit_length() > highest
        if record.places is None
    ]
    for record in suspects:
        job, bits = record.job, record.hosts.bits
        if not bits:
            if job.size > highest:
                found.add(
                    ContradictionKind.OUTSIDE, job.id, lines.get(job.id, 0), "has %d hosts of %d", job.size, highest
                )
            elif job.size and schedule.rows_found is not None:
                found.add(ContradictionKind.NO_HOSTS, job.id, lines.get(job.id, 0), "ran, and asked for %d", job.size)
            continue
        if bits.bit_length() > highest and not storage:
            beyond = bits.bit_length() - 1
            found.add(
                ContradictionKind.OUTSIDE,
                job.id,
                lines.get(job.id, 0),
                "has host %d of a machine of %d",
                beyond,
                highest,
            )
        size = record.size_on(highest) if storage else bits.bit_count()
        if size != job.size:
            found.add(ContradictionKind.SIZE, job.id, lines.get(job.id, 0), "has %d, asked for %d", size, job.size)


def _check_shared(schedule: Schedule, found: Contradictions) -> None:
    """Check that no job starts on a host that another job occupies."""
    every, taken, ran = (1 << schedule.hosts) - 1, TakenHosts(), schedule.ran
    running, named = dict[int, JobRecord](), 0
    for _, starts, place in sorted(moves(ran)):
        record = ran[place]
        hosts = record.hosts.bits & every
        if not starts:
            taken.give_back(hosts)
            del running[place]
            continue
        both = taken.take(hosts)
        if both:
            lowest = (both & -both).bit_length() - 1
            named += 1
            other = _holder(running, lowest) if named <= _MOST_NAMED else ""
            job_id = record.job.id
            what = "starts at %.6f on host %d" + (", which %s has" if other else "%s")
            found.add(
                ContradictionKind.SHARED, job_id, schedule.lines.get(job_id, 0), what, record.start, lowest, other
            )
        running[place] = record


def _holder(running: dict[int, JobRecord], host: int) -> str:
    """Return the id of a running job that occupies a host."""
    return next((record.job.id for record in running.values() if record.hosts.bits >> host & 1), "")


def _check_busy(schedule: Schedule, found: Contradictions) -> None:
    """Check that no job starts on more hosts than are free, if only numbers of hosts are known."""
    ran, busy = schedule.ran, 0
    for time, starts, place in sorted(moves(ran)):
        size = schedule.size(ran[place])
        busy += size if starts else -size
        if starts and busy > schedule.hosts:
            job_id = ran[place].job.id
            line = schedule.lines.get(job_id, 0)
            found.add(
                ContradictionKind.TOO_MANY, job_id, line, "from %.6f on %d of %d are busy", time, busy, schedule.hosts
            )


def _check_utilisation(schedule: Schedule, found: Contradictions) -> None:
    makespan = max((record.finish for record in schedule.ran), default=0.0)
    allocated = math.fsum(schedule.size(record) * record.execution for record in schedule.ran)
    everything = schedule.hosts * makespan
    touching = len(schedule.ran) * TOUCHING
    if everything > 0 and allocated > everything * (1 + _RELATIVE) + touching:
        found.add(ContradictionKind.UTILISATION, "", 0, "it is %.2f %%", 100 * allocated / everything)


def _check_makespan(schedule: Schedule, found: Contradictions) -> None:
    """Check ends against the makespan of the whole run, which Batsim 5 counts from the first submission."""
    written = _figure(schedule, "makespan")
    if written is None or not schedule.ran:
        return
    last = max(record.finish for record in schedule.ran)
    first = min(record.job.submit_time for record in schedule.jobs)
    tolerance = _RESOLUTION + _RELATIVE * abs(last)
    named = split_jobs_name(schedule.source)
    counts_from_first = named is not None and named[1] is BATSIM_5
    if abs(last - written) <= tolerance or (counts_from_first and abs(last - first - written) <= tolerance):
        return
    if last < written:
        found.add(ContradictionKind.FIGURES, "", 0, "makespan is %.6f, the last job ends at %.6f", written, last)
        return
    for record in schedule.ran:
        if record.finish > written + tolerance:
            line = schedule.lines.get(record.job.id, 0)
            found.add(
                ContradictionKind.MAKESPAN,
                record.job.id,
                line,
                "ends at %.6f, the makespan is %.6f",
                record.finish,
                written,
            )


def _check_figures(schedule: Schedule, found: Contradictions) -> None:
    """Check the numbers of jobs in the figures of the run; jobs in no row were rejected."""
    ran = len(schedule.ran)
    success = sum(record.success for record in schedule.ran)
    counts = {
        "nb_jobs": len(schedule.jobs) + schedule.unlisted,
        "nb_jobs_finished": ran,
        "nb_jobs_success": success,
        "nb_jobs_killed": ran - success,
    }
    for name, count in counts.items():
        written = _figure(schedule, name)
        if written is not None and written != count:
            found.add(ContradictionKind.FIGURES, "", 0, "%s is %d, by the jobs %d", name, written, count)


def _figure(schedule: Schedule, name: str) -> float | None:
    written = schedule.batsim_row.get(name)
    return None if written is None else float(written)

"""Batsim's own output files, jobs and schedule, with the columns, their order and the numbers of Batsim 4.2.1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.hostset import format_bits
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.simulator.records import Result
from batsched_py.traces.atomic_file import write_atomically, write_pieces_atomically

#: What Batsim's result files end in, behind the prefix of its option -e.
JOBS: Final = "_jobs.csv"
SCHEDULE: Final = "_schedule.csv"
MACHINE_STATES: Final = "_machine_states.csv"
CONSUMED_ENERGY: Final = "_consumed_energy.csv"
PSTATE_CHANGES: Final = "_pstate_changes.csv"

JOBS_HEADER: Final = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata"
)

_ROW: Final = '%s,%s,%s,%.6f,%d,%.6f,%d,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%s,%.6f,"%s"'
_REJECTED_ROW: Final = '%s,%s,%s,%.6f,%d,%.6f,0,%s,,,,,,,,,"%s"'

#: Rows that are written at once.
PIECE: Final = 4096

#: States of hosts with a column of their own, in alphabetical order like all columns of the schedule file.
STATES: Final = ("computing", "idle", "sleeping", "switching_off", "switching_on", "unavailable")


def write_jobs(path: Path, result: Result) -> None:
    """One row for each job, in order of completion or rejection; the file is replaced whole or not at all. OSError."""
    write_pieces_atomically(path, _pieces(result))


def write_schedule(path: Path, result: Result) -> None:
    """One row of figures about the whole run; the file is replaced at once or not at all. OSError."""
    columns = schedule_columns(result)
    write_atomically(path, f"{','.join(columns)}\n{','.join(columns.values())}\n".encode())


def schedule_columns(result: Result) -> Mapping[str, str]:
    """Column -> value as it is written. Means are over all jobs, rejected ones included, as Batsim computes them."""
    ran = [record for record in result.jobs if not record.rejected]
    successes = sum(record.success for record in ran)
    jobs = max(1, len(result.jobs))
    waiting = [0.0, *[float(record.start - record.job.submit_time) for record in ran]]
    turnaround = [0.0, *[float(record.finish - record.job.submit_time) for record in ran]]
    slowdown = [0.0, *[record.stretch for record in ran]]
    columns: dict[str, str | int | float] = {
        "batsim_version": f"batsched-py {batsched_py.__version__}",
        "consumed_joules": float(result.consumed_joules),
        "makespan": float(result.makespan),
        "max_slowdown": max(slowdown),
        "max_turnaround_time": max(turnaround),
        "max_waiting_time": max(waiting),
        "mean_slowdown": sum(slowdown) / jobs,
        "mean_turnaround_time": sum(turnaround) / jobs,
        "mean_waiting_time": sum(waiting) / jobs,
        "nb_computing_machines": result.host_count + result.storage_count,
        "nb_grouped_switches": result.switch_requests,
        "nb_jobs": len(result.jobs),
        "nb_jobs_finished": len(ran),
        "nb_jobs_killed": len(ran) - successes,
        "nb_jobs_rejected": len(result.jobs) - len(ran),
        "nb_jobs_success": successes,
        "nb_machine_switches": result.host_switches,
        "scheduling_time": result.deciding_seconds,
        "simulation_time": result.deciding_seconds + result.simulating_seconds,
        "success_rate": successes / jobs,
    }
    columns |= {f"time_{state}": result.host_seconds[state] for state in STATES}
    return {key: f"{value:z.6f}" if isinstance(value, float) else str(value) for key, value in columns.items()}


def _pieces(result: Result) -> Iterator[bytes]:
    yield f"{JOBS_HEADER}\n".encode()
    rows = _rows(result)
    while some := list(islice(rows, PIECE)):
        yield "\n".join((*some, "")).encode()


def _rows(result: Result) -> Iterator[str]:
    #: Host sets that several jobs had are spelled once.
    spelled: dict[int, str] = {}
    for record in result.jobs:
        job, state = record.job, record.state
        workload, _, name = job.id.partition("!")
        walltime = -1.0 if job.walltime is None else job.walltime
        asked = (name, workload, job.profile, job.submit_time, job.size, walltime)
        if state == REJECTED:
            yield _REJECTED_ROW % (*asked, state, record.metadata)
            continue
        start, finish, submitted = record.start, record.finish, job.submit_time
        execution, turnaround = finish - start, finish - submitted
        times = (start, execution, finish, start - submitted, turnaround, record.stretch)
        bits = record.hosts.bits
        hosts = spelled.get(bits)
        if hosts is None:
            hosts = spelled[bits] = format_bits(bits)
        yield _ROW % (*asked, state == COMPLETED_SUCCESSFULLY, state, *times, hosts, record.energy, record.metadata)

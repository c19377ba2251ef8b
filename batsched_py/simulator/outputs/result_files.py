"""Batsim's own output files, jobs and schedule, with the columns, their order and the numbers of Batsim 4.2.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.bits import format_bits
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.simulator.records import JobRecord, Result, SlowedJob, stretch
from batsched_py.traces.atomic_file import write_atomically, write_pieces_atomically
from batsched_py.traces.text_aside import TextAside

#: Endings of Batsim's result files, behind the prefix of its option -e.
JOBS: Final = "_jobs.csv"
SCHEDULE: Final = "_schedule.csv"
#: In Batsim 5.
SCHEDULE_JSON: Final = "_schedule.json"
MACHINE_STATES: Final = "_machine_states.csv"
CONSUMED_ENERGY: Final = "_consumed_energy.csv"
PSTATE_CHANGES: Final = "_pstate_changes.csv"
#: Ending of a file that Batsim does not have: the jobs that others have slowed down.
CONTENTION: Final = "_contention.csv"

CONTENTION_HEADER: Final = "job_id,workload_name,execution_time,alone_time,slowdown"

JOBS_HEADER: Final = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata"
)

_ROW: Final = '%s,%s,%s,%.6f,%d,%.6f,%d,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%s,%.6f,"%s"\n'
_REJECTED_ROW: Final = '%s,%s,%s,%.6f,%d,%.6f,0,%s,,,,,,,,,"%s"\n'

#: Columns that depend on the machine, which Batsim 5 has in a file of their own.
_WALL_CLOCK: Final = frozenset({"scheduling_time", "simulation_time"})

#: Rows that are written at once.
PIECE: Final = 4096

#: States of hosts with a column of their own, in alphabetical order like all columns of the schedule file.
STATES: Final = ("computing", "idle", "sleeping", "switching_off", "switching_on", "unavailable")


def write_jobs(path: Path, result: Result) -> None:
    """Write one row for each job, in order of completion or rejection; Batsim 1.4 has none for a rejected job.

    The file is replaced whole or not at all. OSError.
    """
    listed = (record for record in result.jobs if result.lists_rejected or not record.rejected)
    write_rows(path, JOBS_HEADER, map(_row, listed))


def write_contention(path: Path, slowed: Iterable[SlowedJob]) -> None:
    """Write one row for each job that others have slowed down; the file is replaced whole or not at all. OSError."""
    rows = []
    for job in slowed:
        workload, _, name = job.job_id.partition("!")
        times = f"{job.execution:.6f},{job.alone:.6f},{stretch(job.execution, job.alone):.6f}"
        rows.append(f"{name},{workload},{times}\n")
    write_rows(path, CONTENTION_HEADER, iter(rows))


class JobRows(TextAside):
    """Rows of the jobs file, put aside on disk as jobs end: no job need stay in memory until all have ended.

    OSError if they cannot be written.
    """

    def __init__(self, folder: Path, *, lists_rejected: bool = True) -> None:
        """`folder` is where the rows wait, which must exist; rejected jobs may have no rows (Batsim 1.4)."""
        super().__init__(folder)
        self._lists_rejected = lists_rejected

    def add(self, records: Sequence[JobRecord]) -> None:
        """Put the rows of these jobs aside, as far as such jobs have one."""
        listed = [_row(record) for record in records if self._lists_rejected or record.state != REJECTED]
        self.put("".join(listed))

    def write(self, path: Path) -> None:
        """Write what `write_jobs` writes of the same records."""
        self.write_below(JOBS_HEADER, path)


def write_schedule(path: Path, result: Result) -> None:
    """Write one row of metrics of the whole run; the file is replaced at once or not at all. OSError."""
    columns = schedule_columns(result)
    write_atomically(path, f"{','.join(columns)}\n{','.join(columns.values())}\n".encode())


def write_schedule_json(path: Path, result: Result) -> None:
    """Write the metrics of the whole run as Batsim 5 does, without those of the wall clock. OSError."""
    columns = schedule_columns(result)
    lines = [f'  "{name}": {_json_number(value)}' for name, value in columns.items() if name not in _WALL_CLOCK]
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _json_number(value: str) -> str:
    """Return a number as it is, and any other text in quotes."""
    return value if value.replace(".", "", 1).replace("-", "", 1).isdigit() else f'"{value}"'


def schedule_columns(result: Result) -> Mapping[str, str]:
    """Return column -> value as it is written. Means are over all jobs, rejected ones too, as Batsim computes them."""
    tally = result.counted()
    successes = tally.states[COMPLETED_SUCCESSFULLY]
    jobs = max(1, tally.jobs)
    max_waiting, all_waiting = _largest_and_sum(tally.waits)
    max_turnaround, all_turnaround = _largest_and_sum(tally.turnarounds)
    max_slowdown, all_slowdown = _largest_and_sum(tally.slowdowns)
    columns: dict[str, str | int | float] = {
        "batsim_version": f"batsched-py {batsched_py.__version__}",
        "consumed_joules": float(result.consumed_joules),
        "makespan": float(result.makespan),
        "max_slowdown": max_slowdown,
        "max_turnaround_time": max_turnaround,
        "max_waiting_time": max_waiting,
        "mean_slowdown": all_slowdown / jobs,
        "mean_turnaround_time": all_turnaround / jobs,
        "mean_waiting_time": all_waiting / jobs,
        "nb_computing_machines": result.host_count + result.storage_count,
        "nb_grouped_switches": result.switch_requests,
        "nb_jobs": tally.jobs,
        "nb_jobs_finished": tally.ran,
        "nb_jobs_killed": tally.ran - successes,
        "nb_jobs_rejected": tally.states[REJECTED],
        "nb_jobs_success": successes,
        "nb_machine_switches": result.host_switches,
        "scheduling_time": result.deciding_seconds,
        "simulation_time": result.deciding_seconds + result.simulating_seconds,
        "success_rate": successes / jobs,
    }
    columns |= {f"time_{state}": result.host_seconds[state] for state in STATES}
    return {key: f"{value:z.6f}" if isinstance(value, float) else str(value) for key, value in columns.items()}


def _largest_and_sum(values: Callable[[], Iterable[float]]) -> tuple[float, float]:
    """Return (largest of these and 0, sum): they are computed twice rather than kept, eight bytes for each job."""
    return max(chain((0.0,), values())), sum(values(), 0.0)


def write_rows(path: Path, header: str, rows: Iterator[str]) -> None:
    """Write a header and rows, each with its end of line, some at a time; replace the file whole or not at all."""
    some = iter(lambda: "".join(islice(rows, PIECE)), "")
    write_pieces_atomically(path, (piece.encode() for piece in chain((f"{header}\n",), some)))


def _row(record: JobRecord) -> str:
    job, state = record.job, record.state
    workload, _, name = job.id.partition("!")
    walltime = -1.0 if job.walltime is None else job.walltime
    asked = (name, workload, job.profile, job.submit_time, job.size, walltime)
    if state == REJECTED:
        return _REJECTED_ROW % (*asked, state, record.metadata)
    start, finish, submitted = record.start, record.finish, job.submit_time
    execution, turnaround = finish - start, finish - submitted
    times = (start, execution, finish, start - submitted, turnaround, stretch(turnaround, execution))
    hosts = format_bits(record.hosts.bits)
    return _ROW % (*asked, state == COMPLETED_SUCCESSFULLY, state, *times, hosts, record.energy, record.metadata)

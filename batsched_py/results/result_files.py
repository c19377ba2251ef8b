"""Batsim's output files jobs and schedule: order of columns and format of numbers as in Batsim 4.2.1 and 5.0.0-rc2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Final

import batsched_py
from batsched_py.addition import add_up
from batsched_py.bits import format_bits
from batsched_py.files.atomic_file import write_atomically, write_pieces_atomically
from batsched_py.files.text_spool import TextSpool
from batsched_py.protocol.events import COMPLETED_SUCCESSFULLY, REJECTED
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.place_files import PLACES_HEADER, place_lines, write_places
from batsched_py.results.records import JobRecord, Result, SlowedJob, stretch

#: Suffix of a file unknown to Batsim: the jobs slowed down by others.
CONTENTION: Final = "_contention.csv"

CONTENTION_HEADER: Final = "job_id,workload_name,execution_time,alone_time,slowdown"

JOBS_HEADER: Final = (
    "job_id,workload_name,profile,submission_time,requested_number_of_resources,requested_time,success,final_state,"
    "starting_time,execution_time,finish_time,waiting_time,turnaround_time,stretch,allocated_resources,"
    "consumed_energy,metadata"
)

_ROW: Final = "%s,%s,%s,%.6f,%d,%.6f,%d,%s,%.6f,%.6f,%.6f,%.6f,%.6f,%.6f,%s,%.6f,%s\n"
_REJECTED_ROW: Final = "%s,%s,%s,%.6f,%d,%.6f,0,%s,,,,,,,,,%s\n"

#: Columns with wall-clock times -> their names in Batsim 5's separate file for them.
_WALL_CLOCK: Final = {"scheduling_time": "time_in_edc_seconds", "simulation_time": "time_in_simu_seconds"}

#: Number of rows in one write.
PIECE: Final = 4096

#: States of hosts with a column, in alphabetical order like all columns of the schedule file.
STATES: Final = ("computing", "idle", "sleeping", "switching_off", "switching_on", "unavailable")


def write_jobs(path: Path, result: Result) -> None:
    """Write one row for each job, in order of completion or rejection; Batsim 1.4 has none for a rejected job.

    The file is replaced completely or not at all. OSError.
    """
    write_rows(path, JOBS_HEADER, _rows(result.jobs, result.files))


def write_contention(path: Path, slowed: Iterable[SlowedJob]) -> None:
    """Write one row for each job slowed down by others, replacing the file completely or not at all. OSError."""
    rows = []
    for job in slowed:
        workload, _, name = job.job_id.partition("!")
        times = f"{job.execution:.6f},{job.alone:.6f},{stretch(job.execution, job.alone):.6f}"
        rows.append(f"{name},{workload},{times}\n")
    write_rows(path, CONTENTION_HEADER, iter(rows))


class JobRows(TextSpool):
    """A writer of the jobs file that stores rows on disk as jobs end, so that jobs do not remain in memory.

    OSError if they cannot be written.
    """

    def __init__(self, folder: Path, files: FileForm = BATSIM_4) -> None:
        """Open the temporary file in `folder`, which must exist."""
        super().__init__(folder)
        self._folder, self._files = folder, files
        #: Rows of places; None before the first one.
        self._places: TextSpool | None = None

    def add(self, records: Sequence[JobRecord]) -> None:
        """Store the rows of these jobs; rejected jobs may have none."""
        self.put("".join(_rows(records, self._files)))
        placed = [(record.job.id, record.places) for record in records if record.places is not None]
        if placed:
            if self._places is None:
                self._places = TextSpool(self._folder)
            self._places.put(place_lines(placed))

    def close(self) -> None:
        """Discard the stored rows."""
        if self._places is not None:
            self._places.close()
        super().close()

    def write(self, path: Path) -> None:
        """Write the file, with the same content as `write_jobs` of all records."""
        self.write_below(JOBS_HEADER, path)

    def write_places(self, path: Path) -> None:
        """Write the file of places, with the same content as `place_files.write_places` of all records."""
        if self._places is None:
            write_places(path, ())
        else:
            self._places.write_below(PLACES_HEADER, path)


def write_schedule(path: Path, result: Result) -> None:
    """Write one row of metrics of the whole run; the file is replaced completely or not at all. OSError.

    For Batsim 5 it is a JSON object, without wall-clock times.
    """
    columns = schedule_columns(result)
    if result.files.real_exec_info:
        _write_object(path, {name: value for name, value in columns.items() if name not in _WALL_CLOCK})
    else:
        write_atomically(path, f"{','.join(columns)}\n{','.join(columns.values())}\n".encode())


def write_real_exec_info(path: Path, result: Result) -> None:
    """Write wall-clock times in the format of Batsim 5, without its memory usage. OSError."""
    columns = schedule_columns(result)
    _write_object(path, {name: columns[column] for column, name in _WALL_CLOCK.items()})


def _write_object(path: Path, members: Mapping[str, str]) -> None:
    lines = [f'  "{name}": {_json_number(value)}' for name, value in members.items()]
    write_atomically(path, ("{\n" + ",\n".join(lines) + "\n}\n").encode())


def _json_number(value: str) -> str:
    """Return the text of a number unchanged, and any other text in quotes."""
    return value if value.replace(".", "", 1).replace("-", "", 1).isdigit() else f'"{value}"'


def schedule_columns(result: Result) -> Mapping[str, str]:
    """Return column -> formatted value. Means include rejected jobs, as in Batsim."""
    tally = result.counted
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
    """Return (maximum of these and 0, sum); iterating twice saves eight bytes of memory per job."""
    return max(chain((0.0,), values())), add_up(values())


def write_rows(path: Path, header: str, rows: Iterator[str]) -> None:
    """Write a header and rows with line ends, in groups; replace the file completely or not at all."""
    some = iter(lambda: "".join(islice(rows, PIECE)), "")
    write_pieces_atomically(path, (piece.encode() for piece in chain((f"{header}\n",), some)))


def _rows(records: Iterable[JobRecord], files: FileForm) -> Iterator[str]:
    complete = files.complete_profiles
    return (_row(record, complete) for record in records if files.lists_rejected or record.state != REJECTED)


def _row(record: JobRecord, complete: bool) -> str:
    """Return the row of a job; in Batsim 5 it has the `complete` name of the profile and no metadata."""
    job, state = record.job, record.state
    workload, _, name = job.id.partition("!")
    walltime = -1.0 if job.walltime is None else job.walltime
    profile = f"{workload}!{job.profile}" if complete and "!" not in job.profile else job.profile
    metadata = "" if complete else f'"{record.metadata}"'
    asked = (name, workload, profile, job.submit_time, job.size, walltime)
    if state == REJECTED:
        return _REJECTED_ROW % (*asked, state, metadata)
    start, finish, submitted = record.start, record.finish, job.submit_time
    execution, turnaround = finish - start, finish - submitted
    times = (start, execution, finish, start - submitted, turnaround, stretch(turnaround, execution))
    hosts = format_bits(record.hosts.bits)
    return _ROW % (*asked, state == COMPLETED_SUCCESSFULLY, state, *times, hosts, record.energy, metadata)

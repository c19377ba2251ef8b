"""The result files of a run, under Batsim's names, each written whole or not at all.

Files are written after the run. Only the rows of jobs are kept on disk while it goes on, so that a simulation of
millions of jobs needs no memory for those that have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from batsched_py.files.output_file import existing_folder, naming_errors, writing
from batsched_py.results import result_files as results
from batsched_py.results import trace_files as traces
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.place_files import CAPACITIES, PLACES, write_capacities, write_places
from batsched_py.results.records import JobRecord, Result
from batsched_py.results.run_file import run_path
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.run_description import RunOrigin, write_description
from batsched_py.runs.table_writer import table_files, write_tables


def result_paths(
    prefix: str | None, *, machine_states: bool, energy: bool, decisions: bool = False, files: FileForm = BATSIM_4
) -> list[Path]:
    """Return the paths of a run's results and description; none without a prefix, which may end with a slash."""
    if prefix is None:
        return []
    endings = [files.jobs, files.schedule, *([files.real_exec_info] if files.real_exec_info else [])]
    if machine_states:
        endings.append(files.machine_states)
    if energy:
        endings += [files.consumed_energy, files.pstate_changes]
    if decisions:
        endings.append(DECISIONS)
    return [*(Path(prefix + ending) for ending in endings), run_path(prefix)]


def write_result(prefix: str, result: Result, rows: results.JobRows | None = None) -> None:
    """Create the folder and write the result's files, each one completely or not at all. InputError.

    The jobs are those of `rows`, if stored on disk.
    """
    trace, files = result.trace, result.files
    writers: dict[str, Callable[[Path], None]] = {
        files.jobs: rows.write if rows is not None else lambda path: results.write_jobs(path, result),
        files.schedule: lambda path: results.write_schedule(path, result),
    }
    if files.real_exec_info:
        writers[files.real_exec_info] = lambda path: results.write_real_exec_info(path, result)
    if trace is not None and (states := trace.states) is not None:
        writers[files.machine_states] = lambda path: traces.write_machine_states(path, states)
    if trace is not None and (energy := trace.energy) is not None:
        writers[files.consumed_energy] = lambda path: traces.write_consumed_energy(path, energy)
        writers[files.pstate_changes] = lambda path: traces.write_pstate_changes(path, trace)
    if (slowed := result.slowed) is not None:
        writers[results.CONTENTION] = lambda path: results.write_contention(path, slowed)
    if (capacity := result.capacity) is not None:
        placed = ((record.job.id, record.places) for record in result.jobs if record.places is not None)
        writers[PLACES] = rows.write_places if rows is not None else lambda path: write_places(path, placed)
        writers[CAPACITIES] = lambda path: write_capacities(path, capacity)
    for ending, write in writers.items():
        path = Path(prefix + ending)
        with writing(path):
            write(path)
    write_tables(prefix, result.tables)


def write_run(
    prefix: str,
    result: Result,
    origin: RunOrigin,
    *,
    rows: results.JobRows | None = None,
    decisions: DecisionSpool | None = None,
    failure: str = "",
) -> None:
    """Write all files of a run, the description last. InputError.

    Jobs and decisions are those stored on disk; without decisions there is no file of them. `failure` marks the results
    of a run that failed as partial.
    """
    write_result(prefix, result, rows)
    found = {"jobs": Path(prefix + result.files.jobs)}
    if decisions is not None:
        decisions.write()
        found["decisions"] = decisions.path
    if result.slowed is not None:
        found["contention"] = Path(prefix + results.CONTENTION)
    if result.capacity is not None:
        found |= {"places": Path(prefix + PLACES), "capacities": Path(prefix + CAPACITIES)}
    found |= table_files(prefix, result.tables)
    write_description(prefix, origin, found, approximations=result.approximations, failure=failure)


class JobRowSpool(results.JobRows):
    """The rows of a jobs file in a temporary file in its folder, which frees the memory of ended jobs. InputError."""

    def __init__(self, prefix: str, files: FileForm) -> None:
        self._path = Path(prefix + files.jobs)
        with naming_errors(self._path):
            super().__init__(existing_folder(self._path), files)

    def add(self, records: Sequence[JobRecord]) -> None:
        """Store the rows of these jobs; rejected jobs may have none."""
        with naming_errors(self._path):
            super().add(records)

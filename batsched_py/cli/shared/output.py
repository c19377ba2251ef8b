"""The result files of a simulation, under Batsim's names."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from batsched_py.cli.shared.output_paths import write_failure, writing
from batsched_py.simulator.outputs.result_files import (
    CONSUMED_ENERGY,
    JOBS,
    MACHINE_STATES,
    PSTATE_CHANGES,
    SCHEDULE,
    JobRows,
    write_jobs,
    write_schedule,
)
from batsched_py.simulator.outputs.trace_files import write_consumed_energy, write_machine_states, write_pstate_changes
from batsched_py.simulator.outputs.tracing import Trace
from batsched_py.simulator.records import JobRecord, Result

_Writer = Callable[[Path, Result], None]


def result_files(prefix: str | None, *, machine_states: bool, energy: bool) -> dict[Path, _Writer]:
    """Return the files to write, with their writers; empty without a prefix, which may end with a slash."""
    if prefix is None:
        return {}
    writers: dict[str, _Writer] = {JOBS: write_jobs, SCHEDULE: write_schedule}
    if machine_states:
        writers[MACHINE_STATES] = _write_machine_states
    if energy:
        writers |= {CONSUMED_ENERGY: _write_consumed_energy, PSTATE_CHANGES: _write_pstate_changes}
    return {Path(prefix + ending): writer for ending, writer in writers.items()}


def write_result(files: dict[Path, _Writer], result: Result) -> None:
    """Make the folder and write the files, each whole or not at all. InputError."""
    for path, write in files.items():
        with writing(path):
            write(path, result)


@contextmanager
def rows_aside(files: dict[Path, _Writer], *, lists_rejected: bool) -> Iterator[Callable[[Sequence[JobRecord]], None]]:
    """Yield a function that stores the rows of the jobs file as jobs end, for `write_result`; so jobs can be forgotten.

    The jobs file is among `files`. InputError if rows cannot be stored.
    """
    path = next(path for path, writer in files.items() if writer is write_jobs)
    folder = next(folder for folder in Path(os.path.realpath(path)).parents if folder.is_dir())
    try:
        rows = JobRows(folder, lists_rejected=lists_rejected)
    except OSError as error:
        raise write_failure(path, error) from error

    def put_aside(records: Sequence[JobRecord]) -> None:
        try:
            rows.add(records)
        except OSError as error:
            raise write_failure(path, error) from error

    with rows:
        files[path] = lambda path, _: rows.write(path)
        yield put_aside


def _write_machine_states(path: Path, result: Result) -> None:
    rows = _trace(result).states
    assert rows is not None  # noqa: S101  # traced because the file was wanted
    write_machine_states(path, rows)


def _write_consumed_energy(path: Path, result: Result) -> None:
    rows = _trace(result).energy
    assert rows is not None  # noqa: S101  # as above
    write_consumed_energy(path, rows)


def _write_pstate_changes(path: Path, result: Result) -> None:
    write_pstate_changes(path, _trace(result))


def _trace(result: Result) -> Trace:
    assert result.trace is not None  # noqa: S101  # as above
    return result.trace

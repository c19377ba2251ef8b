"""The result files of simulations, under Batsim's names: of one run, and of each run of a study.

Files are written whole or not at all, after the run. Only the rows of jobs are put aside while it goes on, so that a
simulation of millions of jobs needs no memory for those that ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from batsched_py.cli.shared.output_paths import make_folder, naming_errors, writing
from batsched_py.simulator.outputs import result_files as results
from batsched_py.simulator.outputs import trace_files as traces
from batsched_py.simulator.outputs.tracing import Trace
from batsched_py.simulator.records import JobRecord, Result
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.lublin import Drawn

if TYPE_CHECKING:  # the package imports much that one simulation does not need
    from batsched_py.campaigns.inputs import WorkloadLike

_Writer = Callable[[Path, Result], None]


def result_files(prefix: str | None, *, machine_states: bool, energy: bool) -> dict[Path, _Writer]:
    """Return the files to write, with their writers; empty without a prefix, which may end with a slash."""
    if prefix is None:
        return {}
    writers: dict[str, _Writer] = {results.JOBS: results.write_jobs, results.SCHEDULE: results.write_schedule}
    if machine_states:
        writers[results.MACHINE_STATES] = _write_machine_states
    if energy:
        writers |= {results.CONSUMED_ENERGY: _write_consumed_energy, results.PSTATE_CHANGES: _write_pstate_changes}
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
    path = next(path for path, writer in files.items() if writer is results.write_jobs)
    folder = next(folder for folder in Path(os.path.realpath(path)).parents if folder.is_dir())
    with naming_errors(path):
        rows = results.JobRows(folder, lists_rejected=lists_rejected)

    def put_aside(records: Sequence[JobRecord]) -> None:
        with naming_errors(path):
            rows.add(records)

    with rows:
        files[path] = lambda path, _: rows.write(path)
        yield put_aside


class ResultWriter(Struct, frozen=True):
    """Writes FOLDER/WORKLOAD/ALGORITHM_jobs.csv and the other files of a run; can be pickled.

    Attributes:
        folder: the folder of all files.
        machine_states, energy: True if these have files.
    """

    folder: Path
    machine_states: bool
    energy: bool

    def __call__(self, workload: str, variant: str, result: Result) -> None:
        """Write the files of one run. InputError."""
        write_result(self._files(workload, variant), result)

    def paths(self, sources: Mapping[str, WorkloadLike], variants: Sequence[str]) -> list[Path]:
        """Return the paths of all files. UsageError if two names are the same in paths."""
        _check_plain(sources)
        _check_plain(variants)
        results = [path for workload in sources for variant in variants for path in self._files(workload, variant)]
        return [*results, *self._drawn(sources)]

    def write_drawn(self, sources: Mapping[str, WorkloadLike]) -> None:
        """Write drawn workloads to FOLDER/WORKLOAD/workload.json, as `generate` would. InputError."""
        for path, drawn in self._drawn(sources).items():
            make_folder(path)
            write_workload(path, drawn.draw(), description=drawn.description)

    def _drawn(self, sources: Mapping[str, WorkloadLike]) -> dict[Path, Drawn]:
        return {
            self.folder / _plain(name) / "workload.json": source
            for name, source in sources.items()
            if isinstance(source, Drawn)
        }

    def _files(self, workload: str, variant: str) -> dict[Path, Any]:
        prefix = str(self.folder / _plain(workload) / _plain(variant))
        return result_files(prefix, machine_states=self.machine_states, energy=self.energy)


def _write_machine_states(path: Path, result: Result) -> None:
    rows = _trace(result).states
    assert rows is not None  # noqa: S101  # traced because the file was wanted
    traces.write_machine_states(path, rows)


def _write_consumed_energy(path: Path, result: Result) -> None:
    rows = _trace(result).energy
    assert rows is not None  # noqa: S101  # as above
    traces.write_consumed_energy(path, rows)


def _write_pstate_changes(path: Path, result: Result) -> None:
    traces.write_pstate_changes(path, _trace(result))


def _trace(result: Result) -> Trace:
    assert result.trace is not None  # noqa: S101  # as above
    return result.trace


def _plain(name: str) -> str:
    """Make a name fit for paths, without blanks and brackets: easy(order=sjf) becomes easy-order=sjf."""
    return re.sub(r"[^\w.+=-]+", "-", name).strip("-.") or "-"


def _check_plain(names: Iterable[str]) -> None:
    """Check that all names differ in paths. UsageError."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(_plain(name), name)
        if other != name:
            raise click.UsageError(f"'-e' would write the files of {other} and of {name} to the same place")

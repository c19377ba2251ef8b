"""The result files of simulations, under Batsim's names, for one run and for each run of a study.

Files are written after the run, completely or not at all. Only the rows of jobs are stored on disk during the run, so
that a simulation of millions of jobs needs no memory for ended ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.cli.shared.decisions_aside import DecisionsAside
from batsched_py.cli.shared.output_paths import existing_folder, make_folder, naming_errors, writing
from batsched_py.cli.shared.table_writer import write_tables
from batsched_py.results import result_files as results
from batsched_py.results import trace_files as traces
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.records import JobRecord, Result
from batsched_py.results.run_file import run_path
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.lublin import Drawn

if TYPE_CHECKING:  # the package imports modules that a single simulation does not need
    from batsched_py.campaigns.inputs import WorkloadLike
    from batsched_py.session.decision_log import PassOn

#: The name of a generated workload's file, in the folder of its runs.
_DRAWN: Final = "workload.json"


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
    if result.slowed:
        writers[results.CONTENTION] = lambda path: results.write_contention(path, result.slowed)
    for ending, write in writers.items():
        path = Path(prefix + ending)
        with writing(path):
            write(path)
    write_tables(prefix, result.tables)


class RowsAside(results.JobRows):
    """The rows of a jobs file in a temporary file in its folder, which frees the memory of ended jobs. InputError."""

    def __init__(self, prefix: str, files: FileForm) -> None:
        self._path = Path(prefix + files.jobs)
        with naming_errors(self._path):
            super().__init__(existing_folder(self._path), files)

    def add(self, records: Sequence[JobRecord]) -> None:
        """Store the rows of these jobs; rejected jobs may have none."""
        with naming_errors(self._path):
            super().add(records)


class ResultWriter(Struct, frozen=True):
    """A picklable writer of FOLDER/WORKLOAD/ALGORITHM_jobs.csv and the other files of a run.

    Files without an underscore in their names (Batsim 5) are in folders: FOLDER/WORKLOAD/ALGORITHM/jobs.csv.

    Attributes:
        folder: the folder of all files.
        machine_states, energy: whether these files are written.
        files: the names of Batsim's own files.
    """

    folder: Path
    machine_states: bool
    energy: bool
    files: FileForm = BATSIM_4

    def __call__(self, workload: str, variant: str, result: Result) -> None:
        """Write the files of one run. InputError."""
        write_result(self.prefix(workload, variant), result)

    @contextmanager
    def decisions(self, workload: str, variant: str) -> Iterator[PassOn]:
        """Yield a receiver of the decisions of one run, and write their file if the run succeeds. InputError."""
        with DecisionsAside(self.prefix(workload, variant)) as aside:
            yield aside.add
            aside.write()

    def paths(self, sources: Mapping[str, WorkloadLike], variants: Sequence[str]) -> list[Path]:
        """Return the paths of all files. UsageError if two names are the same in paths."""
        _check_plain(sources)
        _check_plain(variants)
        files = (
            result_paths(
                self.prefix(workload, variant),
                machine_states=self.machine_states,
                energy=self.energy,
                decisions=True,
                files=self.files,
            )
            for workload in sources
            for variant in variants
        )
        return [*chain.from_iterable(files), *self._drawn(sources)]

    def write_drawn(self, sources: Mapping[str, WorkloadLike]) -> None:
        """Write generated workloads to FOLDER/WORKLOAD/workload.json, as `generate` would. InputError."""
        for path, drawn in self._drawn(sources).items():
            make_folder(path)
            write_workload(path, drawn.draw(), description=drawn.description)

    def prefix(self, workload: str, variant: str) -> str:
        """Return the prefix of the names of a run's files."""
        path = str(self.folder / _plain(workload) / _plain(variant))
        return path if self.files.jobs.startswith("_") else f"{path}/"

    def drawn_path(self, workload: str) -> Path:
        """Return the path of a generated workload."""
        return self.folder / _plain(workload) / _DRAWN

    def _drawn(self, sources: Mapping[str, WorkloadLike]) -> dict[Path, Drawn]:
        return {self.drawn_path(name): source for name, source in sources.items() if isinstance(source, Drawn)}


def _plain(name: str) -> str:
    """Convert a name for paths, without blanks and brackets: easy(order=sjf) becomes easy-order=sjf."""
    return re.sub(r"[^\w.+=-]+", "-", name).strip("-.") or "-"


def _check_plain(names: Iterable[str]) -> None:
    """Check that all converted names differ. UsageError."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(_plain(name), name)
        if other != name:
            raise click.UsageError(f"'-e' would write the files of {other} and of {name} to the same place")

"""The result files of the runs of a study."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from msgspec import Struct

from batsched_py.files.output_file import make_folder
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.records import Result
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.result_writer import result_paths, write_result
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.lublin import Drawn

if TYPE_CHECKING:  # the package imports modules that a single simulation does not need
    from batsched_py.runs.inputs import WorkloadLike
    from batsched_py.session.decision_log import PassOn

#: The name of a generated workload's file, in the folder of its runs.
_DRAWN: Final = "workload.json"


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
        with DecisionSpool(self.prefix(workload, variant)) as spool:
            yield spool.add
            spool.write()

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

"""The result files of each run of a study, as of `simulate -e`, in a folder for each workload."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from batsched_py.campaigns.inputs import WorkloadLike
from batsched_py.cli.shared.output import result_files, write_result
from batsched_py.cli.shared.output_paths import make_folder
from batsched_py.simulator.records import Result
from batsched_py.traces.batsim_json import write_workload
from batsched_py.traces.drawn import Drawn


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

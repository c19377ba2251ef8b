"""The files of the runs of a study: results, decisions, generated workloads, descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from batsched_py.campaigns.algorithm_seeds import repeat_for_seeds
from batsched_py.campaigns.study import Study
from batsched_py.errors import OptionError
from batsched_py.files.output_file import make_folder
from batsched_py.model.settings import Settings
from batsched_py.model.workload import Workload
from batsched_py.plugins import name_of
from batsched_py.results.decisions_file import DECISIONS
from batsched_py.results.file_forms import BATSIM_4, FileForm
from batsched_py.results.records import Result
from batsched_py.results.run_file import OtherFile
from batsched_py.runs.decision_spool import DecisionSpool
from batsched_py.runs.inputs import WorkloadLike
from batsched_py.runs.result_writer import result_paths, write_result
from batsched_py.runs.run_description import Call, Decider, RunInputs, RunOrigin, plain_settings, write_description
from batsched_py.session.decision_log import PassOn
from batsched_py.traces.batsim_json_writer import write_workload
from batsched_py.traces.lublin import Drawn

#: The name of a generated workload's file, in the folder of its runs.
_DRAWN: Final = "workload.json"


class StudyFiles(Struct, frozen=True):
    """A picklable writer of FOLDER/WORKLOAD/ALGORITHM_jobs.csv and the other files of each run, as `compare -e` does.

    Give it to `run_study` as `keep`, and its `decisions` as `open_log`; call `describe` with the study. Files without
    an underscore in their names (Batsim 5) are in folders: FOLDER/WORKLOAD/ALGORITHM/jobs.csv.

    Attributes:
        folder: the folder of all files.
        machine_states, energy: whether these files are written.
        files: the names of Batsim's own files.
    """

    folder: Path
    machine_states: bool = True
    energy: bool = False
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
        """Return the paths of all files. OptionError if two names are the same in paths."""
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

    def prefix(self, workload: str, variant: str) -> str:
        """Return the prefix of the names of a run's files."""
        path = str(self.folder / _plain(workload) / _plain(variant))
        return path if self.files.jobs.startswith("_") else f"{path}/"

    def drawn_path(self, workload: str) -> Path:
        """Return the path of a generated workload."""
        return self.folder / _plain(workload) / _DRAWN

    def describe(
        self,
        study: Study,
        sources: Mapping[str, WorkloadLike],
        settings: Settings,
        code: Mapping[str, tuple[OtherFile, ...]],
        *,
        clock: str = "zero",
        files: tuple[OtherFile, ...] = (),
        call: Call | None = None,
    ) -> None:
        """Describe each run that did not fail next to its results, and write workloads that are no files. InputError.

        `sources` are the workloads, as for `run_study`; one that is no file is written to
        FOLDER/WORKLOAD/workload.json: a generated one as `generate` would, a part of a log as `convert` would.
        `code` are the files of each algorithm (`files_of_algorithm`, before the runs), `files` are other inputs, such
        as that of events; `call` is the command, if it is not a call from Python.
        """
        drawn = self._drawn({name: source for name, (source, _) in repeat_for_seeds(sources, study.seeds).items()})
        for path, source in drawn.items():
            make_folder(path)
            if isinstance(source, Drawn):
                write_workload(path, source.draw(), description=source.description)
            else:
                write_workload(path, source)
        variants, call = {variant.name: variant for variant in study.variants}, call or Call()
        for outcome in study.outcomes:
            if outcome.failed:
                continue
            workload, variant = study.origins[outcome.workload], variants[outcome.variant]
            path = self.drawn_path(outcome.workload)
            if path in drawn:
                workload = replace(workload, path=str(path))
            prefix = self.prefix(outcome.workload, outcome.variant)
            inputs = RunInputs(study.platform, (workload,), (*files, *code.get(outcome.variant, ())))
            given = tuple(
                name for name in outcome.options if name in variant.options or (name == "seed" and study.seeds)
            )
            decider = Decider(name_of(variant.algorithm), outcome.options, given)
            origin = RunOrigin(inputs, decider, plain_settings(settings, outcome.features, clock=clock), call)
            results = {"jobs": Path(prefix + self.files.jobs), "decisions": Path(prefix + DECISIONS)}
            write_description(prefix, origin, results, approximations=outcome.approximations)

    def _drawn(self, sources: Mapping[str, WorkloadLike]) -> dict[Path, Drawn | Workload]:
        """Return the workloads to write: those that are no files."""
        return {
            self.drawn_path(name): source for name, source in sources.items() if isinstance(source, (Drawn, Workload))
        }


def _plain(name: str) -> str:
    """Convert a name for paths, without blanks and brackets: easy(order=sjf) becomes easy-order=sjf."""
    return re.sub(r"[^\w.+=-]+", "-", name).strip("-.") or "-"


def _check_plain(names: Iterable[str]) -> None:
    """Check that all converted names differ. OptionError."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(_plain(name), name)
        if other != name:
            raise OptionError(f"'-e' would write the files of {other} and of {name} to the same place")

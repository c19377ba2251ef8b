"""The workloads of a study file: workload files, logs that are cut, and models with seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from msgspec import field

from batsched_py.campaigns.plan.campaign import FileWorkloads, LogWorkloads, ModelWorkloads
from batsched_py.campaigns.plan.study_tables import StudyFile, StudyFileTable, member
from batsched_py.errors import OptionError
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.text.display import shown
from batsched_py.text.wording import unknown
from batsched_py.traces.cleaning import CleaningRules
from batsched_py.traces.delay_workload import TimedWork
from batsched_py.traces.formats import INPUTS

#: Parameter of the model -> its type.
_PARAMETERS: Final[Mapping[str, type]] = {
    "jobs": int,
    "load": float,
    "overestimate": float,
    "hosts": int,
    "speed": float,
}


class _FilesTable(StudyFileTable, frozen=True):
    files: str | list[str]
    name: str = ""


class _LogTable(StudyFileTable, frozen=True):
    log: str
    name: str = ""
    format: str = ""
    every: Any = None
    begin: Any = field(name="from", default=None)
    to: Any = None
    skip: Any = None
    hosts: int = 0
    processors: Literal["requested", "used"] = "requested"
    walltime: Literal["request", "run"] = "request"
    max_jobs: int | None = None
    unit: Literal["cpus", "nodes"] | None = None
    speed: float | None = None


class _ModelTable(StudyFileTable, frozen=True):
    model: Literal["lublin"]
    jobs: Any
    name: str = ""
    load: Any = None
    overestimate: Any = None
    hosts: Any = None
    speed: Any = None
    seeds: str | int | list[int] = "0-0"


def read_workloads(file: StudyFile, raw: Any, place: str) -> FileWorkloads | LogWorkloads | ModelWorkloads:
    """Read a table of workloads, which has `files`, a `log` or a `model`. ConfigurationError."""
    kinds = [kind for kind in ("files", "log", "model") if isinstance(raw, dict) and kind in raw]
    if len(kinds) != 1:
        raise file.error(place, "must have one of files, log and model")
    match kinds[0]:
        case "files":
            return _read_files(file, file.convert(raw, _FilesTable, place), place)
        case "log":
            return _read_log(file, file.convert(raw, _LogTable, place), place)
        case _:
            return _read_model(file, file.convert(raw, _ModelTable, place), place)


def _read_files(file: StudyFile, table: _FilesTable, place: str) -> FileWorkloads:
    texts = [table.files] if isinstance(table.files, str) else table.files
    paths = file.resolve_all(texts, member(place, "files"))
    if not paths:
        raise file.error(member(place, "files"), "must name a file")
    return FileWorkloads(table.name or (paths[0].stem if len(paths) == 1 else "files"), paths)


def _read_log(file: StudyFile, table: _LogTable, place: str) -> LogWorkloads:
    every = file.span(table.every, member(place, "every"))
    if every == 0:
        raise file.error(member(place, "every"), "must be greater than 0 s")
    try:
        rules = CleaningRules(table.hosts, table.processors, table.walltime, max_jobs=table.max_jobs)
        window = read_window(file, table.begin, table.to, table.skip, place)
    except OptionError as error:
        raise file.error(place, str(error).replace("--max-jobs", "max_jobs").removeprefix("--")) from error
    if table.speed is not None and not 0 < table.speed < math.inf:
        raise file.error(member(place, "speed"), "must be greater than 0 flop/s")
    if table.format and table.format not in INPUTS:
        raise file.error(member(place, "format"), f"{shown(table.format)} is {unknown(table.format, INPUTS)}")
    path = file.resolve(table.log, member(place, "log"))
    name = table.name or Path(table.log.removesuffix(".gz")).stem
    return LogWorkloads(name, path, table.format, every, window, rules, table.unit, TimedWork(table.speed))


def _read_model(file: StudyFile, table: _ModelTable, place: str) -> ModelWorkloads:
    parameters = {}
    for name, kind in _PARAMETERS.items():
        raw, where = getattr(table, name), member(place, name)
        if raw is not None:
            parameters[name] = tuple(file.typed(value, kind, where) for value in file.values(raw, where))
    return ModelWorkloads(table.name or table.model, parameters, file.seeds(table.seeds, member(place, "seeds")))


def read_window(file: StudyFile, begin: Any, to: Any, skip: Any, place: str) -> WindowChoice:
    """Read `from`, `to` and `skip` of a table. ConfigurationError."""
    try:
        return WindowChoice(
            file.time(begin, member(place, "from")),
            file.time(to, member(place, "to")),
            file.span(skip, member(place, "skip")),
        )
    except OptionError as error:  # skip together with from
        raise file.error(member(place, "skip"), "cannot be combined with from") from error

"""Reader of study files, which describe campaigns in TOML. An error names the file, and field and rule of each."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from msgspec import field

from batsched_py.campaigns.metrics import find_metrics
from batsched_py.campaigns.plan.campaign import AlgorithmSweep, Campaign, PlatformChoice, TuningChoice
from batsched_py.campaigns.plan.paper_table import PaperChoice, read_paper
from batsched_py.campaigns.plan.settings_table import read_settings
from batsched_py.campaigns.plan.study_tables import StudyFile, StudyFileTable, member
from batsched_py.campaigns.plan.workload_tables import read_window, read_workloads
from batsched_py.campaigns.run_limits import RunLimits, parse_memory, parse_timeout
from batsched_py.campaigns.warm_up import parse_warm_up
from batsched_py.errors import ConfigurationError, OptionError
from batsched_py.files.bounded_file import read_file, reported
from batsched_py.reading.faults import FieldError, of_file
from batsched_py.reading.limits import LIMITS, LimitError, Limits, check_depth
from batsched_py.reporting.schedules.time_window import WindowChoice
from batsched_py.text.display import shown

Value = TypeVar("Value")
Limit = TypeVar("Limit", int, float)
#: Maximum number of trials: more are taken for a typing error.
_MOST_TRIALS: Final = 100_000


class _PlatformTable(StudyFileTable, frozen=True):
    file: str
    name: str = ""


class _AlgorithmTable(StudyFileTable, frozen=True):
    algorithm: str
    name: str = ""
    options: dict[str, Any] = field(default_factory=dict)


class _ResultsTable(StudyFileTable, frozen=True):
    baseline: str | None = None
    metrics: list[str] = field(default_factory=list)
    jobs: bool = False
    begin: Any = field(name="from", default=None)
    to: Any = None
    skip: Any = None
    warm_up: Any = None


class _StudyTable(StudyFileTable, frozen=True):
    platforms: str | list[Any]
    workloads: list[Any]
    algorithms: list[Any]
    title: str = ""
    seeds: str | int | list[int] | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    results: dict[str, Any] = field(default_factory=dict)
    tune: dict[str, Any] | None = None
    paper: dict[str, Any] = field(default_factory=dict)
    timeout: str | float | None = None
    memory: str | int | None = None


def read_study(path: Path, limits: Limits = LIMITS) -> Campaign:
    """Read a study file. ConfigurationError names the file, and field and rule of each fault.

    Paths in it are relative to its folder; the included examples have the paths of a clone. The content of the files
    and the options of the algorithms are not checked here.
    """
    with reported(path, ConfigurationError):
        content = read_file(path, limits)
    try:
        raw = tomllib.loads(content.decode())
        check_depth(raw, limits)
    except (LimitError, RecursionError) as error:
        raise ConfigurationError(str(path), "", limits.rule("depth")) from error
    except ValueError as error:  # not TOML, not UTF-8, or an integer of thousands of digits
        raise ConfigurationError(str(path), "", f"is not TOML: {error}") from error
    file = StudyFile(path)
    try:
        campaign = _read_campaign(file, file.convert(raw, _StudyTable, ""), limits)
    except FieldError as error:
        raise of_file(ConfigurationError, str(path), error) from None
    if campaign.least_runs > limits.runs:
        raise ConfigurationError(str(path), "", limits.rule("runs"))
    return campaign


def _read_campaign(file: StudyFile, table: _StudyTable, limits: Limits) -> Campaign:
    """Return the campaign of a file; FieldError with the faults of all its tables."""
    attempt = file.attempt
    results = attempt(lambda: file.convert(table.results, _ResultsTable, "results"), _ResultsTable())
    window, warm_up_jobs = attempt(lambda: _measured(file, results), (WindowChoice(), 0))
    campaign = Campaign(
        source=file.path,
        platforms=attempt(lambda: _platforms(file, table.platforms), ()),
        workloads=_each(file, table.workloads, "workloads", read_workloads),
        algorithms=_each(file, table.algorithms, "algorithms", _algorithm),
        settings=attempt(lambda: read_settings(file, table.settings, limits), ()),
        title=table.title,
        seeds=() if table.seeds is None else attempt(partial(file.seeds, table.seeds, "seeds"), ()),
        window=window,
        warm_up_jobs=warm_up_jobs,
        baseline=results.baseline,
        metrics=attempt(lambda: _metrics(file, results.metrics), ()),
        jobs=results.jobs,
        tuning=None if table.tune is None else attempt(partial(_tuning, file, table.tune), None),
        paper=attempt(lambda: read_paper(file, table.paper), PaperChoice()),
        limits=RunLimits(
            _limit(file, table.timeout, parse_timeout, "timeout"), _limit(file, table.memory, parse_memory, "memory")
        ),
    )
    file.faults.refuse()
    return campaign


def _measured(file: StudyFile, results: _ResultsTable) -> tuple[WindowChoice, int]:
    """Return the part of each run that is measured, and how many of its first jobs are not. ConfigurationError."""
    window, place = read_window(file, results.begin, results.to, results.skip, "results"), "results.warm_up"
    if results.warm_up is None:
        return window, 0
    if not window.whole:
        raise file.error(place, "cannot be combined with from, to and skip")
    choice = file.parsed(lambda: parse_warm_up(str(results.warm_up)), place)
    if isinstance(choice, WindowChoice):
        return choice, 0
    if choice.jobs is None:
        rule = "must be a number of jobs like 500jobs or a time like 2d: compare --warm-up auto finds one"
        raise file.error(place, rule)
    return window, choice.jobs


def _limit(file: StudyFile, raw: Any, parse: Callable[[str], Limit], place: str) -> Limit | None:
    if raw is None:
        return None
    return file.attempt(lambda: file.parsed(lambda: parse(str(raw)), place), None)


def _each(
    file: StudyFile, raw: Sequence[Any], place: str, read: Callable[[StudyFile, Any, str], Value]
) -> tuple[Value, ...]:
    """Return what is read of each table of a list, without faulty ones, whose faults are noted."""
    nothing: Iterable[tuple[Any, str]] = ()
    tables = file.attempt(lambda: _tables(file, raw, place), nothing)
    found = (file.attempt(partial(read, file, one, where), None) for one, where in tables)
    return tuple(one for one in found if one is not None)


def _tables(file: StudyFile, tables: Sequence[Any], place: str) -> Iterable[tuple[Any, str]]:
    """Return each table with its place. ConfigurationError if there is none."""
    if not tables:
        raise file.error(place, "must have at least one")
    return ((table, f"{place}[{number}]") for number, table in enumerate(tables))


def _platforms(file: StudyFile, raw: str | list[Any]) -> tuple[PlatformChoice, ...]:
    """Read the platforms, which must have different names. ConfigurationError."""
    found = _each(file, [raw] if isinstance(raw, str) else raw, "platforms", _platform)
    for name, count in Counter(one.name for one in found).items():
        if count > 1:
            raise file.error("platforms", f"two are called {shown(name)}: give them names of their own")
    return found


def _platform(file: StudyFile, raw: Any, place: str) -> PlatformChoice:
    """Read a platform: a file, or a table with a file and a name. ConfigurationError."""
    table = _PlatformTable(file=raw) if isinstance(raw, str) else file.convert(raw, _PlatformTable, place)
    return PlatformChoice(table.name or Path(table.file).stem, file.resolve(table.file, place))


def _algorithm(file: StudyFile, raw: Any, place: str) -> AlgorithmSweep:
    table = file.convert(raw, _AlgorithmTable, place)
    options = member(place, "options")
    values = {name: file.values(given, member(options, name)) for name, given in table.options.items()}
    return AlgorithmSweep(table.algorithm, values, table.name)


def _tuning(file: StudyFile, raw: dict[str, Any]) -> TuningChoice:
    """Read the table `tune`; options are checked when the algorithm is loaded. ConfigurationError."""
    table = file.convert(raw, TuningChoice, "tune")
    try:
        find_metrics([table.metric])
    except OptionError as error:
        raise file.error("tune.metric", str(error)) from error
    if not 1 <= table.trials <= _MOST_TRIALS:
        raise file.error("tune.trials", f"must be from 1 to {_MOST_TRIALS}, not {table.trials}")
    return table


def _metrics(file: StudyFile, names: list[str]) -> tuple[str, ...]:
    try:
        find_metrics(names)
    except OptionError as error:
        raise file.error("results.metrics", str(error)) from error
    return tuple(names)

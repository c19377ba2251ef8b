"""The description of a run, written with its files, so that their origin is known years later.

Inputs are hashed before the run, which may take long: a file may be changed during the run.
"""

from __future__ import annotations

import importlib
import platform
import re
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct, field

import batsched_py
from batsched_py.errors import DeadlockError
from batsched_py.example_files import display_path
from batsched_py.files.output_file import writing
from batsched_py.model.features import Features
from batsched_py.model.settings import FROM_FILES, Settings
from batsched_py.model.workload import Workload
from batsched_py.results.run_file import (
    InputFile,
    Measured,
    OtherFile,
    RunFile,
    WorkloadFile,
    content_hash,
    run_path,
    write_run,
)
from batsched_py.text.representation import Brief
from batsched_py.traces.lublin import Drawn

#: The name of the program, and of the package.
PROGRAM: Final = "batsched-py"
#: The name of a package at the beginning of a requirement.
_PACKAGE: Final = re.compile(r"[\w.-]+")


class RunInputs(Struct, frozen=True):
    """The input files of a run, in their state before it."""

    platform: InputFile | None = None
    workloads: tuple[WorkloadFile, ...] = ()
    files: tuple[OtherFile, ...] = ()


class Call(Struct, frozen=True):
    """The call that made a run.

    Attributes:
        words: the words of the command; empty for a call from Python.
        started: the time of the wall clock, in seconds since 1970.
        began: the same instant on a monotonic clock.
    """

    words: tuple[str, ...] = ()
    started: float = field(default_factory=time.time)
    began: float = field(default_factory=time.perf_counter)


class Decider(Struct, frozen=True):
    """The decider of a run: an algorithm with its effective options; no algorithm if another program decided.

    Attributes:
        algorithm: the value of -s.
        options: name -> value.
        given: names of the options that were given.
    """

    algorithm: str | None = None
    options: Mapping[str, Any] = {}
    given: tuple[str, ...] = ()


class RunOrigin(Brief, frozen=True):
    """The origin of a run, for its description.

    Attributes:
        inputs: the files that it read, as they were before it.
        decider: the algorithm with its options, defaults included.
        settings: those of the simulator.
        call: the call that made it.
    """

    inputs: RunInputs
    decider: Decider
    settings: Mapping[str, Any]
    call: Call


def platform_file(path: Path) -> InputFile:
    """Return the description of a file. InputError if it cannot be read."""
    return InputFile(display_path(path), content_hash(path))


def workload_file(path: Path, workload: Workload | None = None) -> WorkloadFile:
    """Return the description of a workload; that of a file includes its generator and date, if any. InputError."""
    drawn = None if workload is None else Drawn.of_description(workload.description)
    start = None if workload is None else workload.log_start
    return WorkloadFile(display_path(path), content_hash(path), {} if drawn is None else drawn.parameters, start)


def other_files(**paths: Path | None) -> tuple[OtherFile, ...]:
    """Return the descriptions of the given files by their roles. InputError."""
    return tuple(
        OtherFile(str(path), content_hash(path), role.replace("_", " "))
        for role, path in paths.items()
        if path is not None
    )


def write_description(
    prefix: str,
    origin: RunOrigin,
    results: Mapping[str, Path],
    *,
    approximations: Iterable[str] = (),
    failure: str = "",
) -> None:
    """Write PREFIX_run.json for a run that ends now, completely or not at all. InputError.

    `results` are files that it wrote, by name; `failure` is the reason of its end, "" if it ended normally.
    """
    inputs, decider, call = origin.inputs, origin.decider, origin.call
    seed = decider.options.get("seed")
    seconds = time.perf_counter() - call.began
    run = RunFile(
        algorithm=decider.algorithm,
        options=dict(decider.options),
        given=decider.given,
        seed=seed if isinstance(seed, int) else None,
        platform=inputs.platform,
        workloads=inputs.workloads,
        files=inputs.files,
        settings=dict(origin.settings),
        approximations=tuple(approximations),
        command=call.words,
        version=batsched_py.__version__,
        python=platform.python_version(),
        dependencies=_dependencies(),
        results={name: digest for name, path in results.items() if (digest := content_hash(path)) is not None},
        failure=failure,
        measured=Measured(datetime.fromtimestamp(call.started, UTC).isoformat("T", "seconds"), round(seconds, 3)),
    )
    path = run_path(prefix)
    with writing(path):
        write_run(path, run)


def failure_line(error: BaseException) -> str:
    """Return the entry for a run that ended with an error: one line, without the list of waiting jobs."""
    return " ".join((error.why if isinstance(error, DeadlockError) else str(error)).split())


def plain_settings(settings: Settings, features: Features | None = None, **others: object) -> dict[str, Any]:
    """Return the simulator's settings, and others, as JSON; those from files are represented by their files.

    `features` are those requested from Batsim 5: they override the corresponding settings.
    """
    plain = {name: getattr(settings, name) for name in Settings.__struct_fields__ if name not in FROM_FILES}
    plain["roles"] = dict(settings.roles)
    asked = {} if features is None else {"features": msgspec.to_builtins(features)}
    return {**msgspec.to_builtins(plain), **asked, **others}


@cache
def _dependencies() -> dict[str, str]:
    """Return the versions of the packages that every run needs; empty if batsched-py is not installed."""
    metadata = importlib.import_module("importlib.metadata")  # imports the e-mail package
    try:
        needed = metadata.requires(PROGRAM) or []
    except metadata.PackageNotFoundError:
        return {}
    names = [_PACKAGE.match(line) for line in needed if "extra ==" not in line]
    return {name[0]: metadata.version(name[0]) for name in names if name is not None}

"""The description of a run, `PREFIX_run.json`: algorithm, options, input, versions, and time.

The same input gives the same description except for `measured`, which contains wall-clock times. Files are identified
by path and by the SHA-256 of their content, which shows whether two runs had the same input.
"""

from __future__ import annotations

import hashlib
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
import orjson
from msgspec import Meta, Struct, field

from batsched_py.errors import InputError, WorkloadError
from batsched_py.files.atomic_file import write_atomically
from batsched_py.files.bounded_file import reported
from batsched_py.files.document_file import read_document
from batsched_py.reading.limits import LIMITS, Limits
from batsched_py.reading.members import Members, UnknownNames
from batsched_py.reading.notes import Notes
from batsched_py.reading.structs import fault_of

#: Ending of the file's name, after the prefix of option -e.
RUN: Final = "_run.json"
#: A date and time with an offset.
Date = Annotated[datetime, Meta(tz=True)]


class InputFile(Struct, frozen=True):
    """A file that a run read.

    Attributes:
        path: the path as given, or where the file was found.
        sha256: hash of its content; None for a pipe or a device, whose content can only be read once.
    """

    path: str
    sha256: str | None


class OtherFile(InputFile, frozen=True):
    """A file that a run read in addition to platform and workloads; `role` is its purpose: "events", "algorithm"..."""

    role: str


class WorkloadFile(InputFile, frozen=True, omit_defaults=True):
    """A workload that a run read or generated.

    Attributes:
        generator: the parameters of the model that generated it, with the name of the `model`; empty if unknown.
        log_start: the date of second 0 of its submission times; None if unknown.
    """

    generator: dict[str, str | int | float | None] = field(default_factory=dict)
    log_start: Date | None = None


class Measured(Struct, frozen=True):
    """Wall-clock times of a run.

    Attributes:
        started: date and time in UTC, as in ISO 8601.
        seconds: elapsed time until the results were written.
    """

    started: str
    seconds: float


class RunFile(Struct, frozen=True, kw_only=True):
    """The description of a run.

    Attributes:
        algorithm: the value of option -s; None if another program decided.
        options: the algorithm's effective options, including defaults; files and functions are represented by texts.
        given: names of the options that were given; the others had their defaults.
        seed: seed of the algorithm's random numbers; None if it has no option with this name.
        platform: the file of the hosts; None if Batsim read it.
        workloads: the files of the jobs, in their order.
        files: all other files that were read.
        settings: the simulator's effective settings; for `serve`, the known settings of Batsim.
        approximations: simplifications that affected the run, one line each.
        command: the words of the command line.
        version: of batsched-py.
        python: the version of Python.
        dependencies: package -> version.
        results: file name without folder -> SHA-256 of its content.
        failure: one line if the run ended with an error; "" otherwise.
        measured: values that differ between repetitions of a run.
    """

    algorithm: str | None
    options: dict[str, Any]
    given: tuple[str, ...] = ()
    seed: int | None
    platform: InputFile | None
    workloads: tuple[WorkloadFile, ...]
    files: tuple[OtherFile, ...] = ()
    settings: dict[str, Any]
    approximations: tuple[str, ...] = ()
    command: tuple[str, ...]
    version: str
    python: str = ""
    dependencies: dict[str, str] = {}
    results: dict[str, str] = {}
    failure: str = ""
    measured: Measured | None = None

    @property
    def log_start(self) -> datetime | None:
        """The date of second 0; None if the workloads do not specify it, or specify different ones."""
        starts = {file.log_start for file in self.workloads}
        return starts.pop() if len(starts) == 1 else None


def run_path(prefix: str) -> Path:
    """Return the path of a run's description; the prefix may end with a slash, as in Batsim."""
    return Path(prefix + RUN)


def write_run(path: Path, run: RunFile) -> None:
    """Write a description; the file is replaced completely or not at all. OSError."""
    content = orjson.dumps(msgspec.to_builtins(run), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, content)


def read_run(path: Path, *, limits: Limits = LIMITS, notes: Notes | None = None) -> RunFile:
    """Read a description; InputError names the file, the member and the rule.

    A later version may have written unknown members: `notes`, if given, receives a line for each.
    """
    document = read_document(path, limits)
    try:
        run = msgspec.convert(document, RunFile)
    except msgspec.ValidationError as error:
        fault = fault_of(error, document)
        raise InputError(str(path), fault.path, f"is not a description of a run: {fault.rule}") from error
    if notes is not None:
        for place, members, kind in _objects(document):
            kind.check(members, notes, place)
    return run


def _objects(document: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], Members]]:
    """Yield the objects of a description: place, members, and known members."""
    yield "", document, _known(RunFile, "a description")
    ones: dict[str, type[Struct]] = {"platform": InputFile, "measured": Measured}
    for name, kind in ones.items():
        if document.get(name):
            yield name, document[name], _known(kind, name)
    lists: dict[str, type[Struct]] = {"workloads": WorkloadFile, "files": OtherFile}
    for name, kind in lists.items():
        for position, members in enumerate(document.get(name, ())):
            yield f"{name}[{position}]", members, _known(kind, name)


def _known(kind: type[Struct], what: str) -> Members:
    return Members(what, frozenset(kind.__struct_fields__), unknown=UnknownNames.REPORTED)


def content_hash(path: Path) -> str | None:
    """Return the SHA-256 of the content of a file; None for a pipe or a device. InputError if it cannot be read."""
    with reported(path, WorkloadError):
        if not stat.S_ISREG(path.stat().st_mode):  # checked first: opening a pipe may block forever
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def belongs(run: RunFile, results: Mapping[str, Path]) -> bool:
    """Return whether a description belongs to the run that wrote these files; True if it names none of them."""
    return all(content_hash(path) == run.results[name] for name, path in results.items() if name in run.results)

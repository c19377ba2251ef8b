"""The algorithm a user asked for, with its options: from words to a session."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import orjson
from msgspec import Struct, field

from batsched_py.bounded_file import read_file
from batsched_py.cli.shared.parameters import told_limits
from batsched_py.cli.shared.redis_place import AS_TOLD, RedisPlace
from batsched_py.cli.shared.terminal import warn
from batsched_py.errors import OptionError
from batsched_py.model.limits import LimitError
from batsched_py.plugins import load
from batsched_py.scheduling.base import Scheduler
from batsched_py.scheduling.options import Origin, parse_options, read_values
from batsched_py.session.clock import parse_clock
from batsched_py.session.session import Session
from batsched_py.transcripts.lines import Header
from batsched_py.transcripts.recorder import Recorder

#: For those who have none.
NO_OPTIONS: Final[Mapping[str, Any]] = MappingProxyType({})
#: A log of jobs that are all rejected must not hide what comes after them.
MOST_WARNINGS: Final = 20


class RecordedOptions(Struct, frozen=True):
    """Options in the header of a recording.

    Attributes:
        file: the recording.
        options: by name.
        trusted: they may name code, as the user's do; if not, they choose among built-in things.
    """

    file: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = False


class Choice(Struct, frozen=True):
    """An algorithm and how to run it, as a user gave it.

    Attributes:
        name: as after -s, or from a recording.
        assignments: options given one by one, which rule over all others.
        options_file: has options as a JSON object, which rule over the recorded ones.
        clock: the decision clock, as after --clock.
        recorded: options of an earlier run.
        redis: where jobs are, if Batsim keeps them in Redis.
    """

    name: str
    assignments: Mapping[str, str]
    options_file: Path | None = None
    clock: str = "zero"
    recorded: RecordedOptions = field(default_factory=RecordedOptions)
    redis: RedisPlace = AS_TOLD

    def session(self) -> Session:
        """A new run of it. PluginError or OptionError if there is no such algorithm or option."""
        options = {**read_options(self.options_file), **self.assignments}
        recorded = {name: value for name, value in self.recorded.options.items() if name not in options}
        if self.recorded.trusted:
            options, recorded = {**recorded, **options}, {}
        scheduler = load_from_here(self.name, options)
        try:
            clock = parse_clock(self.clock, time.perf_counter)
        except OptionError as error:
            raise OptionError(f"--{error}") from None
        self._check_files(scheduler, recorded)
        return Session(
            scheduler,
            options,
            recorded=recorded,
            clock=clock,
            open_store=self.redis.open,
            warn=Warnings(),
            limits=told_limits(),
        )

    def header(self) -> Header:
        """Return the header of a recording of the run."""
        return Header(self.name, {**read_options(self.options_file), **self.assignments}, self.clock)

    def _check_files(self, scheduler: type[Scheduler[Any]], recorded: Mapping[str, Any]) -> None:
        """Try the options of each file alone, so that an error in them names the file."""
        try:
            parse_options(scheduler.options_type, read_options(self.options_file), scheduler.name)
        except OptionError as error:
            raise OptionError(f"{self.options_file}: {error}") from error
        try:
            read_values(scheduler.options_type, recorded, scheduler.name, Origin.PEER)
        except OptionError as error:
            raise OptionError(f"{self.recorded.file}: its header: {error}") from error


def load_from_here(name: str, options: Mapping[str, Any] = NO_OPTIONS) -> type[Scheduler[Any]]:
    """The class of an algorithm that the user named; modules of the current folder can be named, too. PluginError.

    Where neither the name nor the user's options name a module, nothing is imported from the current folder: there a
    `redis.py` that somebody put beside a recording would be taken for the package.
    """
    here = os.getcwd()
    texts = [text for text in (name, *options.values()) if isinstance(text, str)]
    if here not in sys.path and any(":" in text or text.endswith(".py") for text in texts):
        sys.path.append(here)
    return load(name)


def read_options(path: Path | None) -> Mapping[str, Any]:
    """The options in a JSON file; none without a file. OptionError names the file and the rule."""
    if path is None:
        return {}
    try:
        options = orjson.loads(read_file(path, told_limits()))
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from error
    except LimitError as error:
        raise OptionError(f"{path}: {error}") from error
    except orjson.JSONDecodeError as error:
        raise OptionError(f"{path}: must be a JSON object of options: {error}") from None
    if not isinstance(options, dict):
        raise OptionError(f'{path}: must be a JSON object of options, like {{"key": 1}}')
    return options


class Warnings:
    """Tells what is strange but legal, until there is too much of it."""

    def __init__(self) -> None:
        self.told = 0

    def __call__(self, line: str) -> None:
        """Tell one line."""
        self.told += 1
        if self.told <= MOST_WARNINGS:
            warn(line)
        if self.told == MOST_WARNINGS:
            warn("more warnings than these are not shown")


@contextmanager
def recording(path: Path | None, header: Header) -> Iterator[Recorder | None]:
    """Open a recorder of exchanges, closed at the end; None without a file. TranscriptError."""
    if path is None:
        yield None
        return
    with Recorder(path, header) as recorder:
        yield recorder

"""The user's choice of an algorithm and its options, from the command line to a session."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click
import orjson
from msgspec import Struct, field
from msgspec.structs import replace

from batsched_py.cli.shared.command import current_limits
from batsched_py.cli.shared.redis_place import RedisPlace
from batsched_py.cli.shared.terminal import warn
from batsched_py.errors import OptionError, WorkloadError
from batsched_py.files.bounded_file import read_file
from batsched_py.files.compression import DamageError
from batsched_py.model.features import Features
from batsched_py.plugins import load
from batsched_py.reading.limits import LimitError
from batsched_py.runs.choice import NO_OPTIONS, Choice, make_session
from batsched_py.scheduling.base import Scheduler
from batsched_py.session.clock import parse_clock
from batsched_py.session.decision_log import PassOn
from batsched_py.session.option_values import Origin, parse_options, read_values
from batsched_py.session.session import Session
from batsched_py.text.encoding import EncodingError

#: Maximum number of warnings shown: thousands of rejected jobs must not hide later messages.
MOST_WARNINGS: Final = 20


class RecordedOptions(Struct, frozen=True):
    """Options in the header of a recording.

    Attributes:
        file: the recording.
        options: name -> value.
        trusted: whether they may name code, like the user's options; otherwise they may only select built-in objects.
    """

    file: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    trusted: bool = False


class AlgorithmChoice(Struct, frozen=True):
    """An algorithm and its options, as given by the user.

    Attributes:
        algorithm: value of -s; "" if none was given.
        assignments: options given by -o, which override all others.
        options_file: file with a JSON object of options, which override the recorded ones.
        clock: decision clock, the value of --clock.
        recorded: options of an earlier run.
        redis: location of jobs, if Batsim stores them in Redis.
        requests: whether external events may request jobs.
        call_every: maximum seconds between calls while they may; 0 for no calls.
        compute_sharing: whether several jobs may run on one host of Batsim 5; earlier versions specify it themselves.
    """

    algorithm: str
    assignments: Mapping[str, str] = NO_OPTIONS
    options_file: Path | None = None
    clock: str = "zero"
    recorded: RecordedOptions = field(default_factory=RecordedOptions)
    redis: RedisPlace = field(default_factory=RedisPlace)
    requests: bool = False
    call_every: float = 0.0
    compute_sharing: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The options of the user. OptionError."""
        return {**read_options(self.options_file), **self.assignments}

    @property
    def resolved(self) -> Choice:
        """The algorithm with the options of the user. OptionError."""
        return Choice(self.algorithm, self.options, self.clock, self.requests, self.call_every, self.compute_sharing)

    @property
    def name(self) -> str:
        """The name of the algorithm's class, for messages. PluginError."""
        return load_from_here(self.algorithm, self.options).name

    def check_named(self) -> None:
        """Check that an algorithm was given. UsageError."""
        if not self.algorithm:
            raise click.UsageError("Missing option '-s': which algorithm shall decide?")

    def session(self, log: PassOn | None = None, *, features: Features | None = None, silent: bool = False) -> Session:
        """Create a session. PluginError or OptionError for an unknown algorithm or option.

        `log`, if given, receives holds and promises; a silent session shows no warnings. Dynamic jobs are requested
        from Batsim 5 if the algorithm can use them, unless `features` specifies the requested features.
        """
        choice = self.resolved
        recorded = {name: value for name, value in self.recorded.options.items() if name not in choice.options}
        if self.recorded.trusted:
            choice, recorded = replace(choice, options={**recorded, **choice.options}), {}
        scheduler = load_from_here(choice.algorithm, choice.options)
        try:
            parse_clock(self.clock, time.perf_counter)
        except OptionError as error:
            raise OptionError(f"--{error}") from None
        self._check_files(scheduler, recorded)
        return make_session(
            choice,
            scheduler,
            recorded=recorded,
            features=Features(dynamic_registration=scheduler.uses_dynamic_jobs) if features is None else features,
            open_store=self.redis.open,
            warn=None if silent else Warnings(),
            limits=current_limits(),
            log=log,
        )

    def _check_files(self, scheduler: type[Scheduler[Any]], recorded: Mapping[str, Any]) -> None:
        """Check the options of each file separately, so that errors name the file."""
        try:
            parse_options(scheduler.options_type, read_options(self.options_file), scheduler.name)
        except OptionError as error:
            raise OptionError(f"{self.options_file}: {error}") from error
        try:
            read_values(scheduler.options_type, recorded, scheduler.name, Origin.PEER)
        except OptionError as error:
            raise OptionError(f"{self.recorded.file}: its header: {error}") from error


def load_from_here(name: str, options: Mapping[str, Any] = NO_OPTIONS) -> type[Scheduler[Any]]:
    """Load the class of an algorithm that the user named, also from modules of the current folder. PluginError.

    The current folder is added to the path only if the name or one of the user's options names a module: otherwise a
    file `redis.py` next to a recording would be imported instead of the package.
    """
    here = os.getcwd()
    texts = [text for text in (name, *options.values()) if isinstance(text, str)]
    if here not in sys.path and any(":" in text or text.endswith(".py") for text in texts):
        sys.path.append(here)
    return load(name)


def read_options(path: Path | None) -> Mapping[str, Any]:
    """Read the options in a JSON file; none without a file. OptionError names the file and the rule."""
    if path is None:
        return {}
    from batsched_py.reading.json_document import refuse_doubled  # noqa: PLC0415  # `serve` starts without it

    try:
        content = read_file(path, current_limits())
        options = orjson.loads(content)
        refuse_doubled(str(path), content)
    except OSError as error:
        raise OptionError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (DamageError, EncodingError, LimitError) as error:
        raise OptionError(f"{path}: {error}") from error
    except WorkloadError as error:
        raise OptionError(str(error)) from None
    except orjson.JSONDecodeError as error:
        raise OptionError(f"{path}: must be a JSON object of options: {error}") from None
    if not isinstance(options, dict):
        raise OptionError(f'{path}: must be a JSON object of options, like {{"key": 1}}')
    return options


class Warnings:
    """A printer of warnings, up to a maximum number."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, line: str) -> None:
        """Show one line."""
        self.count += 1
        if self.count <= MOST_WARNINGS:
            warn(line)
        if self.count == MOST_WARNINGS:
            warn("more warnings than these are not shown")

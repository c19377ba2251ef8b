"""The description of a run by a command of the program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.command import current_invocation
from batsched_py.cli.shared.output_paths import Named, check_apart
from batsched_py.cli.shared.terminal import warn
from batsched_py.errors import BatschedError
from batsched_py.reporting.algorithm_files import files_of_algorithm
from batsched_py.results.run_file import OtherFile
from batsched_py.runs.run_description import PROGRAM, Call, RunInputs
from batsched_py.runs.served_run import write_served_run
from batsched_py.session.session import Session

#: Roles of files that an option of the command names.
_NAMED: Final = {"algorithm": "-s"}


def this_call() -> Call:
    """Return this call of the program, with its words."""
    invocation = current_invocation()
    return Call((PROGRAM, *invocation.arguments), invocation.started, invocation.began)


def files_of_choice(choice: AlgorithmChoice) -> tuple[OtherFile, ...]:
    """Return the files of the algorithm that a user chose. OptionError, InputError, PluginError."""
    options = choice.options
    find_class = partial(load_from_here, options=options)
    return files_of_algorithm(choice.algorithm, options, choice.options_file, find_class=find_class)


def check_choice_apart(choice: AlgorithmChoice, inputs: Sequence[Named], outputs: Sequence[Named]) -> None:
    """Check that no output is one of these inputs, or a file of the algorithm, and no two are the same.

    UsageError, and if anything is written OptionError, InputError, PluginError.
    """
    check_apart([*inputs, ("--options-file", choice.options_file)], outputs)
    if any(path is not None for _, path in outputs):
        files = files_of_choice(choice)
        check_apart([(_NAMED.get(file.role, file.role), Path(file.path)) for file in files], outputs)


def write_served(prefix: str, choice: AlgorithmChoice, session: Session, **files: Any) -> None:
    """Write the files of a run whose other inputs are unknown, with those `files`. AlgorithmError, InputError."""
    write_served_run(prefix, choice.resolved, session, RunInputs(files=files_of_choice(choice)), this_call(), **files)


@contextmanager
def reported_with(error: BaseException) -> Iterator[None]:
    """Warn of files that cannot be written after an error, which is the one to report."""
    try:
        yield
    except BatschedError as second:
        warn(f"the files of the run are not complete: {second}")
        second.__context__ = error

"""`batsched-py library`: make a library with which Batsim 5 decides in its own process."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from batsched_py.cli.shared.algorithm import AlgorithmChoice, load_from_here
from batsched_py.cli.shared.command import current_invocation, typed_command
from batsched_py.cli.shared.component_build import build_library
from batsched_py.cli.shared.decision_component import ComponentSettings
from batsched_py.cli.shared.described_runs import check_choice_apart
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import (
    PATH,
    clock_option,
    flag,
    option,
    options_of_algorithm,
    record_option,
    requests_option,
)
from batsched_py.cli.shared.terminal import say
from batsched_py.plugins import find_code
from batsched_py.runs.choice import Choice
from batsched_py.runs.run_description import PROGRAM


@typed_command()
@options_of_algorithm("-O")
@option("-o --output", "LIBRARY.so", "The library to make.", type=PATH, required=True)
@option(
    "-e --export",
    "PREFIX",
    "In each run, write PREFIX_run.json, PREFIX_decisions.csv, the algorithm's own PREFIX_NAME.csv.",
)
@record_option
@clock_option
@requests_option
@flag("--enable-compute-sharing compute_sharing", "Allow several jobs on one host.")
def command(choice: AlgorithmChoice, output: Path, export: str | None, record: Path | None) -> None:
    """Make a library with which Batsim 5 makes decisions with ALGORITHM in its own process, without a socket.

    Start Batsim with it: batsim -l ./LIBRARY.so '' ...

    The text after the library may be a JSON object with options of the algorithm. Needs a C compiler and the headers of
    Python. The library uses the Python and the files of the algorithm of this call, which must remain where they are.
    """
    choice.check_named()
    check_choice_apart(choice, [], [("-o", output), ("--record", record)])
    check_writable([output])
    choice.session()  # finds all errors in the options
    invocation = current_invocation()
    settings = ComponentSettings(
        anchored(choice),
        None if record is None else str(record),
        export,
        invocation.limits,
        invocation.debug,
        (PROGRAM, *invocation.arguments),
    )
    build_library(output, settings)
    say(f"wrote {output}")
    say("next:")
    say(f"  batsim -l {_as_library(output)} '' -p platform.xml -w workload.json -e out/")


def anchored(choice: AlgorithmChoice) -> Choice:
    """Return a choice that means the same in any folder: its files have absolute paths."""
    resolved = choice.resolved
    scheduler = load_from_here(choice.algorithm, choice.options)
    fields = {field.name: field.metadata for field in dataclasses.fields(scheduler.options_type)}
    options = {name: _anchored_value(value, fields.get(name, {})) for name, value in resolved.options.items()}
    return replace(resolved, algorithm=find_code(resolved.algorithm, Path.cwd()), options=options)


def _anchored_value(value: Any, metadata: Mapping[str, Any]) -> Any:
    """Return the value of an option that names a file, or a function in one, with its absolute path."""
    if not isinstance(value, str):
        return value
    if "parse" in metadata and value != "none":
        return os.path.abspath(value)
    return find_code(value, Path.cwd()) if metadata.get("things") is not None else value


def _as_library(output: Path) -> str:
    """Return the path for the loader, which looks for names without a folder elsewhere."""
    text = str(output)
    return text if os.sep in text else f".{os.sep}{text}"

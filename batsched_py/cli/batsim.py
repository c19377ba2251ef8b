"""A command `batsim`: the embedded simulator with the options of Batsim 4.2.1. See `batsched-py shims`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from batsched_py.cli.other_program import run_as
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.batsim_words import FILES, USAGE, read_call, simulate_words
from batsched_py.text.display import displayed

#: Batsim's exit code for a wrong command line.
WRONG_USAGE = 255


def main() -> None:
    """Run the program and exit, with Batsim's exit codes for wrong options and files that cannot be read."""
    run_as("batsim", "Batsim 4.2.1", USAGE, _translate, WRONG_USAGE)


def _translate(arguments: Sequence[str]) -> list[str] | int:
    """Return the arguments of `batsched-py`, or an exit code if there is nothing to run. OptionError, InputError."""
    call = read_call(arguments)
    if missing := call.missing:
        for option, file in missing:
            terminal.say(f"batsim: error: --{option}: {displayed(file)} cannot be read", err=True)
        return _code(option for option, _ in missing)
    if "dump-execution-context" in call.flags:
        terminal.put(json.dumps(call.context()).encode() + b"\n", is_json=True)
        return 0
    return simulate_words(call, _largest(call.repeated["workload"], wanted="mmax-workload" in call.flags))


def _code(options: Iterable[str]) -> int:
    code = 0
    for option in options:
        code |= FILES[option]
    return code


def _largest(files: Sequence[str], *, wanted: bool) -> int | None:
    """Return the greatest `nb_res` of workloads if it is wanted. InputError."""
    if not wanted:
        return None
    # Only this option needs the reader, which takes time to import.
    from batsched_py.traces.batsim_json import read_workload  # noqa: PLC0415

    return max((read_workload(Path(file)).host_count for file in files), default=0)


if __name__ == "__main__":
    main()

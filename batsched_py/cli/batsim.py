"""A command `batsim`: the embedded simulator with the options of Batsim 4.2.1. See `batsched-py shims`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import batsched_py
from batsched_py.cli.__main__ import main as start
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.batsim_words import FILES, USAGE, read_call, simulate_words
from batsched_py.errors import InputError, OptionError
from batsched_py.text.display import displayed

#: Batsim's exit code for a wrong command line.
WRONG_USAGE = 255


def main() -> None:
    """Run the program and exit, with Batsim's exit codes for wrong options and files that cannot be read."""
    arguments = sys.argv[1:]
    terminal.prepare_streams()
    if "-h" in arguments or "--help" in arguments:
        terminal.say_all(USAGE.splitlines())
        return
    if arguments == ["--version"]:
        terminal.say(f"batsched-py {batsched_py.__version__}, with the options of Batsim 4.2.1")
        return
    try:
        call = read_call(arguments)
        if missing := call.missing:
            for option, file in missing:
                terminal.say(f"batsim: error: --{option}: {displayed(file)} cannot be read", err=True)
            sys.exit(_code(option for option, _ in missing))
        if "dump-execution-context" in call.flags:
            terminal.put(json.dumps(call.context()).encode() + b"\n", is_json=True)
            return
        sys.argv[1:] = simulate_words(call, _largest(call.repeated["workload"], wanted="mmax-workload" in call.flags))
    except (OptionError, InputError) as error:
        terminal.say(f"batsim: error: {error}", err=True)
        sys.exit(WRONG_USAGE)
    start()


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

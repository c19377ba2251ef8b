"""The frame of commands with the options of other programs: help, version, and one line for wrong options."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import batsched_py
from batsched_py.cli.__main__ import main as start
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.guard import guarded, report
from batsched_py.cli.shared.interruption import raise_on_signals
from batsched_py.errors import InputError, OptionError
from batsched_py.interruption import Interruption

#: Takes the arguments of the other program; returns those of `batsched-py`, or an exit code if there is nothing to run.
Translate = Callable[[Sequence[str]], list[str] | int]


def run_as(
    program: str, release: str, usage: str, translate: Translate, wrong_usage: int = OptionError.exit_code
) -> None:
    """Run `batsched-py` with the arguments of another program, and exit; with `wrong_usage` if these are wrong.

    OptionError and InputError from `translate`, and a signal, become one line on standard error.
    """
    arguments, words = sys.argv[1:], list[str]()

    def begin() -> int:
        if "-h" in arguments or "--help" in arguments:
            terminal.say_all(usage.splitlines())
        elif arguments == ["--version"]:
            terminal.say(f"batsched-py {batsched_py.__version__}, with the options of {release}")
        else:
            try:
                found = translate(arguments)
            except (OptionError, InputError) as error:
                terminal.say(f"{program}: error: {error}", err=True)
                return wrong_usage
            if isinstance(found, int):
                return found
            words.extend(found)
        return 0

    try:
        raise_on_signals()
        terminal.prepare_streams()
        code = guarded(begin)
    except Interruption as interruption:
        report(str(interruption), program=program)
        sys.exit(interruption.exit_code)
    if not words:
        sys.exit(code)
    sys.argv[1:] = words
    start()

"""The program `batsched` that `batsched-py shims` writes: `serve` with the options of batsched."""

from __future__ import annotations

import sys

import batsched_py
from batsched_py.cli.__main__ import main as start
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.batsched_words import USAGE, serve_words
from batsched_py.errors import OptionError


def main() -> None:
    """Run the program and exit; wrong options are one line on standard error, and exit code 2."""
    arguments = sys.argv[1:]
    terminal.prepare_streams()
    if arguments in (["-h"], ["--help"]):
        terminal.say_all(USAGE.splitlines())
        return
    if arguments == ["--version"]:
        terminal.say(f"batsched-py {batsched_py.__version__}, with the options of batsched 1.4.0")
        return
    try:
        sys.argv[1:] = serve_words(arguments)
    except OptionError as error:
        terminal.say(f"batsched: error: {error}", err=True)
        sys.exit(error.exit_code)
    start()


if __name__ == "__main__":
    main()

"""The program `batsched` that `batsched-py shims` writes: `serve` with the options of batsched."""

from __future__ import annotations

import sys

import batsched_py
from batsched_py.cli.__main__ import main as start
from batsched_py.cli.shared.batsched_words import USAGE, serve_words
from batsched_py.errors import OptionError
from batsched_py.text.display import displayed_line


def main() -> None:
    """Run the program and exit; wrong options are one line on standard error, and exit code 2."""
    arguments = sys.argv[1:]
    if arguments in (["-h"], ["--help"]):
        sys.stdout.write(USAGE)
        return
    if arguments == ["--version"]:
        sys.stdout.write(f"batsched-py {batsched_py.__version__}, with the options of batsched 1.4.0\n")
        return
    try:
        sys.argv[1:] = serve_words(arguments)
    except OptionError as error:
        sys.stderr.write(displayed_line(f"batsched: error: {error}") + "\n")
        sys.exit(error.exit_code)
    start()


if __name__ == "__main__":
    main()

"""The program `batsched` that `batsched-py shims` writes: `serve` with the options of batsched."""

from __future__ import annotations

from collections.abc import Sequence

from batsched_py.cli.other_program import run_as
from batsched_py.cli.shared import terminal
from batsched_py.cli.shared.batsched_words import USAGE, serve_words


def main() -> None:
    """Run the program and exit; wrong options are one line on standard error, and exit code 2."""
    run_as("batsched", "batsched 1.4.0", USAGE, _translate)


def _translate(arguments: Sequence[str]) -> list[str]:
    """Return the arguments of `batsched-py`; options without effect are a line each. OptionError."""
    return serve_words(arguments, lambda line: terminal.say(f"batsched: note: {line}", err=True))


if __name__ == "__main__":
    main()

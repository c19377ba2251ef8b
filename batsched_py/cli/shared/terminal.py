"""Where lines and data are written to standard output and error; tables and pictures go through `console`.

Here all text is made fit for a terminal. No other module writes there: `tests/unit/cli/test_terminal.py` sees to that.
"""

from __future__ import annotations

import json

import click

from batsched_py.display import displayed_line, escaped


def say(line: str = "", *, err: bool = False, colour: str | None = None) -> None:
    """Write a line, whatever it is made of: text from outside in it begins no other line, and does not fill the screen.

    `err` is for standard error.
    """
    click.secho(displayed_line(line), err=err, fg=colour)


def warn(line: str) -> None:
    """Write a warning to standard error."""
    say(f"batsched-py: warning: {line}", err=True)


def put(content: bytes, *, is_json: bool = False) -> None:
    r"""Write data, in UTF-8, to standard output. Nothing is cut; control and format characters are escaped.

    In JSON they become `\u001b` and the like, which is the same to its readers; ends of lines stay.
    """
    escape = _escape_in_json if is_json else None
    lines = content.decode().split("\n")
    click.echo("\n".join(line if line.isprintable() else escaped(line, escape) for line in lines), nl=False)


def _escape_in_json(character: str) -> str:
    return json.dumps(character)[1:-1]

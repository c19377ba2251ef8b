"""`batsched-py new`: the beginning of an algorithm."""

from __future__ import annotations

from pathlib import Path

import click

from batsched_py.cli.new_template import check_name, class_name, written_algorithm, written_tests
from batsched_py.cli.parameters import PATH, debug_option
from batsched_py.cli.targets import check_writable, make_folder, write_failure
from batsched_py.cli.terminal import say
from batsched_py.errors import InputError, OptionError

_NEXT = """\
next:
  batsched-py generate --jobs 200 --hosts 32 -o workload.json --platform platform.xml
  batsched-py simulate -p platform.xml -w workload.json -s {algorithm}"""
_TRY = """
  pytest {tests}  # needs the extra: pip install 'batsched-py[testing]'"""


@click.command("new")
@click.argument("file", type=PATH)
@click.option("--tests/--no-tests", default=True, show_default=True, help="Write its tests, too, as test_FILE.")
@debug_option
def command(*, file: Path, tests: bool) -> None:
    """Write an algorithm that works into FILE, as a beginning, with its tests beside it. Nothing is overwritten."""
    if file.suffix != ".py":
        raise OptionError(f"{file}: must be the name of a Python file, like my_algo.py")
    name = file.stem
    check_name(name)
    texts = {file: written_algorithm(name)}
    if tests:
        texts[file.with_name(f"test_{file.name}")] = written_tests(name)
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(str(path), "", "exists already, and is not overwritten")
    check_writable(texts)
    for path, text in texts.items():
        make_folder(path)
        _write(path, text)
        say(f"wrote {path}")
    said = _NEXT + (_TRY if tests else "")
    tests_file = file.with_name(f"test_{file.name}")
    for line in said.splitlines():
        say(line.format(algorithm=f"{file}:{class_name(name)}", tests=tests_file))


def _write(path: Path, text: str) -> None:
    """A new file; InputError."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise write_failure(path, error) from error

"""`batsched-py new`: the beginning of an algorithm."""

from __future__ import annotations

from pathlib import Path

import click

from batsched_py.cli.shared.new_template import check_name, class_name, written_algorithm, written_tests
from batsched_py.cli.shared.output_paths import check_writable, make_folder, write_failure
from batsched_py.cli.shared.parameters import PATH, debug_option
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import InputError, OptionError
from batsched_py.traces.atomic_file import create_files_atomically

_THERE = "exists already, and is not overwritten"
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
    """Write an algorithm that works into FILE, as a beginning, with its tests beside it.

    Both are written or none, and nothing is overwritten.
    """
    if file.suffix != ".py":
        raise OptionError(f"{file}: must be the name of a Python file, like my_algo.py")
    name = file.stem
    check_name(name)
    texts = {file: written_algorithm(name)}
    if tests:
        texts[file.with_name(f"test_{file.name}")] = written_tests(name)
    check_writable(texts)
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(str(path), "", _THERE)
    make_folder(file)
    try:
        create_files_atomically({path: text.encode() for path, text in texts.items()})
    except FileExistsError as error:  # since a moment ago
        raise InputError(str(error.filename2 or error.filename), "", _THERE) from error
    except OSError as error:
        raise write_failure(file, error) from error
    for path in texts:
        say(f"wrote {path}")
    said = _NEXT + (_TRY if tests else "")
    tests_file = file.with_name(f"test_{file.name}")
    for line in said.splitlines():
        say(line.format(algorithm=f"{file}:{class_name(name)}", tests=tests_file))

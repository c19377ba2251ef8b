"""`batsched-py new`: a template for an algorithm, which works and has comments on the next steps, and its tests."""

from __future__ import annotations

import keyword
import sys
from importlib.resources import files
from pathlib import Path
from string import Template

import click

from batsched_py.cli.shared.command import typed_command
from batsched_py.cli.shared.output_paths import check_writable
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.terminal import say, say_all
from batsched_py.errors import InputError, OptionError
from batsched_py.files.atomic_file import create_files_atomically
from batsched_py.files.output_file import make_folder, naming_errors
from batsched_py.plugins import available

_THERE = "exists already, and is not overwritten"
_NEXT = """\
next:
  batsched-py generate --jobs 200 --hosts 32 -o workload.json --platform platform.xml
  batsched-py simulate -p platform.xml -w workload.json -s {algorithm}"""
_TRY = """
  pytest {tests}  # needs the extra: pip install '.[testing]' in a clone"""


@typed_command(limits=False)
@click.argument("file", type=PATH)
@option("--tests/--no-tests", None, "Write its tests, too, as test_FILE.", default=True)
def command(file: Path, *, tests: bool) -> None:
    """Create FILE, a working algorithm to start from, with its tests in the same folder.

    Existing files are not overwritten; if one exists, nothing is written.
    """
    tests_file = file.with_name(f"test_{file.name}")
    if file.suffix != ".py":
        raise OptionError(f"{file}: must be the name of a Python file, like my_algo.py")
    name = file.stem
    check_name(name)
    texts = {file: written_algorithm(name)}
    if tests:
        texts[tests_file] = written_tests(name)
    check_writable(texts)
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(str(path), "", _THERE)
    make_folder(file)
    with naming_errors(file):
        try:
            create_files_atomically({path: text.encode() for path, text in texts.items()})
        except FileExistsError as error:  # created in the meantime
            raise InputError(str(error.filename2 or error.filename), "", _THERE) from error
    say_all(f"wrote {path}" for path in texts)
    for line in (_NEXT + (_TRY if tests else "")).splitlines():
        say(line.format(algorithm=f"{file}:{class_name(name)}", tests=tests_file))


def check_name(name: str) -> None:
    """Check that a file `name`.py can be an algorithm of that name. OptionError."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or not name.isascii():
        raise OptionError(f"{name}.py: its name must be one of Python's in small letters, like my_algo.py")
    if name.startswith("test_"):
        raise OptionError(f"{name}.py: pytest takes what begins with test_ for tests; the algorithm needs another name")
    if name in sys.stdlib_module_names or name == "batsched_py":
        raise OptionError(f"{name}.py: would hide the module {name} from programs that are started in its folder")
    if name in available():
        raise OptionError(f"{name}.py: there is an algorithm {name}, at {available()[name]}; yours needs another name")


def class_name(name: str) -> str:
    """Return the name of the class: MyAlgo for my_algo."""
    return "".join(part.capitalize() for part in name.split("_"))


def written_algorithm(name: str) -> str:
    """Return the content of `name`.py."""
    return _filled("algorithm.txt", name)


def written_tests(name: str) -> str:
    """Return the content of test_`name`.py."""
    return _filled("tests.txt", name)


def _filled(template: str, name: str) -> str:
    text = (files("batsched_py.cli.commands") / "templates" / template).read_text("utf-8")
    return Template(text).substitute(name=name, kind=class_name(name))

"""`batsched-py new`: the beginning of an algorithm, a file that works and says where to go on, and its tests."""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from string import Template
from typing import Final

import click
from msgspec import Struct

from batsched_py.cli.shared.command import takes
from batsched_py.cli.shared.output_paths import check_writable, make_folder, naming_errors
from batsched_py.cli.shared.parameters import PATH, option
from batsched_py.cli.shared.terminal import say
from batsched_py.errors import InputError, OptionError
from batsched_py.plugins import available
from batsched_py.traces.atomic_file import create_files_atomically

_THERE = "exists already, and is not overwritten"
_NEXT = """\
next:
  batsched-py generate --jobs 200 --hosts 32 -o workload.json --platform platform.xml
  batsched-py simulate -p platform.xml -w workload.json -s {algorithm}"""
_TRY = """
  pytest {tests}  # needs the extra: pip install 'batsched-py[testing]'"""

_ALGORITHM: Final = Template('''\
"""$name: what it is for, in one sentence."""

from dataclasses import dataclass

from batsched_py.api import Plan, Scheduler, View, option


@dataclass(frozen=True, slots=True)
class ${kind}Options:
    """What users may set, as in `-o overtake=true`."""

    overtake: bool = option(False, "whether jobs that fit may overtake one that does not")


class $kind(Scheduler[${kind}Options]):
    """Start waiting jobs in order of arrival, on the lowest free hosts."""

    name = "$name"
    source = ""  # the paper or program that it follows; `batsched-py describe` shows it
    # needs_walltime = True  # jobs without a walltime are rejected before you see them
    # needs_energy = True  # the platform must have power states: plan.set_pstate
    # needs_dynamic_jobs = True  # it submits jobs of its own: plan.submit, plan.finish_registration

    # def setup(self, view: View) -> None:
    #     """Called once, when the hosts are known. What changes during a run is made here: self.last = 0.0"""

    # def observe(self, event: Event, view: View) -> None:
    #     """Called for each event before `decide`: isinstance(event, JobCompleted)... (both from batsched_py.api)"""

    def decide(self, view: View, plan: Plan) -> None:
        """Called for each message; an instant may take several."""
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts is not None:
                plan.start(job, hosts)
                continue
            plan.hold(job, f"needs {job.size} hosts, {len(plan.free)} are free")
            if not self.options.overtake:
                return
''')

_TESTS: Final = Template('''\
"""Tests of $name: single decisions on a bench, and the contract that every algorithm keeps."""

from pathlib import Path

from batsched_py.api import HostSet
from batsched_py.testing import Bench, ContractTests

ALGORITHM = f"{Path(__file__).with_name('$name.py')}:$kind"


def test_a_job_that_fits_is_started() -> None:
    """On the lowest hosts."""
    bench = Bench(ALGORITHM, hosts=8)
    job = bench.submit(size=3)
    assert bench.decide().started == {job: HostSet.parse("0-2")}


def test_nobody_overtakes() -> None:
    """The second job would fit, and waits behind the first."""
    bench = Bench(ALGORITHM, hosts=8)
    bench.run(size=6, walltime=100)
    bench.submit(size=4)
    bench.submit(size=1)
    assert bench.decide().started == {}


def test_jobs_that_fit_overtake_if_asked() -> None:
    """The same, with the option; the other starts when there is room."""
    bench = Bench(ALGORITHM, hosts=8, options={"overtake": True})
    running = bench.run(size=6, walltime=100)
    large, small = bench.submit(size=4), bench.submit(size=1)
    assert bench.decide().started == {small: HostSet.parse("6")}
    bench.at(50).end(running)
    assert bench.decide().started == {large: HostSet.parse("0-3")}


class Test$kind(ContractTests):
    """What every algorithm promises; docs/testing.md says what."""

    algorithm = ALGORITHM


class Test${kind}Overtaking(ContractTests):
    """The same, with the option."""

    algorithm = ALGORITHM
    options = {"overtake": True}
''')


class NewRequest(Struct, frozen=True):
    """The options of `new`."""

    file: Path
    tests: bool


@takes(NewRequest, limits=False)
@click.argument("file", type=PATH)
@option("--tests/--no-tests", None, "Write its tests, too, as test_FILE.", default=True)
def command(request: NewRequest) -> None:
    """Write an algorithm that works into FILE, as a beginning, with its tests beside it.

    Both are written or none, and nothing is overwritten.
    """
    file, tests_file = request.file, request.file.with_name(f"test_{request.file.name}")
    if file.suffix != ".py":
        raise OptionError(f"{file}: must be the name of a Python file, like my_algo.py")
    name = file.stem
    check_name(name)
    texts = {file: written_algorithm(name)}
    if request.tests:
        texts[tests_file] = written_tests(name)
    check_writable(texts)
    for path in texts:
        if path.exists() or path.is_symlink():
            raise InputError(str(path), "", _THERE)
    make_folder(file)
    with naming_errors(file):
        try:
            create_files_atomically({path: text.encode() for path, text in texts.items()})
        except FileExistsError as error:  # since a moment ago
            raise InputError(str(error.filename2 or error.filename), "", _THERE) from error
    for path in texts:
        say(f"wrote {path}")
    for line in (_NEXT + (_TRY if request.tests else "")).splitlines():
        say(line.format(algorithm=f"{file}:{class_name(name)}", tests=tests_file))


def check_name(name: str) -> None:
    """Check that a file `name`.py can be an algorithm of that name. OptionError."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or not name.isascii():
        raise OptionError(f"{name}.py: its name must be one of Python's in small letters, like my_algo.py")
    if name.startswith("test_"):
        raise OptionError(f"{name}.py: pytest takes what begins with test_ for tests; the algorithm needs another name")
    if name in sys.stdlib_module_names or name == "batsched_py":
        raise OptionError(f"{name}.py: would hide the module {name} from programs that are started beside it")
    if name in available():
        raise OptionError(f"{name}.py: there is an algorithm {name}, at {available()[name]}; yours needs another name")


def class_name(name: str) -> str:
    """Return the name of the class: MyAlgo for my_algo."""
    return "".join(part.capitalize() for part in name.split("_"))


def written_algorithm(name: str) -> str:
    """Return the content of `name`.py."""
    return _ALGORITHM.substitute(name=name, kind=class_name(name))


def written_tests(name: str) -> str:
    """Return the content of test_`name`.py."""
    return _TESTS.substitute(name=name, kind=class_name(name))

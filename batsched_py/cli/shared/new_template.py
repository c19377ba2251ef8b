"""The beginning of an algorithm: a file that works and says where to go on, and its tests."""

from __future__ import annotations

import keyword
import sys
from string import Template
from typing import Final

from batsched_py.errors import OptionError
from batsched_py.plugins import available

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


def check_name(name: str) -> None:
    """OptionError if a file `name`.py cannot be an algorithm and its name."""
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower() or not name.isascii():
        raise OptionError(f"{name}.py: its name must be one of Python's in small letters, like my_algo.py")
    if name.startswith("test_"):
        raise OptionError(f"{name}.py: pytest takes what begins with test_ for tests; the algorithm needs another name")
    if name in sys.stdlib_module_names or name == "batsched_py":
        raise OptionError(f"{name}.py: would hide the module {name} from programs that are started beside it")
    if name in available():
        raise OptionError(f"{name}.py: there is an algorithm {name}, at {available()[name]}; yours needs another name")


def class_name(name: str) -> str:
    """MyAlgo of my_algo."""
    return "".join(part.capitalize() for part in name.split("_"))


def written_algorithm(name: str) -> str:
    """What stands in `name`.py."""
    return _ALGORITHM.substitute(name=name, kind=class_name(name))


def written_tests(name: str) -> str:
    """What stands in test_`name`.py, beside it."""
    return _TESTS.substitute(name=name, kind=class_name(name))

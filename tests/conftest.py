"""The surroundings of every test."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Generator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from xdist.scheduler import LoadScopeScheduling

# Tests import what they share as tests.something: from the end of the path, so that no random.py in the clone hides
# Python's.
sys.path.append(str(Path(__file__).parents[1]))
from tests.thoroughness import thorough

# Tests that want another terminal say so; those of whoever runs them, in some of which colours are asked for, have no
# part in it.
for variable in (
    "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONIOENCODING", "PYTHONUNBUFFERED",
    "PYTHONWARNINGS", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
):  # fmt: skip
    os.environ.pop(variable, None)

# Where Python must not write bytecode, hundreds of processes would compile batsched-py, each for itself.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

#: The same examples in every run, so that a commit is green or red and not both. New examples are drawn by `make fuzz`.
settings.register_profile(
    "suite",
    max_examples=thorough(25),
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # that is the machine's load
)
settings.load_profile("suite")

# Hypothesis also draws numbers and texts that stand in the modules that are loaded: without this the examples of a test
# would depend on the tests before it, and on the files of whoever works in this clone.
providers._get_local_constants = Constants


#: Setups and ends of tests that take longer than so many seconds are reported: `--durations` lists them.
SHORT = 0.05

#: The folder in which tests write their files.
FOLDER = pytest.StashKey[str]()

#: A container engine and its images are in the first folder; each of these modules has a browser,
#: an installation, or runs that it looks at many times.
TOGETHER = (
    "tests/containers/",
    "tests/docs/test_site_in_browser.py",
    "tests/integration/test_lease_messages.py",
    "tests/integration/test_paper.py",
    "tests/integration/test_report_page.py",
    "tests/integration/test_site_experiments.py",
    "tests/integration/test_site_page.py",
    "tests/integration/test_wheel.py",
    "tests/unit/leases/test_invariants.py",
)


def sharing(nodeid: str) -> str:
    """The folder or module whose tests share what takes long to make; "" for most tests."""
    return next((place for place in TOGETHER if nodeid.startswith(place)), "")


class OneProcess(LoadScopeScheduling):  # type: ignore[misc]  # it has no annotations
    """Tests go to whichever process is idle, but those that share something to the same."""

    def _split_scope(self, nodeid: str) -> str:
        return sharing(nodeid) or nodeid

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget what is done: its parent counts all that a process has ever had, with each test (20 s for 15 000)."""
        super().mark_test_complete(node, item_index, duration)
        scope, assigned = self._split_scope(self.registered_collections[node][item_index]), self.assigned_work[node]
        if all(assigned[scope].values()):
            del assigned[scope]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: two more than there are processors, since many tests wait for what they have started."""
    return (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1) + 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneProcess:
    """For every way to ask for several processes: `-n 2`, `-n auto`."""
    return OneProcess(config, log)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--shuffle 7`: in an order that the number decides, the same in all processes of pytest-xdist."""
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run the tests in a random order, which SEED decides")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A test that needs another before it fails in some order; those that share something stay together."""
    seed = config.getoption("--shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)
        items.sort(key=lambda item: sharing(item.nodeid))


@pytest.fixture(autouse=True, scope="session")
def _folder_of_tests(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the folder in which tests write their files, for the hook below."""
    request.config.stash[FOLDER] = str(tmp_path_factory.getbasetemp())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Forget the modules and the folders for modules that a test has written: the next one may use the same names.

    A hook and not a fixture, which would cost a tenth of the time of a short test.
    """
    latest = next(reversed(sys.modules))
    done = yield
    folder = item.config.stash.get(FOLDER, None)
    if folder is not None:
        new = list(takewhile(lambda name: name != latest, reversed(sys.modules)))  # they are in order of their loading
        for name in new:
            if (getattr(sys.modules[name], "__file__", None) or "/").startswith(folder):
                del sys.modules[name]
        if any(place.startswith(folder) for place in sys.path):
            sys.path[:] = [place for place in sys.path if not place.startswith(folder)]
    return done


class FewMessages:
    """In processes of pytest-xdist: of a test that passes quickly one report is sent, not three reports and two marks.

    That takes a third off the shortest tests: 5.8 ms each before, 3.5 ms after, sending and receiving included.
    """

    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test as pytest does."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed or report.duration > SHORT:
                item.ihook.pytest_runtest_logreport(report=report)
        return True


def pytest_configure(config: pytest.Config) -> None:
    """Register `FewMessages` in the processes of pytest-xdist only: a single process sends nothing."""
    if hasattr(config, "workerinput"):
        config.pluginmanager.register(FewMessages())


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Switch the garbage collector off: collection makes no garbage, and is a quarter faster without it."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """From here on garbage is looked for again, but not among the items, of which there are a million objects."""
    gc.freeze()
    gc.enable()

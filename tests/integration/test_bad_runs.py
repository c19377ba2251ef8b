"""Algorithms that harm the process they run in: their runs fail, each with a reason, and no other does."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from batsched_py.campaigns.execution.campaign_runner import read_state, run_missing
from batsched_py.campaigns.execution.run_store import RunStore
from tests.integration.programs import run
from tests.studies import HereWorkers, planned

BAD: Final = """import asyncio, ctypes, os, threading
from dataclasses import dataclass

from batsched_py.api import Scheduler, option


@dataclass(frozen=True, slots=True)
class Options:
    how: str = option("fine", "how it behaves")


class Bad(Scheduler[Options]):
    name = "bad"

    def decide(self, view, plan):
        for job in view.queue:
            hosts = plan.free.first(job.size)
            if hosts:
                plan.start(job, hosts)
        if len(view.running) > 1:
            getattr(self, self.options.how)()

    def fine(self):
        pass

    def cancelled(self):
        raise asyncio.CancelledError("no")

    def base(self):
        raise BaseException("no")

    def generator(self):
        raise GeneratorExit

    def keyboard(self):
        raise KeyboardInterrupt

    def exits(self):
        os._exit(7)

    def closes(self):
        os.closerange(0, 100)

    def crashes(self):
        ctypes.string_at(0)

    def killed(self):
        os.kill(os.getpid(), 9)

    def loops(self):
        while True:
            pass

    def counts(self):
        sum(range(10**15))

    def hoards(self):
        self.kept = [bytearray(10**7) for _ in range(10**4)]

    def lingers(self):
        threading.Thread(target=threading.Event().wait).start()
"""

#: Behaviour -> the error of its run: behind the time, if it begins so; "" if it ends well.
ERRORS: Final[Mapping[str, str]] = {
    "fine": "",
    "cancelled": r"t=\d+: bad failed on JobSubmitted w0!\d+: CancelledError: no \(bad.py:27\)",
    "base": r"t=\d+: bad failed on JobSubmitted w0!\d+: BaseException: no \(bad.py:30\)",
    "generator": r"t=\d+: bad failed on JobSubmitted w0!\d+: GeneratorExit: \(bad.py:33\)",
    "keyboard": r"t=\d+: bad failed on JobSubmitted w0!\d+: KeyboardInterrupt: \(bad.py:36\)",
    "exits": r"its process ended with exit code 7 in the middle of the run",
    "closes": r"its process has closed files that it had not opened",
    "crashes": r"its process ended by SIGSEGV in the middle of the run in crashes \(bad.py:45\)",
    "killed": r"its process ended by SIGKILL in the middle of the run",
    "hoards": r"memory: more than 500 MB: t=\d+: bad failed on .*: MemoryError: \(bad.py:58\)",
    "lingers": "",
}
#: Behaviour that nothing but a limit of time ends -> the error, with another line if that was before it began.
ENDLESS: Final[Mapping[str, str]] = {
    "loops": r"timeout: more than 4 s(, in (loops|<module>|decide|__\w+) \(.*:\d+\))?",
    "counts": r"timeout: more than 4 s(, in (counts|<module>|decide|__\w+) \(.*:\d+\))?",
}


def written(folder: Path, *kinds: str, limits: str = "") -> str:
    """A study of these kinds of behaviour, and of an algorithm of ours."""
    (folder / "bad.py").write_text(BAD)
    return f"""{limits}platforms = "p.xml"

[[workloads]]
model = "lublin"
jobs = 20

[[algorithms]]
algorithm = "bad.py:Bad"
options = {{ how = {list(kinds) or "fine"!r} }}

[[algorithms]]
algorithm = "easy"
"""


def errors(folder: Path, study: str) -> dict[str, str]:
    """Behaviour -> the error of its run."""
    plan, store = planned(folder, study), RunStore(folder / "store")
    state = run_missing(read_state(plan, store), store, HereWorkers(), jobs=False, limits=plan.campaign.limits)
    return {str(run.options.get("how")): state.ended[run.key].outcome.error for run in plan.runs}


def test_whatever_an_algorithm_does_only_its_run_fails(tmp_path: Path) -> None:
    """With one line that has the algorithm's line, as far as the process can still tell it."""
    found = errors(tmp_path, written(tmp_path, *ERRORS, limits='memory = "500MB"\n'))
    assert found.pop("None") == ""
    assert list(found) == list(ERRORS)
    for how, error in found.items():
        assert re.fullmatch(ERRORS[how], error), (how, error)


def test_an_endless_run_fails_when_its_time_is_over(tmp_path: Path) -> None:
    """It may loop in Python, or in C, where no handler of signals runs."""
    study = written(tmp_path, *ENDLESS, limits='timeout = "4s"\n').partition('\n[[algorithms]]\nalgorithm = "easy')[0]
    for how, error in errors(tmp_path, study).items():
        assert re.fullmatch(ENDLESS[how], error), (how, error)


def test_a_campaign_goes_on_after_runs_that_harm_their_process(tmp_path: Path) -> None:
    """On Dask's workers: the lines of the failures are all that is told, and nobody else is marked."""
    kinds = ["base", "generator", "keyboard", "closes", "exits", "fine"]
    planned(tmp_path, written(tmp_path, *kinds))
    done = run(tmp_path, "campaign", "run", "study.toml", "--workers", "1")
    assert done.returncode == 3
    assert done.stdout.splitlines()[0] == "7 runs: 2 done, 5 failed, 0 missing; 0 were there before"
    assert [line.partition(" on ")[0] for line in done.stderr.splitlines()] == [
        f"batsched-py: error: bad(how={how})" for how in kinds[:-1]
    ]


def test_a_comparison_goes_on_likewise(tmp_path: Path) -> None:
    """With the limits of its options. The exit code is that of failures."""
    planned(tmp_path, written(tmp_path))
    arguments = ["-p", "p.xml", "--generate", "lublin:jobs=20", "--memory", "500MB", "-s", "easy"]
    for how in ("base", "closes", "hoards"):
        arguments += ["-s", "bad.py", "-o", f"how={how}"]
    done = run(tmp_path, "compare", *arguments, "--quiet")
    assert done.returncode == 3
    lines = [line for line in done.stderr.splitlines() if "error: bad" in line]
    assert [line.partition("how=")[2].partition(")")[0] for line in lines] == ["base", "closes", "hoards"]
    assert "memory: more than 500 MB: " in lines[2]
    endless = ["-p", "p.xml", "--generate", "lublin:jobs=20", "--timeout", "2s", "-s", "bad.py", "-o", "how=loops"]
    done = run(tmp_path, "compare", *endless, "--quiet")
    assert done.returncode == 3
    assert "bad(how=loops) on lublin-0: timeout: more than 2 s" in done.stderr


@pytest.mark.parametrize("how", ["base", "generator", "keyboard", "cancelled"])
def test_simulate_tells_any_exception_in_a_line(tmp_path: Path, how: str) -> None:
    """Exit code 3, and the algorithm's line."""
    planned(tmp_path, written(tmp_path))
    made = run(tmp_path, "generate", "--jobs", "20", "--hosts", "8", "-o", "w.json", "--platform", "p.xml")
    assert made.returncode == 0
    done = run(tmp_path, "simulate", "-p", "p.xml", "-w", "w.json", "-s", "bad.py", "-o", f"how={how}", "--quiet")
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert "bad failed on JobSubmitted" in line
    assert "(bad.py:" in line


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (("--timeout", "soon"), "must be seconds, or a time like 90s, 10m or 2h, not 'soon'"),
        (("--memory", "lots"), "must be bytes, or a size like 500MB or 2GB, not 'lots'"),
    ],
)
def test_a_limit_that_is_none_is_refused(tmp_path: Path, option: tuple[str, str], told: str) -> None:
    """Before anything runs."""
    planned(tmp_path)
    done = run(tmp_path, "campaign", "run", "study.toml", *option)
    assert done.returncode == 2
    assert told in done.stderr

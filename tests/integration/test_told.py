"""Reports to a user about rejections and about wrong options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from batsched_py.api import Job, NoOptions, Plan, Scheduler, View, delay
from batsched_py.errors import OptionError
from batsched_py.scheduling.plan import MOST_REPORTED
from batsched_py.testing import Bench
from tests.integration.programs import ROOT, run


class Refuses(Scheduler[NoOptions]):
    """Rejects whatever comes."""

    name = "refuses"

    def decide(self, view: View, plan: Plan) -> None:
        for job in view.arrived:
            plan.reject(job, "nobody is wanted")


class Large(Scheduler[NoOptions]):
    """Submits a job that is too large."""

    name = "large"
    needs_dynamic_jobs = True

    def setup(self, view: View) -> None:
        self.done = False

    def decide(self, view: View, plan: Plan) -> None:
        if not self.done:
            self.done = True
            plan.submit(Job.create("own!1", size=9, profile="p", walltime=10), delay(5))
            plan.finish_registration()


def test_the_first_rejections_of_an_algorithm_are_told_with_their_reasons() -> None:
    """An algorithm that rejects thousands gets a few lines; all are kept."""
    lines: list[str] = []
    bench = Bench(Refuses, warn=lines.append)
    for _ in range(MOST_REPORTED + 3):
        bench.submit(walltime=1)
    bench.decide()
    assert len(bench.session.rejections) == MOST_REPORTED + 3
    assert len(lines) == MOST_REPORTED
    assert lines[0].endswith("rejected: nobody is wanted")


def test_a_job_of_its_own_that_is_too_large_is_rejected_at_once() -> None:
    """No message may come after the one in which it was submitted."""
    lines: list[str] = []
    bench = Bench(Large, hosts=4, warn=lines.append)
    assert bench.session.rejections == {"own!1": "needs 9 hosts, the platform has 4"}
    assert not bench.view.queue
    assert lines == ["t=0: own!1 rejected: needs 9 hosts, the platform has 4"]


@pytest.mark.parametrize(
    ("name", "options", "needs", "words"),
    [
        ("submitter", {"size": 9}, {}, "option size of submitter: must be at most 8"),
        ("sleeper", {"compute": 2}, {}, "option compute of sleeper: must be a pstate to compute in, not 2"),
        ("sleeper", {"compute": 99}, {}, "option compute of sleeper: .* not 99"),
        ("random", {"hosts": "any"}, {}, "option hosts of random: any needs .*--enable-compute-sharing"),
        ("filler", {"zone": "nope"}, {}, "option zone: selection lowest does not use it; these do: topology | spread"),
        ("filler", {"zone": "nope", "selection": "topology"}, {}, "option zone: no host .* 'nope'"),
        ("killer", {"rule": "arrival", "after": 3}, {}, "after is for rule=time"),
    ],
)
def test_options_that_will_not_do_are_refused_before_the_run(
    name: str, options: dict[str, Any], needs: dict[str, Any], words: str
) -> None:
    """As options, not as failures of the algorithm; those that would change nothing, too."""
    with pytest.raises(OptionError, match=words):
        Bench(name, options=options, **needs)


def test_the_command_tells_why_all_jobs_were_rejected(tmp_path: Path) -> None:
    """Else they would only be missing."""
    (tmp_path / "own.py").write_text("def never(free, size, hosts):\n    return None\n")
    selection = f"selection={tmp_path / 'own.py'}:never"
    arguments = ["-p", "platforms/tiny4.xml", "-w", "workloads/first.json", "-s", "filler", "-o", selection, "--quiet"]
    told = run(ROOT, "simulate", *arguments)
    assert told.returncode == 0
    assert "rejected: needs" in told.stderr
    assert "finds none even if" in told.stderr

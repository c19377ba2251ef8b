"""Studies in processes from where people write them: scripts without a main guard, notebooks, standard input."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.programs import ENVIRONMENT, PATIENCE

SCRIPT = """
from __future__ import annotations
import math, threading
from dataclasses import dataclass
from typing import Literal
from batsched_py.api import Plan, Scheduler, View, option
from batsched_py.campaigns import Drawn, Variant, run_study
from batsched_py.model.platform import Platform
from batsched_py.traces.platform_writer import write_homogeneous
from pathlib import Path

print("the script runs")

@dataclass(frozen=True, slots=True)
class MyOptions:
    by: Literal["size", "walltime"] = option("size", "what comes first")

def key(job): return math.floor(job.size)

class Mine(Scheduler[MyOptions]):
    name = "mine"

    def decide(self, view: View, plan: Plan) -> None:
        for job in sorted(view.queue, key=key):
            hosts = plan.free.first(job.size)
            if hosts is None:
                return
            plan.start(job, hosts)

LOCK = threading.Lock()

class Locked(Mine):
    def decide(self, view, plan):
        with LOCK:
            super().decide(view, plan)

write_homogeneous(Path("p.xml"), 8)
variants = [Variant("mine", {kind}, {"by": "size"}), Variant("fcfs", "fcfs")]
workloads = {"a": Drawn(20, 8), "b": Drawn(20, 8, seed=1)}
studies = [run_study("p.xml", workloads, variants, processes=processes) for processes in (2, None)]
assert studies[0].outcomes == studies[1].outcomes
print(len(studies[0].outcomes), "runs,", len(studies[0].failures), "failed")
"""


def script(folder: Path, kind: str, *, file: bool) -> subprocess.CompletedProcess[str]:
    """The script with this algorithm, run as a file or given as a notebook gives it: without one."""
    text = SCRIPT.replace("{kind}", kind)
    (folder / "script.py").write_text(text)
    command = [sys.executable, "script.py"] if file else [sys.executable, "-"]
    return subprocess.run(
        command,
        cwd=folder,
        env=ENVIRONMENT,
        input=None if file else text,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.parametrize("file", [True, False])
def test_a_class_of_the_script_itself_runs_in_processes(tmp_path: Path, *, file: bool) -> None:
    """The script runs once, without a guard; what the class uses goes with it, and the outcomes are the same."""
    done = script(tmp_path, "Mine", file=file)
    assert done.stderr == ""
    assert done.stdout == "the script runs\n4 runs, 0 failed\n"


def test_what_cannot_be_handed_over_is_one_clear_line(tmp_path: Path) -> None:
    """It is no traceback of a pool of processes."""
    done = script(tmp_path, "Locked", file=True)
    assert done.stdout == "the script runs\n"
    assert done.stderr.splitlines()[-1] == (
        "batsched_py.errors.OptionError: mine: cannot be handed to another process: "
        "TypeError: cannot pickle '_thread.lock' object; processes=None runs it in this one"
    )

"""The judge names each of the seeded faults by its rule and its workload, and no other rule."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from batsched_py.campaigns.run_limits import RunLimits
from batsched_py.judge.judgement import JudgeRequest, judge
from batsched_py.judge.rules import JUDGED_RULES
from tests.clone import ROOT

#: What stands above the body of each class.
HEAD: Final = """\
import os
import random
import sys
import time

from batsched_py.api import HostSet, JobCompleted, JobSubmitted, NoOptions, Plan, Scheduler, View


class Faulty(Scheduler[NoOptions]):
    name = "faulty"

"""
#: A heading: the mistake, the rule and the workload.
HEADING: Final = re.compile(r"^=== (.+): (\S+) in (\S+)$", re.MULTILINE)
#: Rules that no fault of the table breaks: the rest of what the plan refuses, and the rest of the contract.
WITHOUT_FAULT: Final = {"refused", "contract"}
#: Seconds of a decision that hangs, and of any other process.
SHORT: Final = 4.0
LONG: Final = 120.0


def faults() -> list[tuple[str, str, str, str]]:
    """Return (mistake, rule, workload, source) of each fault."""
    parts = HEADING.split((ROOT / "tests" / "data" / "judge" / "faults.txt").read_text())[1:]
    return [(name, rule, workload, HEAD + body) for name, rule, workload, body in zip(*[iter(parts)] * 4, strict=True)]


@pytest.mark.parametrize("fault", [pytest.param(one, id=one[0]) for one in faults()])
def test_the_judge_names_the_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: tuple[str, str, str, str]
) -> None:
    """By the right rule, in the workload that shows it; nothing else is wrong."""
    name, rule, workload, source = fault
    monkeypatch.chdir(tmp_path)
    Path("faulty.py").write_text(source)
    judgement = judge(
        JudgeRequest(
            algorithm="faulty.py:Faulty",
            options={},
            workloads=tuple(dict.fromkeys(("plain", workload))),
            scores=False,
            limits=RunLimits(timeout=SHORT if rule == "hangs" else LONG, memory=10**9),
        )
    )
    assert [(verdict.rule, verdict.workload) for verdict in judgement.verdicts] == [(rule, workload)], name
    [verdict] = judgement.verdicts
    assert verdict.why
    assert verdict.command == f"batsched-py judge --only {rule} --workload {workload}"


def test_there_are_at_least_fifty_and_each_rule_has_one() -> None:
    """The table covers the rules."""
    assert len(faults()) >= 50
    assert {rule for _, rule, _, _ in faults()} | WITHOUT_FAULT == set(JUDGED_RULES)
